"""What the server holds while it speaks and while nobody does, and how soon it is back, beside what is asked of it.

One server on this machine, the real model, a client over its socket. It is started, speaks a short sentence, is left
alone until it has released its engine, and is spoken to again, so many times. Then another speaks sentences of random
length, and its memory is looked at on the way. With an environment that has them, other engines are started behind the
same server, to the end of their first audio. Memory is that of all processes of a server (PSS), and what the kernel
keeps of the files that are its own: the model, compiled and not, dictionaries, voices. MB are millions of bytes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import threading
import time
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rtvoice
from benchmarks.baselines import ROWS
from benchmarks.criteria import Criterion, show
from benchmarks.machine import fingerprint
from benchmarks.plot import Line, draw
from benchmarks.server import Server
from benchmarks.table import render
from rtvoice.paths import default_paths
from rtvoice.serving.memory import page_cache
from rtvoice.speech.build import model_folder
from rtvoice.speech.phonemes import data_files

if TYPE_CHECKING:
    from collections.abc import Sequence

SHORT = "Hello, and welcome back."
_MB = 1_000_000
_WORDS = (
    "the",
    "lamp",
    "by",
    "window",
    "was",
    "still",
    "lit",
    "when",
    "last",
    "of",
    "guests",
    "had",
    "gone",
    "down",
    "river",
)
_RELEASE_S = 60.0
_NO_HIGHER = 1.02
"""What memory may differ by from one look to the next and still be called the same."""


async def first_audio_s(url: str, text: str) -> float:
    """Speak a text to its end; returns how long its first audio took, as the client sees it."""
    async with rtvoice.connect(url) as session:
        began, first = time.perf_counter(), 0.0
        async for _ in session.speak(text):
            first = first or time.perf_counter() - began
        return first


def own_files() -> list[Path]:
    """The files that are the server's own: what it built and compiled, its dictionaries, its voices."""
    paths = default_paths(os.environ)
    voices = Path(str(resources.files("rtvoice.speech"))) / "data"
    found = [file for folder in (model_folder(paths), voices) for file in folder.rglob("*") if file.is_file()]
    return [*found, *data_files(paths.cache)]


class Watch:
    """Looks at a server's memory twice a second, in a thread, while it is entered. `points`: seconds and bytes."""

    def __init__(self, server: Server) -> None:
        self.points: list[tuple[float, int]] = []
        self._server = server
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self._began = time.perf_counter()
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(0.5):
            self.points.append((time.perf_counter() - self._began, self._server.tree.memory_bytes()))


def measure_cycles(cycles: int, idle_s: float) -> dict[str, Any]:
    """Start, speak, and let it release and restore so many times."""
    with Server(_command("--idle-release", str(idle_s))) as server, Watch(server) as watch:
        files = own_files()
        first = asyncio.run(first_audio_s(server.url, SHORT))
        warm_s = [asyncio.run(first_audio_s(server.url, SHORT)) for _ in range(3)]
        warm = server.tree.memory_bytes()
        released: list[dict[str, float]] = []
        restored_s: list[float] = []
        for cycle in range(cycles):
            server.reach("released", idle_s + _RELEASE_S)
            time.sleep(0.5)
            released.append({"processes": server.tree.memory_bytes(), "page_cache": page_cache(files)})
            restored_s.append(asyncio.run(first_audio_s(server.url, SHORT)))
            print(
                f"cycle {cycle + 1}: released {released[-1]['processes'] / _MB:.0f} MB and "
                f"{released[-1]['page_cache'] / _MB:.0f} MB of files, first audio after {restored_s[-1]:.2f} s",
                file=sys.stderr,
            )
        loads = server.metrics()
        return {
            "start_s": server.start_s,
            "first_audio_after_start_s": first,
            "warm_first_audio_s": warm_s,
            "warm_bytes": warm,
            "released": released,
            "restored_first_audio_s": restored_s,
            "load_s": loads["rtvoice_cold_start_seconds_sum",] / loads["rtvoice_cold_start_seconds_count",],
            "timeline": watch.points,
        }


