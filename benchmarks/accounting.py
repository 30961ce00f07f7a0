"""What a process and its children cost, by the kernel's own books in `/proc`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


class ProcessTree:
    """A process and all that descend from it.

    Args:
        root: the process's id.
    """

    def __init__(self, root: int) -> None:
        self._root = root

    def members(self) -> frozenset[int]:
        """The ids of the processes that are alive, the root's among them. Empty once the root is gone."""
        parents = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and (fields := _stat(int(entry.name))):
                parents[int(entry.name)] = int(fields[1])
        found = {self._root} & parents.keys()
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return frozenset(found)

    def cpu_seconds(self) -> float:
        """CPU time taken so far, in user mode and in the kernel, by all threads, those that have ended included.

        Children that have ended count once their parent has waited for them. The kernel gives it in steps of 10 ms.
        """
        ticks = 0
        for pid in self.members():
            if fields := _stat(pid):
                ticks += sum(int(field) for field in fields[11:15])  # utime, stime, cutime, cstime
        return ticks / _TICKS_A_SECOND

    def memory_bytes(self) -> int:
        """Memory of all of them now; pages that several map are shared out among them (PSS)."""
        return sum(_proportional_kib(pid) for pid in self.members()) * 1024

    def mapped_bytes(self, files: Iterable[Path]) -> int:
        """What of `memory_bytes` is pages of these files that the processes map."""
        paths = {str(file.resolve()) for file in files}
        return sum(_mapped_kib(pid, paths) for pid in self.members()) * 1024

    def peak_resident_bytes(self) -> int:
        """The most memory each process alive has had resident at any time, summed."""
        return sum(_peak_resident_kib(pid) for pid in self.members()) * 1024


def _stat(pid: int) -> list[str]:
    """The fields of `/proc/PID/stat` behind the name, which may itself hold blanks and brackets; none if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _peak_resident_kib(pid: int) -> int:
    return _kib(Path(f"/proc/{pid}/status"), "VmHWM:")


def _proportional_kib(pid: int) -> int:
    return _kib(Path(f"/proc/{pid}/smaps_rollup"), "Pss:")


def _mapped_kib(pid: int, paths: Container[str]) -> int:
    """Each mapping is a line `address access offset device inode path` and, below it, lines `Name: value kB`."""
    found, ours = 0, False
    try:
        for line in Path(f"/proc/{pid}/smaps").read_text(errors="replace").splitlines():
            words = line.split(maxsplit=5)
            if not words[0].endswith(":"):
                ours = len(words) == 6 and words[5] in paths
            elif ours and words[0] == "Pss:":
                found += int(words[1])
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def _kib(file: Path, name: str) -> int:
    """An entry of a file in `/proc`; 0 if the process is gone."""
    try:
        for line in file.read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1])
    except (FileNotFoundError, ProcessLookupError):
        pass
    return 0
