"""Memory that this process may still take, before it takes it.

Whoever passes a control group's limit is killed, and a library that passes the process's own may end it as well:
nobody is left to say why. So a load that cannot end well is refused before it begins.
"""

from __future__ import annotations

import resource
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rtvoice.errors import SetupError
from rtvoice.speech.cgroups import groups

if TYPE_CHECKING:
    from collections.abc import Iterable

_MB = 1_000_000
_UNLIMITED = 1 << 60
"""Version 1 of control groups says so with a number of this size."""


@dataclass(frozen=True, slots=True)
class Room:
    """What may still be taken, in bytes; None without a limit.

    Attributes:
        pages: that are really used.
        addresses: that are asked for, used or not: what `ulimit` counts.
    """

    pages: int | None
    addresses: int | None


def check_room(streams: int, room: Room | None = None) -> None:
    """Refuse to load where there is less memory than loading takes.

    With one stream that is some 800 MB of pages, in the first seconds, and 1,250 MB of addresses; each further one adds
    160 MB and 400 MB. This asks for a little less, since the figures are of one machine.

    Args:
        streams: inferences that shall run at once.
        room: what there is; None asks the kernel.

    Raises:
        SetupError: there is too little.
    """
    room = room or find_room()
    wanted = (
        (room.pages, (600 + 150 * streams) * _MB, "the container or the machine"),
        (room.addresses, (800 + 400 * streams) * _MB, "the process (`ulimit -d`, `ulimit -v`)"),
    )
    for there, needed, whose in wanted:
        if there is not None and there < needed:
            raise SetupError(
                f"there is no room for the engine: {max(there, 0) // _MB} MB are left of what {whose} may take, and "
                f"with {streams} stream{'s' if streams > 1 else ''} it takes {needed // _MB} MB to load. Allow it "
                f"more memory{', or fewer streams (--streams 1)' if streams > 1 else ''}."
            )


def find_room(proc: Path = Path("/proc"), cgroups: Path = Path("/sys/fs/cgroup")) -> Room:
    """Ask the kernel. Takes less than a millisecond.

    Args:
        proc: where procfs is mounted.
        cgroups: where control groups are, version 1 or 2.
    """
    machine = _fields(proc / "meminfo")
    swap = machine.get("SwapFree", 0) * 1024
    pages = [_left(group, swap) for group in groups("memory", proc, cgroups)]
    if "MemAvailable" in machine:
        pages.append(machine["MemAvailable"] * 1024 + swap)
    own = _fields(proc / "self" / "status")
    addresses = (
        limit - own[name] * 1024
        for kind, name in ((resource.RLIMIT_DATA, "VmData"), (resource.RLIMIT_AS, "VmSize"))
        if (limit := resource.getrlimit(kind)[0]) != resource.RLIM_INFINITY and name in own
    )
    return Room(_least(pages), _least(addresses))


def _least(rooms: Iterable[int | None]) -> int | None:
    return min((room for room in rooms if room is not None), default=None)


def _left(group: Path, swap: int) -> int | None:
    """What a group may still take, and what is cached for it; None if it has no limit, or is not there.

    Args:
        group: its folder.
        swap: bytes that the machine may still move to disk.
    """
    for limit, used, total in (
        ("memory.max", "memory.current", ""),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
    ):
        with suppress(OSError, ValueError):  # no number: "max"
            most = int((group / limit).read_text())
            if most < _UNLIMITED:
                kept = _fields(group / "memory.stat")
                caches = (f"{total}active_file", f"{total}inactive_file", "slab_reclaimable")
                free = sum(kept.get(name, 0) for name in caches)
                return most - int((group / used).read_text()) + free + _swap(group, swap)
    return None


def _swap(group: Path, most: int) -> int:
    """What it may still move to disk (version 2), at most what is given."""
    with suppress(OSError, ValueError):  # no number: "max"
        left = int((group / "memory.swap.max").read_text()) - int((group / "memory.swap.current").read_text())
        return min(left, most)
    return most


def _fields(file: Path) -> dict[str, int]:
    """Numbers of a file with one a line, by name: `MemFree:  1234 kB`, `active_file 5678`."""
    found = {}
    with suppress(OSError):
        for line in file.read_text().splitlines():
            name, _, number = line.replace(":", " ").partition(" ")
            with suppress(ValueError, IndexError):
                found[name] = int(number.split()[0])
    return found
