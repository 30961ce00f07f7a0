"""Files that are mapped into memory and no longer needed there."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress
from pathlib import Path
from typing import Final

_DONTNEED: Final = 4  # MADV_DONTNEED


def let_go(folder: Path, maps: Path = Path("/proc/self/maps")) -> int:
    """Drop the pages of files in a folder that this process maps, and return free memory to the kernel.

    OpenVINO maps a network's weights and then makes its own arrangement of most of them; what it left behind counts as
    this process's memory. Pages that are needed after all are read again, from the kernel's cache as a rule. Linux
    and glibc; elsewhere nothing happens.

    Args:
        folder: of the files; their mappings must be read-only.
        maps: where the kernel lists this process's mappings.

    Returns:
        Bytes of the mappings.
    """
    gc.collect()
    folder = folder.resolve()  # the kernel lists files without symbolic links
    total = 0
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        for line in maps.read_text("utf-8", "replace").splitlines():
            fields = line.split(maxsplit=5)
            if len(fields) == 6 and fields[1].startswith("r-") and Path(fields[5]).is_relative_to(folder):
                start, end = (int(address, 16) for address in fields[0].split("-"))
                if libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _DONTNEED) == 0:
                    total += end - start
        libc.malloc_trim(0)
    return total
