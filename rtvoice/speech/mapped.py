"""Files that are in memory, mapped or not, and no longer needed there."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_DONTNEED: Final = 4  # MADV_DONTNEED


def let_go(folder: Path, permissions: str = "r-", maps: Path = Path("/proc/self/maps")) -> int:
    """Drop the pages of files in a folder that this process maps, and return free memory to the kernel.

    OpenVINO maps a network's weights and then makes its own arrangement of most of them; what it left behind counts as
    this process's memory. Pages that are needed after all are read again, from the kernel's cache as a rule. Linux
    and glibc; elsewhere nothing happens.

    Args:
        folder: of the files; their mappings must never have been written to.
        permissions: of the mappings, as far as the kernel's list has to begin with them.
        maps: where the kernel lists this process's mappings.

    Returns:
        Bytes of the mappings.
    """
    folder = folder.resolve()  # the kernel lists files without symbolic links
    total = 0
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        for line in maps.read_text("utf-8", "replace").splitlines():
            fields = line.split(maxsplit=5)
            if len(fields) == 6 and fields[1].startswith(permissions) and Path(fields[5]).is_relative_to(folder):
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


def let_go_of_code(package: str) -> int:
    """Drop the pages of a package's libraries that hold code; they come back one by one as it is run.

    A library's constants stay: what the loader has put addresses into looks the same in the kernel's list, and is not
    what the file says any more.

    Returns:
        Bytes of the mappings.
    """
    spec = importlib.util.find_spec(package)
    folders = (spec.submodule_search_locations or ()) if spec is not None else ()
    return sum(let_go(Path(folder), "r-x") for folder in folders)
