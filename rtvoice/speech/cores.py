"""How many cores this process may really use: those it is allowed to run on, and the share of them it is given.

Libraries see the first (affinity) and not the second: in a container with half a core on a machine of 64 they start 64
threads, which then stand still together for most of every period.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rtvoice.speech.cgroups import groups
from rtvoice.speech.costs import UNMEASURED, Calibration

if TYPE_CHECKING:
    from collections.abc import Callable

_THREADS = 2
"""Threads of one inference, as long as nothing was measured."""

_WORTH = 1.4
"""How many times as fast twice the threads must make an inference: else another stream makes more of them."""

_SLOW_S = 0.8
"""Seconds of work for a second of speech at which a stream is too near to falling behind its listener."""

_FOLLOW_S = 5.0


@dataclass(frozen=True, slots=True)
class Cores:
    """A process's share of the machine.

    Attributes:
        allowed: cores the scheduler may put it on.
        quota: cores' worth of time that its control group gives it, or None without a limit.
    """

    allowed: int
    quota: float | None

    @property
    def usable(self) -> int:
        """Threads that can run at once: whole cores, at least 1.

        A part of one more is left to whatever else there is to do: a thread that has less than a core stands still for
        the rest of each period, and the others wait for it.
        """
        return self.allowed if self.quota is None else max(1, min(self.allowed, int(self.quota)))


@dataclass(frozen=True, slots=True)
class Sizes:
    """How cores are used: `streams` inferences at once, of `threads` threads each."""

    streams: int
    threads: int


def size(
    cores: Cores, streams: int | None = None, threads: int | None = None, calibration: Calibration = UNMEASURED
) -> Sizes:
    """Choose how to use the cores. What is given is kept to; what is chosen takes no more threads than there are cores.

    Two threads bring the first sound to a single listener sooner, two streams make more of two: as long as the threads
    make an inference nearly twice as fast, that costs little. More than two only if a stream of less would fall behind.

    Args:
        cores: the process's share.
        streams: inferences at once, or None to choose.
        threads: threads of one inference, or None to choose.
        calibration: what was measured on this machine.
    """
    if threads is None:
        most = cores.usable // (streams or 1)
        threads = max(1, min(_worthwhile(calibration, most), most))
    return Sizes(streams or max(1, cores.usable // threads), threads)


def _worthwhile(calibration: Calibration, most: int) -> int:
    """Threads that an inference has good use for, by doubling."""
    if not calibration.speedups:
        return _THREADS
    threads, speedup = 1, 1.0
    while 2 * threads <= most and (doubled := calibration.speedups.get(2 * threads)) is not None:
        wanted = threads < _THREADS or calibration.work_s(threads) > _SLOW_S
        if not wanted or doubled < _WORTH * speedup:
            break
        threads, speedup = 2 * threads, doubled
    return threads


async def follow(
    limit: Callable[[int], None], threads: int, find: Callable[[], Cores] | None = None, every_s: float = _FOLLOW_S
) -> None:
    """Keep what runs at once to the cores there are, for ever: a quota may change at any time.

    Args:
        limit: told how many inferences may run at once, when that has changed; the first time in any case.
        threads: threads of one inference.
        find: tells what cores there are; by default `find_cores`.
        every_s: seconds between two looks.
    """
    told = None
    while True:
        places = max(1, (find or find_cores)().usable // threads)
        if places != told:
            limit(places)
            told = places
        await asyncio.sleep(every_s)


def find_cores(proc: Path = Path("/proc"), cgroups: Path = Path("/sys/fs/cgroup")) -> Cores:
    """Ask the kernel.

    Args:
        proc: where procfs is mounted.
        cgroups: where control groups are, version 1 or 2.
    """
    return Cores(len(os.sched_getaffinity(0)), _quota(proc, cgroups))


def _quota(proc: Path, cgroups: Path) -> float | None:
    """The least of the limits from our group up to the root: each of them holds."""
    limits = [limit for group in groups("cpu", proc, cgroups) if (limit := _limit(group)) is not None]
    return min(limits, default=None)


def _limit(group: Path) -> float | None:
    """A group's limit in cores; None if it has none, or is not there."""
    for quota_file, period_file in (("cpu.max", None), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        try:
            words = (group / quota_file).read_text().split()
            if period_file is not None:
                words += (group / period_file).read_text().split()
            quota, period = float(words[0].replace("max", "-1")), float(words[1])
        except (OSError, ValueError, IndexError):
            continue
        if quota > 0 and period > 0:
            return quota / period
    return None
