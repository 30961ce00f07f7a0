"""Files that are in memory, mapped or not, and no longer needed there."""

from __future__ import annotations

import ctypes
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_DONTNEED: Final = 4  # MADV_DONTNEED
_MAPS: Final = Path("/proc/self/maps")
_LIBRARY: Final = re.compile(r"\.so(?:\.[\w.]+)?\Z")


def let_go(folder: Path, maps: Path = _MAPS) -> int:
    """Drop the pages of files in a folder that this process maps, and return free memory to the kernel.

    OpenVINO maps a network's weights and then makes its own arrangement of most of them; what it left behind counts as
    this process's memory. Pages that are needed after all are read again, from the kernel's cache as a rule. Linux
    and glibc; elsewhere nothing happens.

    Args:
        folder: of the files; their mappings must never have been written to.
        maps: where the kernel lists this process's mappings.

    Returns:
        Bytes of the mappings.
    """
    inside = f"{folder.resolve()}/"  # the kernel lists files without symbolic links
    return _drop(lambda permissions, file: permissions.startswith("r-") and file.startswith(inside), maps)


def let_go_of_code(maps: Path = _MAPS) -> int:
    """Drop the pages of all libraries that hold code, as `let_go` does; they come back one by one as it is run.

    Most of it ran once, to load something. A library's constants stay: what the loader has put addresses into looks the
    same in the kernel's list, and is not what the file says any more.

    Args:
        maps: where the kernel lists this process's mappings.

    Returns:
        Bytes of the mappings.
    """
    # by their names: what a compiler made while we run may lie in a file too, one that was written to
    return _drop(lambda permissions, file: permissions.startswith("r-x") and _LIBRARY.search(file) is not None, maps)


def _drop(is_meant: Callable[[str, str], bool], maps: Path) -> int:
    total = 0
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        for line in maps.read_text("utf-8", "replace").splitlines():
            fields = line.split(maxsplit=5)
            if len(fields) == 6 and is_meant(fields[1], fields[5]):
                start, end = (int(address, 16) for address in fields[0].split("-"))
                if libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _DONTNEED) == 0:
                    total += end - start
        libc.malloc_trim(0)
    return total


def forget(files: Iterable[Path]) -> None:
    """Have the kernel forget what it keeps of files in memory; pages that are mapped stay.

    Args:
        files: read seldom, and ours: whoever else reads them pays as well. What cannot be opened is passed over.
    """
    for file in files:
        with suppress(OSError):
            descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
            try:
                with suppress(OSError):
                    os.fdatasync(descriptor)  # pages that are not on the disk yet would stay
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)
