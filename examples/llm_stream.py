"""Speak a language model's answer while it is being written.

    python examples/llm_stream.py "Why is the sky blue?" -o answer.wav
    python examples/llm_stream.py "..." --llm http://localhost:11434/v1 --model llama3.2

Any server that speaks OpenAI's chat completions will do. Without `--llm` a stand-in gives a fixed answer, so that this
runs anywhere. Pieces of the answer go to rtvoice as they come; the audio is written as it comes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
import urllib.request
import wave
from typing import TYPE_CHECKING

import rtvoice

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

STAND_IN = (
    "Sunlight holds all colours. Air scatters the blue ones about ten times as much as the red ones, "
    "so blue reaches you from everywhere in the sky."
)


def completions(base: str, model: str, question: str) -> Iterator[str]:
    """Ask a model; yields pieces of its answer as they come. Blocks."""
    body = {"model": model, "stream": True, "messages": [{"role": "user", "content": question}]}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('LLM_API_KEY', 'none')}"}
    request = urllib.request.Request(f"{base}/chat/completions", json.dumps(body).encode(), headers)  # noqa: S310
    with urllib.request.urlopen(request) as answer:  # noqa: S310  # the address is the user's own
        for line in answer:
            data = line.decode().strip().removeprefix("data: ")
            if data == "[DONE]":
                return
            if data.startswith("{"):
                for choice in json.loads(data)["choices"]:
                    if piece := choice["delta"].get("content"):
                        yield piece


async def in_thread(pieces: Iterator[str]) -> AsyncIterator[str]:
    """Iterate over what blocks without holding up what is heard."""
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        yield piece


async def stand_in() -> AsyncIterator[str]:
    """An answer in pieces, as fast as a model writes."""
    for word in STAND_IN.split(" "):
        yield word + " "
        await asyncio.sleep(0.02)


async def main() -> None:
    """Ask, speak, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question")
    parser.add_argument("-o", "--output", default="answer.wav")
    parser.add_argument("--server", default="ws://127.0.0.1:8765")
    parser.add_argument("--llm", metavar="URL", help="base address of chat completions; without it, a stand-in answers")
    parser.add_argument("--model", default="llama3.2")
    arguments = parser.parse_args()

    answer = stand_in()
    if arguments.llm:
        answer = in_thread(completions(arguments.llm, arguments.model, arguments.question))
    began = time.perf_counter()
    first = None
    async with rtvoice.connect(arguments.server) as session:
        with wave.open(arguments.output, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(session.ready.sample_rate)
            async for frame in session.speak(answer):
                first = first or time.perf_counter() - began
                file.writeframes(frame.samples)
                for word in frame.words:
                    sys.stdout.write(f"{word.text} ")
                    sys.stdout.flush()
    sys.stdout.write(f"\n\nFirst audio after {first or 0:.2f} s; written to {arguments.output}.\n")


if __name__ == "__main__":
    asyncio.run(main())
