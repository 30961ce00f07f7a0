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
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rtvoice
from benchmarks.baselines import ROWS
from benchmarks.criteria import Criterion, show
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

COMPARED = ROWS["onnxruntime-default"].label
"""What first audio is compared with."""

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


def criteria(result: dict[str, Any]) -> list[Criterion]:
    """What is asked of the figures that there are."""
    asked = []
    own = result["turns"]["rtvoice"]
    if (other := result["turns"].get(COMPARED)) is not None:
        p50, p90 = (percentile(own, share) / percentile(other, share) for share in (0.5, 0.9))
        asked = [
            Criterion(f"{_CLIENTS} clients' turns, first audio to {COMPARED}: p50", p50, 1 / 2),
            Criterion("  p90", p90, 1 / 3),
        ]
    alone, beside = result["alone"], result["beside_book"]
    ratio = percentile(beside, 0.9) / percentile(alone, 0.9)
    what = f"{len(beside)} clients with a sentence beside a book, first audio to without: p90"
    return [*asked, Criterion(what, ratio, 1.3)]


def summarise(result: dict[str, Any]) -> str:
    """How soon who was heard, and what is asked beside what was measured."""
    heard = {f"turns, {name}": values for name, values in result["turns"].items()}
    heard |= {f"sentences, {name.replace('_', ' ')}": result[name] for name in ("alone", "beside_book")}
    rows = [
        [name, str(len(values)), *(f"{percentile(values, share):.2f} s" for share in (0.5, 0.9, 1.0))]
        for name, values in heard.items()
    ]
    return f"{render(['first audio', 'of', 'p50', 'p90', 'last'], rows)}\n\n{show(criteria(result))}"


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
            command = [str(parsed.reference_python), "-W", "ignore", "-m", "benchmarks.served", name]
            command += [str(parsed.cache.resolve()), "--g2p-python", sys.executable]
            with Server(command) as server:
                asyncio.run(first_audio_s(server.url, TEXTS[0]))
                result["turns"][ROWS[name].label] = asyncio.run(turns(server.url, rounds))
    print(summarise(result))
    if parsed.json:
        parsed.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    if parsed.plots:
        parsed.plots.mkdir(parents=True, exist_ok=True)
        lines = [Line(name, _shares(heard)) for name, heard in result["turns"].items()]
        svg = draw("First audio, four clients at once", "percent of turns", "seconds, at most", lines)
        (parsed.plots / "load-first-audio.svg").write_text(svg, "utf-8")
        lines = [
            Line(label, _shares(result[key])) for key, label in (("alone", "alone"), ("beside_book", "beside a book"))
        ]
        svg = draw("First audio of a sentence", "percent of sentences", "seconds, at most", lines)
        (parsed.plots / "load-book.svg").write_text(svg, "utf-8")
    return 0


def _shares(values: Sequence[float]) -> list[tuple[float, float]]:
    """Points of a line: what percentage of the values is at most so much."""
    return [(100 * (i + 1) / len(values), value) for i, value in enumerate(sorted(values))]


if __name__ == "__main__":
    sys.exit(main())
