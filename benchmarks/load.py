"""How soon clients are heard that come at once: this server beside other engines behind the same server.

Real sockets, the real model, rtvoice's own client, which plays in real time by taking what it is sent. *Turns*: four
clients at once, each with a turn of three sentences, again and again; beside it the same with the engines that are
named. *Book*: twenty clients with a sentence each, one after the other, first alone and then beside one who has a book
read; rtvoice only.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rtvoice
from benchmarks.baselines import ROWS
from benchmarks.machine import fingerprint
from benchmarks.plot import Line, draw
from benchmarks.server import Server
from benchmarks.table import render
from benchmarks.workload import load_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

_CLIENTS, _TURN = 4, 3
_SPEAKERS = 20
_SPREAD_S = 20.0
"""Seconds over which the clients with a sentence come."""

TEXTS = tuple(sentence.text for sentence in load_sentences())


async def first_audio_s(url: str, text: str) -> float:
    """Have a text spoken; returns how long its first audio took, as the client sees it. Refused counts as never."""
    async with rtvoice.connect(url) as session:
        began, first = time.perf_counter(), float("inf")
        async for _ in session.speak(text):
            first = min(first, time.perf_counter() - began)
        return first


async def turns(url: str, rounds: int) -> list[float]:
    """Four clients at once speak turns of three sentences; each begins the next when the last has been made."""
    texts = itertools.cycle(TEXTS)
    lots = [[" ".join(itertools.islice(texts, _TURN)) for _ in range(rounds)] for _ in range(_CLIENTS)]
    heard: list[float] = []
    for together in zip(*lots, strict=True):
        heard += await asyncio.gather(*(first_audio_s(url, text) for text in together))
    return heard


async def sentences(url: str, clients: int, *, book: bool) -> list[float]:
    """Clients with a sentence each, at random moments; beside them, or not, one who has a book read."""
    moments = random.Random(20)  # noqa: S311  # moments, not secrets

    async def one(text: str, after_s: float) -> float:
        await asyncio.sleep(after_s)
        return await first_audio_s(url, text)

    async def read() -> None:
        async with rtvoice.connect(url) as session:
            async for _ in session.speak(" ".join(TEXTS * 10)[:19_000]):
                pass

    reader = asyncio.create_task(read()) if book else None
    if reader is not None:
        await asyncio.sleep(3)
    spread_s = _SPREAD_S * clients / _SPEAKERS
    texts = itertools.islice(itertools.cycle(TEXTS), clients)
    heard = await asyncio.gather(*(one(text, moments.uniform(0, spread_s)) for text in texts))
    if reader is not None:
        if reader.done():
            reader.result()
            raise RuntimeError("the book was over before the sentences")
        reader.cancel()
        await asyncio.wait([reader])
    return list(heard)


def percentile(values: Sequence[float], share: float) -> float:
    """The least value that so large a share of them do not pass."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def summarise(result: dict[str, Any]) -> str:
    """The figures beside what is asked of them."""
    own = result["turns"]["rtvoice"]
    rows = [
        [
            f"turns, {name}",
            f"{statistics.median(heard):.2f} s",
            f"{percentile(heard, 0.9):.2f} s",
            f"{statistics.median(own) / statistics.median(heard):.2f}",
            f"{percentile(own, 0.9) / percentile(heard, 0.9):.2f}",
        ]
        for name, heard in result["turns"].items()
    ]
    alone = percentile(result["alone"], 0.9)
    for name in ("alone", "beside_book"):
        heard = result[name]
        ratio = f"{percentile(heard, 0.9) / alone:.2f}"
        label = f"{len(heard)} sentences, {name.replace('_', ' ')}"
        rows.append([label, f"{statistics.median(heard):.2f} s", f"{percentile(heard, 0.9):.2f} s", "", ratio])
    return render(["first audio", "p50", "p90", "rtvoice's p50 to it", "p90 ratio"], rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.load", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one round, five clients with a sentence: two minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured to FILE")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw first audio by client into this folder")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="turns of each client (%(default)s)")
    parser.add_argument(
        "--rows",
        default="onnxruntime-default,pytorch-eager",
        metavar="NAMES",
        help="engines to put beside it (%(default)s)",
    )
    parser.add_argument("--reference-python", type=Path, help="of the environment with these; without it, no such row")
    parser.add_argument("--cache", type=Path, default=Path(".cache/benchmarks"), help="where prepared files lie")
    parsed = parser.parse_args(arguments)
    rounds, clients = (1, 5) if parsed.quick else (parsed.rounds, _SPEAKERS)
    result: dict[str, Any] = {"benchmark": "load", "machine": fingerprint(), "turns": {}}
    serve = [sys.executable, "-m", "rtvoice", "serve", "--port", "0", "--log", "json", "--no-page", "--max-wait", "off"]
    with Server(serve) as server:
        asyncio.run(first_audio_s(server.url, TEXTS[0]))
        result["turns"]["rtvoice"] = asyncio.run(turns(server.url, rounds))
        result["alone"] = asyncio.run(sentences(server.url, clients, book=False))
        result["beside_book"] = asyncio.run(sentences(server.url, clients, book=True))
    if parsed.reference_python is not None:
        parsed.cache.mkdir(parents=True, exist_ok=True)
        for name in parsed.rows.split(","):
            command = [str(parsed.reference_python), "-m", "benchmarks.served", name, str(parsed.cache.resolve())]
            with Server(command) as server:
                asyncio.run(first_audio_s(server.url, TEXTS[0]))
                result["turns"][ROWS[name].label] = asyncio.run(turns(server.url, rounds))
    print(summarise(result))
    if parsed.json:
        parsed.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    if parsed.plots:
        parsed.plots.mkdir(parents=True, exist_ok=True)
        lines = [
            Line(name, [(100 * (i + 1) / len(heard), value) for i, value in enumerate(sorted(heard))])
            for name, heard in result["turns"].items()
        ]
        svg = draw("First audio, four clients at once", "percent of turns", "seconds, at most", lines)
        (parsed.plots / "load-first-audio.svg").write_text(svg, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