def measure_growth(sentences: int, streams: int) -> list[tuple[int, int]]:
    """Speak sentences of random length; returns memory after so many of them."""
    rng = random.Random(6)  # noqa: S311  # lengths, not secrets
    points = []

    async def speak(url: str) -> None:
        async with rtvoice.connect(url) as session:
            for number in range(1, sentences + 1):
                words = [rng.choice(_WORDS) for _ in range(rng.randint(2, 25))]
                async for _ in session.speak(" ".join(words).capitalize() + "."):
                    pass
                if number % max(1, sentences // 10) == 0:
                    points.append((number, await asyncio.to_thread(server.tree.memory_bytes)))
                    print(f"{number} sentences: {points[-1][1] / _MB:.0f} MB", file=sys.stderr)

    # a listener who plays in real time would make this an hour
    arguments = _command("--idle-release", "off", "--streams", str(streams), "--audio-ahead", "1000000")
    with Server(arguments) as server:
        asyncio.run(speak(server.url))
    return points


def measure_other(row: str, python: Path, cache: Path) -> dict[str, Any]:
    """Start another engine behind the same server, twice: its files are made, and read into memory, by the first.

    Returns:
        Seconds from the start of the process to first audio, and memory with one sentence spoken.
    """
    command = [str(python), "-W", "ignore", "-m", "benchmarks.served", row, str(cache), "--g2p-python", sys.executable]
    for _ in range(2):
        with Server(command) as server, Watch(server) as watch:
            first = asyncio.run(first_audio_s(server.url, SHORT))
            cold_start_s, warm = server.start_s + first, server.tree.memory_bytes()
    print(f"{ROWS[row].label}: first audio {cold_start_s:.2f} s after the start", file=sys.stderr)
    return {"cold_start_s": cold_start_s, "warm_bytes": warm, "timeline": watch.points}


def criteria(result: dict[str, Any]) -> list[Criterion]:
    """What is asked of the figures that there are."""
    cycles = result["cycles"]
    held = [(one["processes"] + one["page_cache"]) / _MB for one in cycles["released"]]
    restored = statistics.median(cycles["restored_first_audio_s"])
    asked = [
        Criterion("released, with files in the page cache, after the first cycle, MB", held[0], 150.0),
        Criterion("  the most after any cycle, MB", max(held), 150.0),
        Criterion(f"  after cycle {len(held)}, to after the first", held[-1] / held[0], _NO_HIGHER),
    ]
    if (eager := result["others"].get("pytorch-eager")) is not None:
        share = restored / eager["cold_start_s"]
        asked.append(Criterion("released to first audio, to PyTorch eager's cold start", share, 0.25))
    if growth := result.get("growth"):
        early, last = growth[0], growth[-1]
        asked += [
            Criterion(f"warm, {last[0]} sentences to {early[0]}", last[1] / early[1], 1.05),
            Criterion("  the most, MB", max(held for _, held in growth) / _MB, 1000.0),
        ]
    return asked


def summarise(result: dict[str, Any]) -> str:
    """The figures of each engine, and what is asked beside what was measured."""
    cycles = result["cycles"]
    last = cycles["released"][-1]
    own = [
        "rtvoice",
        f"{cycles['start_s'] + cycles['first_audio_after_start_s']:.2f}",
        f"{cycles['warm_bytes'] / _MB:.0f}",
        f"{(last['processes'] + last['page_cache']) / _MB:.0f}",
        f"{statistics.median(cycles['restored_first_audio_s']):.2f}",
        f"{statistics.median(cycles['warm_first_audio_s']):.2f}",
    ]
    others = [
        [ROWS[name].label, f"{found['cold_start_s']:.2f}", f"{found['warm_bytes'] / _MB:.0f}", "", "", ""]
        for name, found in result["others"].items()
    ]
    header = ["", "start to audio, s", "warm, MB", "released, MB", "released to audio, s", "warm to audio, s"]
    return f"{render(header, [own, *others])}\n\n{show(criteria(result))}"


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "rtvoice", "serve", "--port", "0", "--log", "json", "--no-page", *arguments]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.lifecycle",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="three cycles and 30 sentences: three minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured to FILE")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw memory over time into this folder")
    parser.add_argument("--cycles", type=int, default=50, metavar="N", help="releases and restores (%(default)s)")
    parser.add_argument("--sentences", type=int, default=300, metavar="N", help="of random length (%(default)s)")
    parser.add_argument("--streams", type=int, default=2, metavar="N", help="for these sentences (%(default)s)")
    parser.add_argument("--idle", type=float, default=2.0, metavar="S", help="quiet seconds to a release (%(default)s)")
    parser.add_argument(
        "--rows",
        default="pytorch-eager,onnxruntime-default",
        metavar="NAMES",
        help="engines to put beside it (%(default)s)",
    )
    parser.add_argument("--reference-python", type=Path, help="of the environment with these; without it, no such row")
    parser.add_argument("--cache", type=Path, default=Path(".cache/benchmarks"), help="where prepared files lie")
    parsed = parser.parse_args(arguments)
    result: dict[str, Any] = {"benchmark": "lifecycle", "machine": fingerprint(), "others": {}}
    result["cycles"] = measure_cycles(3 if parsed.quick else parsed.cycles, parsed.idle)
    result["growth"] = measure_growth(30 if parsed.quick else parsed.sentences, parsed.streams)
    if parsed.reference_python is not None:
        parsed.cache.mkdir(parents=True, exist_ok=True)
        for name in parsed.rows.split(","):
            result["others"][name] = measure_other(name, parsed.reference_python, parsed.cache.resolve())
    print(summarise(result))
    if parsed.json:
        parsed.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    if parsed.plots:
        _plot(result, parsed.plots)
    return 0


def _plot(result: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    timelines = {"rtvoice": result["cycles"]["timeline"]}
    timelines |= {ROWS[name].label: found["timeline"] for name, found in result["others"].items()}
    lines = [Line(name, [(at, held / _MB) for at, held in points]) for name, points in timelines.items()]
    svg = draw("Memory, released and restored", "seconds since it listened", "MB, all processes", lines)
    (folder / "lifecycle-memory.svg").write_text(svg, "utf-8")
    held = [(one["processes"] + one["page_cache"]) / _MB for one in result["cycles"]["released"]]
    released = [Line("rtvoice", list(enumerate(held, 1)))]
    svg = draw("Memory while released", "cycles", "MB, all processes and page cache of their files", released)
    (folder / "lifecycle-released.svg").write_text(svg, "utf-8")
    restored = [Line("rtvoice", list(enumerate(result["cycles"]["restored_first_audio_s"], 1)))]
    svg = draw("Released to first audio", "cycles", "seconds", restored)
    (folder / "lifecycle-restored.svg").write_text(svg, "utf-8")
    growth = [Line("rtvoice", [(number, held / _MB) for number, held in result["growth"]])]
    svg = draw("Memory while warm", "sentences of random length", "MB, all processes", growth)
    (folder / "lifecycle-growth.svg").write_text(svg, "utf-8")


if __name__ == "__main__":
    sys.exit(main())
