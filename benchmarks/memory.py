"""What an engine holds while it is warm, and how soon a cancelled sentence gives back its place. No G2P process.

Sentences of random length, 0.8 to 12 s, made of the phonemes of the benchmarks' sentences, in the six packaged
voices, as many at once as there are streams. Memory is that of the process (PSS), which has only read the model: it is
compiled in another one before. Then sentences of about 10 s are cancelled at moments spread over them, in an engine
with one stream, and the time is taken until something else runs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from benchmarks.accounting import ProcessTree
from benchmarks.baselines.own import SEED, opened, own_paths
from benchmarks.criteria import Criterion, show
from benchmarks.machine import fingerprint
from benchmarks.process import ROOT
from benchmarks.table import Figure, render
from benchmarks.workload import FILE
from rtvoice.config import SAMPLE_RATE
from rtvoice.serving.memory import keep_little
from rtvoice.speech.cores import Sizes
from rtvoice.speech.turn import Account, Turn
from rtvoice.speech.voices import VoiceStore

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Sequence

    from numpy.typing import NDArray

    from rtvoice.speech.acoustics import Acoustics

T = TypeVar("T")

SHORTEST, LONGEST = 12, 200
"""Phonemes of a sentence: 0.8 and 12 s."""

CANCELLED: Final = 165
"""Phonemes of the sentences that are cancelled: 10 s."""

LIMITS_MB: Final = {1: 700.0, 2: 800.0}
"""Memory that is asked for, by streams."""

GROWTH: Final = 1.03
EARLY: Final = 20
"""Memory at the end is compared with that after so many sentences."""

BEYOND_S: Final = 0.01
"""What a loop and a thread take to notice that a place is free."""

_MB = 1e6
_AT_A_TIME: Final = 10


class Waits(Account):
    """An account that keeps how long each inference held its place."""

    def __init__(self) -> None:
        super().__init__()
        self.held_s: list[float] = []

    def charge(self, used_s: float, waited_s: float, now: float) -> None:
        """See `Account.charge`."""
        self.held_s.append(used_s)
        super().charge(used_s, waited_s, now)


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A sentence that was cancelled.

    Attributes:
        at_s: when, from its beginning.
        heard: whether any of it had been heard.
        freed_s: from then until something else could run.
        held_s: how long the inference that was under way, or the one before, held its place in all.
    """

    at_s: float
    heard: bool
    freed_s: float
    held_s: float


class Speaker:
    """Speaks phonemes with packaged voices in slices."""

    def __init__(self, acoustics: Acoustics, cache: Path) -> None:
        self._acoustics = acoustics
        self._voices = VoiceStore(own_paths(cache).data)

    @property
    def voices(self) -> tuple[str, ...]:
        """The voices that have a map of their statistics."""
        return tuple(name for name in self._voices.names if self._voices.statistics(name) is not None)

    async def slices(self, phonemes: str, voice: str, turn: Turn) -> AsyncGenerator[NDArray[np.float32], None]:
        """Speak one sentence."""
        style, fitted = self._voices.style(voice, len(phonemes)), self._voices.statistics(voice)
        assert fitted is not None
        features = await self._acoustics.features(phonemes, style, 1.0, turn)
        noise = np.random.Generator(np.random.Philox(SEED))
        statistics_ = fitted.predict(features.description)
        async with aclosing(self._acoustics.sliced(features, style, statistics_, noise, turn)) as slices:
            async for samples in slices:
                yield samples

    async def speak(self, phonemes: str, voice: str, turn: Turn) -> int:
        """Speak one sentence to its end; returns its samples."""
        return sum([len(samples) async for samples in self.slices(phonemes, voice, turn)])


def sentence(rng: random.Random, words: Sequence[str], length: int) -> str:
    """A sentence of random words.

    Args:
        rng: chooses.
        words: their phonemes.
        length: phonemes of it, at least about; it ends with the word that reaches it.
    """
    chosen: list[str] = []
    while sum(len(word) + 1 for word in chosen) < length:
        chosen.append(rng.choice(words))
    return " ".join(chosen)[: length - 1].rstrip() + "."


def spoken_words() -> list[str]:
    """The phonemes of every word of the benchmarks' sentences."""
    lines = [json.loads(line)["phonemes"] for line in FILE.read_text("utf-8").splitlines()]
    return [word.strip(".,?!") for line in lines for word in line.split()]


async def load(cache: Path, streams: int, threads: int) -> None:
    """Build and compile what is not there yet, so that a process that is measured only reads it."""
    async with opened(cache, Sizes(streams, threads)):
        pass


