"""What the server holds while it speaks and while nobody does, and how soon it is back.

One server on this machine, the real model, a client over its socket. It is started, speaks a short sentence, is left
alone until it has released its engine, and is spoken to again, so many times. Then another speaks sentences of random
length, and its memory is looked at on the way. Memory is that of all its processes (PSS), and what the kernel keeps of
the model's files for them.
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
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rtvoice
from benchmarks.baselines import ROWS
from benchmarks.machine import fingerprint
from benchmarks.plot import Line, draw
from benchmarks.process import EngineProcess
from benchmarks.server import Server
from benchmarks.table import render
from benchmarks.workload import load_sentences
from rtvoice.config import EngineConfig
from rtvoice.paths import default_paths
from rtvoice.serving.memory import page_cache

if TYPE_CHECKING:
    from collections.abc import Sequence

SHORT = "Hello, and welcome back."
_MIB = 1 << 20
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


async def first_audio_s(url: str, text: str) -> float:
    """Speak a text to its end; returns how long its first audio took, as the client sees it."""
    async with rtvoice.connect(url) as session:
        began, first = time.perf_counter(), 0.0
        async for _ in session.speak(text):
            first = first or time.perf_counter() - began
        return first


def own_files() -> list[Path]:
    """The files that the server reads when it loads."""
    from rtvoice.speech.kokoro import KokoroSynthesizer

    return KokoroSynthesizer(EngineConfig(paths=default_paths(os.environ))).files()


class Watch:
    """Looks at a server's memory twice a second, in a thread, while it is entered. `points`: seconds and MiB."""

    def __init__(self, server: Server) -> None:
        self.points: list[tuple[float, float]] = []
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
            self.points.append((time.perf_counter() - self._began, self._server.tree.memory_bytes() / _MIB))


def measure_cycles(cycles: int, idle_s: float) -> dict[str, Any]:
    """Start, speak, and let it release and restore so many times."""
    files = own_files()
    with Server(_command("--idle-release", str(idle_s))) as server, Watch(server) as watch:
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
                f"cycle {cycle + 1}: released {released[-1]['processes'] / _MIB:.0f} MiB and "
                f"{released[-1]['page_cache'] / _MIB:.0f} MiB of files, first audio after {restored_s[-1]:.2f} s",
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
                    print(f"{number} sentences: {points[-1][1] / _MIB:.0f} MiB", file=sys.stderr)

    # a listener who plays in real time would make this an hour
    arguments = _command("--idle-release", "off", "--streams", str(streams), "--audio-ahead", "1000000")
    with Server(arguments) as server:
        asyncio.run(speak(server.url))
    return points


def measure_eager(python: Path, cache: Path) -> float:
    """Seconds that PyTorch eager takes from the start of its process to the audio of a short sentence."""
    sentence = min(load_sentences(), key=lambda sentence: len(sentence.phonemes))
    with EngineProcess(ROWS["pytorch-eager"], python, cache, len(os.sched_getaffinity(0))) as engine:
        engine.prepare()
    with EngineProcess(ROWS["pytorch-eager"], python, cache, len(os.sched_getaffinity(0))) as engine:
        began = time.perf_counter()
        load = engine.load()
        loaded = time.perf_counter()
        engine.speak(sentence)
        return load.wall_s + time.perf_counter() - max(began, loaded)


def summarise(result: dict[str, Any]) -> str:
    """The figures beside what is asked of them."""
    cycles = result["cycles"]
    sums = [(held["processes"] + held["page_cache"]) / _MIB for held in cycles["released"]]
    restored = statistics.median(cycles["restored_first_audio_s"])
    rows = [
        ["released, after the first cycle", f"{sums[0]:.0f} MiB", "150 MiB"],
        [f"released, after cycle {len(sums)}", f"{sums[-1]:.0f} MiB", f"{sums[0]:.0f} MiB"],
        ["warm, one sentence spoken", f"{cycles['warm_bytes'] / _MIB:.0f} MiB", ""],
        ["start of the process to first audio", f"{cycles['start_s'] + cycles['first_audio_after_start_s']:.2f} s", ""],
        ["first audio, warm", f"{statistics.median(cycles['warm_first_audio_s']):.2f} s", ""],
        ["first audio, released", f"{restored:.2f} s", ""],
    ]
    if (eager := result.get("eager_cold_start_s")) is not None:
        rows[-1][2] = f"{eager / 4:.2f} s, a quarter of PyTorch eager's {eager:.2f} s"
    if growth := result.get("growth"):
        early, last = growth[0], growth[-1]
        rows += [
            [f"warm, {early[0]} sentences", f"{early[1] / _MIB:.0f} MiB", ""],
            [f"warm, {last[0]} sentences", f"{last[1] / _MIB:.0f} MiB", f"{min(early[1] * 1.05 / _MIB, 1000):.0f} MiB"],
        ]
    return render(["", "measured", "asked, at most"], rows)


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "rtvoice", "serve", "--port", "0", "--log", "json", "--no-page", *arguments]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.lifecycle",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="three cycles and 30 sentences: two minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured to FILE")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw memory over time into this folder")
    parser.add_argument("--cycles", type=int, default=50, metavar="N", help="releases and restores (%(default)s)")
    parser.add_argument("--sentences", type=int, default=300, metavar="N", help="of random length (%(default)s)")
    parser.add_argument("--streams", type=int, default=2, metavar="N", help="for these sentences (%(default)s)")
    parser.add_argument("--idle", type=float, default=2.0, metavar="S", help="quiet seconds to a release (%(default)s)")
    parser.add_argument("--reference-python", type=Path, help="of the environment with torch; without it, no such row")
    parser.add_argument("--cache", type=Path, default=Path(".cache/benchmarks"), help="where prepared files lie")
    parsed = parser.parse_args(arguments)
    result: dict[str, Any] = {"benchmark": "lifecycle", "machine": fingerprint()}
    result["cycles"] = measure_cycles(3 if parsed.quick else parsed.cycles, parsed.idle)
    result["growth"] = measure_growth(30 if parsed.quick else parsed.sentences, parsed.streams)
    if parsed.reference_python is not None:
        parsed.cache.mkdir(parents=True, exist_ok=True)
        result["eager_cold_start_s"] = measure_eager(parsed.reference_python, parsed.cache.resolve())
    print(summarise(result))
    if parsed.json:
        parsed.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    if parsed.plots:
        parsed.plots.mkdir(parents=True, exist_ok=True)
        timeline = [Line("rtvoice", result["cycles"]["timeline"])]
        svg = draw("Memory, released and restored", "seconds since it listened", "MiB, all processes", timeline)
        (parsed.plots / "lifecycle-memory.svg").write_text(svg, "utf-8")
        growth = [Line("rtvoice", [(number, held / _MIB) for number, held in result["growth"]])]
        svg = draw("Memory while warm", "sentences of random length", "MiB, all processes", growth)
        (parsed.plots / "lifecycle-growth.svg").write_text(svg, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
