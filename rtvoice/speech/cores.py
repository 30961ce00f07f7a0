"""How many cores this process may really use: those it is allowed to run on, and the share of them it is given.

Libraries see the first (affinity) and not the second: in a container with half a core on a machine of 64 they start 64
threads, which then stand still together for most of every period.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path


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
        """Threads that can run at once: whole cores, at least 1. A begun core counts."""
        return self.allowed if self.quota is None else max(1, min(self.allowed, math.ceil(self.quota)))


def find_cores(proc: Path = Path("/proc"), cgroups: Path = Path("/sys/fs/cgroup")) -> Cores:
    """Ask the kernel.

    Args:
        proc: where procfs is mounted.
        cgroups: where control groups are, version 1 or 2.
    """
    return Cores(len(os.sched_getaffinity(0)), _quota(proc, cgroups))


def _quota(proc: Path, cgroups: Path) -> float | None:
    """The least of the limits from our group up to the root: each of them holds."""
    limits = [limit for group in _groups(proc, cgroups) if (limit := _limit(group)) is not None]
    return min(limits, default=None)


def _groups(proc: Path, cgroups: Path) -> list[Path]:
    """The folders of our control group and its ancestors, where they can be seen.

    Each line of /proc/self/cgroup is number:controllers:path. Version 2 has one, with no controllers, and its tree at
    the top. Inside a container the path may be the host's, and what we see of the tree begins below it.
    """
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        trees = [cgroups / controllers, cgroups / "cpu"] if controllers else [cgroups, cgroups / "unified"]
        parts = [part for part in path.split("/") if part and part != ".."]
        found += [tree.joinpath(*parts[:depth]) for tree in trees for depth in range(len(parts), -1, -1)]
    return found


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