async def measure_growth(cache: Path, sentences: int, streams: int) -> list[tuple[int, int]]:
    """Speak, and look at the memory after every tenth sentence, when the engine has settled.

    Returns:
        Numbers of sentences, and bytes.
    """
    rng, words, tree = random.Random(5), spoken_words(), ProcessTree(os.getpid())  # noqa: S311  # lengths, no secrets
    points: list[tuple[int, int]] = []
    done, seconds = 0, 0.0
    async with opened(cache, Sizes(streams, 1)) as loaded:
        speaker = Speaker(loaded.acoustics, cache)
        while done < sentences:
            todo = [sentence(rng, words, rng.randint(SHORTEST, LONGEST)) for _ in range(_AT_A_TIME)]
            queue = iter([(phonemes, rng.choice(speaker.voices)) for phonemes in todo])

            async def listen(queue: Iterator[tuple[str, str]] = queue) -> None:
                nonlocal seconds
                for phonemes, voice in queue:
                    seconds += await speaker.speak(phonemes, voice, Turn()) / SAMPLE_RATE

            async with asyncio.TaskGroup() as listeners:
                for _ in range(streams):
                    listeners.create_task(listen())
            done += len(todo)
            speaking = tree.memory_bytes()
            await loaded.settle()
            points.append((done, tree.memory_bytes()))
            print(f"{done} sentences: {points[-1][1] / _MB:.0f} MB, {speaking / _MB:.0f} before", file=sys.stderr)
    print(f"{seconds:.0f} s of speech", file=sys.stderr)
    return points


async def measure_cancelling(cache: Path, times: int, threads: int) -> list[Cancelled]:
    """Cancel a long sentence so many times."""
    phonemes = sentence(random.Random(5), spoken_words(), CANCELLED)  # noqa: S311
    async with opened(cache, Sizes(1, threads)) as loaded:
        speaker = Speaker(loaded.acoustics, cache)
        voice = speaker.voices[0]
        await speaker.speak(phonemes, voice, Turn())
        began = time.perf_counter()
        await speaker.speak(phonemes, voice, Turn())
        whole_s = time.perf_counter() - began
        found = []
        for number in range(times):
            waits, heard = Waits(), asyncio.Event()

            async def listen(waits: Waits = waits, heard: asyncio.Event = heard) -> None:
                async for _ in speaker.slices(phonemes, voice, Turn(waits)):
                    heard.set()

            task, at_s = asyncio.create_task(listen()), whole_s * (number + 0.5) / times
            await asyncio.sleep(at_s)
            cancelled = time.perf_counter()
            task.cancel()
            await loaded.pool.run(lambda: None)
            found.append(Cancelled(at_s, heard.is_set(), time.perf_counter() - cancelled, waits.held_s[-1]))
            with suppress(asyncio.CancelledError):
                await task
        return found


def criteria(growth: Sequence[tuple[int, int]], streams: int, cut: Sequence[Cancelled]) -> list[Criterion]:
    """What is asked: flat memory, within its limit, and no cancel that waits for more than what was running."""
    early = next((held for number, held in growth if number >= EARLY), growth[0][1])
    last = growth[-1][1]
    found = [Criterion(f"after {growth[-1][0]} sentences, multiple of that after {EARLY}", last / early, GROWTH)]
    if (limit := LIMITS_MB.get(streams)) is not None:
        found.append(Criterion(f"warm, {streams} streams, MB", last / _MB, limit))
    beyond = max(one.freed_s - one.held_s for one in cut)
    found.append(Criterion("place free after a cancel, beyond the inference under way, s", max(0.0, beyond), BEYOND_S))
    return found


def _apart(measurement: Callable[..., Coroutine[Any, Any, T]], *args: object) -> T:
    """Run a measurement in a process of its own, which holds nothing from before."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_run, measurement, args).result()


def _run(measurement: Callable[..., Coroutine[Any, Any, T]], args: tuple[object, ...]) -> T:
    keep_little()  # as a server does
    return asyncio.run(measurement(*args))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print; 1 if something asked for is not kept."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.memory", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="40 sentences, 8 cancels: three minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured to FILE")
    parser.add_argument("--sentences", type=int, default=200, metavar="N", help="of random length (%(default)s)")
    parser.add_argument("--streams", type=int, default=2, metavar="N", help="sentences at once (%(default)s)")
    parser.add_argument("--cancels", type=int, default=40, metavar="N", help="(%(default)s)")
    parser.add_argument("--cache", type=Path, default=ROOT / ".cache" / "benchmarks", help="where the model lies")
    parsed = parser.parse_args(arguments)
    cache = parsed.cache.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    cores = len(os.sched_getaffinity(0))
    _apart(load, cache, parsed.streams, 1)
    growth = _apart(measure_growth, cache, 40 if parsed.quick else parsed.sentences, parsed.streams)
    _apart(load, cache, 1, cores)
    cut = _apart(measure_cancelling, cache, 8 if parsed.quick else parsed.cancels, cores)
    asked = criteria(growth, parsed.streams, cut)
    rows = [
        [
            name,
            f"{len(freed)}",
            Figure.of(freed).show() if freed else "",
            f"{statistics.mean(freed):.3f}" if freed else "",
        ]
        for name, freed in (
            ("cancelled before its first audio", [one.freed_s for one in cut if not one.heard]),
            ("cancelled after it", [one.freed_s for one in cut if one.heard]),
        )
    ]
    print(render(["", "times", "place free, s, median (range)", "mean"], rows))
    print(f"\n{show(asked)}")
    if parsed.json:
        document = {
            "benchmark": "memory",
            "machine": fingerprint(),
            "streams": parsed.streams,
            "growth": growth,
            "cancelled": [asdict(one) for one in cut],
            "criteria": [asdict(one) | {"kept": one.kept} for one in asked],
        }
        parsed.json.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    return 0 if all(one.kept for one in asked) else 1


if __name__ == "__main__":
    sys.exit(main())
