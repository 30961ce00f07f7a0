"""The sentences every engine speaks: 20, of 1.4 to 7.9 s of speech, in the six packaged voices.

Their phonemes were made once and lie beside them, so that every engine gets the same. `python -m benchmarks.workload`
makes them again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("sentences.jsonl")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence.

    Attributes:
        text: for people; no engine sees it.
        voice: whose style it is spoken in.
        phonemes: what is spoken.
        style: the voice's row for that number of phonemes, 256 numbers.
    """

    text: str
    voice: str
    phonemes: str
    style: tuple[float, ...]


def load_sentences(*, quick: bool = False) -> tuple[Sentence, ...]:
    """Read the sentences.

    Args:
        quick: take five of the 20, short and long ones.
    """
    from rtvoice.speech.voices import VoiceStore

    voices = VoiceStore(FILE.parent)  # no added voices lie there: packaged ones only
    lines = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    sentences = tuple(
        Sentence(
            line["text"],
            line["voice"],
            line["phonemes"],
            tuple(float(x) for x in voices.style(line["voice"], len(line["phonemes"]))[0]),
        )
        for line in lines
    )
    return sentences[::4] if quick else sentences


def warm_up(sentence: Sentence) -> Sentence:
    """What an engine speaks beforehand, uncounted: the same twice over, so that its length is another."""
    return Sentence("", sentence.voice, f"{sentence.phonemes} {sentence.phonemes}", sentence.style)


def digest() -> str:
    """What identifies the sentences in a result: the SHA-256 of their file."""
    return hashlib.sha256(FILE.read_bytes()).hexdigest()


async def _phonemise() -> None:
    from rtvoice.speech.phonemes import Phonemizer
    from rtvoice.speech.voices import describe

    lines = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    async with Phonemizer() as phonemizer:
        for line in lines:
            words = await phonemizer.phonemise(line["text"], describe(line["voice"]).language)
            line["phonemes"] = "".join(word.phonemes + " " * word.space for word in words).strip()
    FILE.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")


if __name__ == "__main__":
    asyncio.run(_phonemise())
