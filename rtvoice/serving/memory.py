"""Memory: what this process and its children hold, and how to give it back. Linux; elsewhere it does what it can."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rtvoice.speech.mapped import forget

if TYPE_CHECKING:
    from collections.abc import Iterable

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8  # of glibc's malloc.h
_ARENAS = 2
_MMAP_THRESHOLD = 1 << 20
_KERNELS_KEPT, _KERNELS = "ONEDNN_PRIMITIVE_CACHE_CAPACITY", 20
_TUNABLES, _THREAD_CACHE = "GLIBC_TUNABLES", "glibc.malloc.tcache_count"
_RESTARTED = "RTVOICE_RESTARTED"


@dataclass(frozen=True, slots=True)
class Usage:
    """What this process and its children have used.

    Attributes:
        memory_bytes: resident now; pages that several processes map are shared out among them (PSS).
        cpu_s: seconds of CPU time so far, children that have ended included.
    """

    memory_bytes: int
    cpu_s: float


def measure(proc: Path = Path("/proc")) -> Usage:
    """Ask the kernel. Takes some milliseconds, since it walks all pages: call it in a thread.

    Args:
        proc: where procfs is mounted.
    """
    own = os.times()
    children = _children(proc, os.getpid())
    cpu_s = own.user + own.system + own.children_user + own.children_system
    return Usage(
        sum(_resident(proc, pid) for pid in [os.getpid(), *children]),
        cpu_s + sum(_cpu_s(proc, pid) for pid in children),
    )


def keep_little() -> None:
    """Have libraries keep little of what is freed. For the top of a process, before it has threads.

    By default each thread has a heap of its own, and what is freed in the midst of one stays; and the allocator learns,
    from the first large block that is freed, to keep such blocks. Here two heaps do, and blocks of 1 MiB and more go
    back at once. And oneDNN, which OpenVINO runs on, keeps the last thousand kernels that it made, whoever has left:
    5 MB for each sentence of a new length. The last twenty do as well: no load takes longer, and no sentence. With ten,
    speech scatters 25 MB more over the heap; without any, it takes 4 % longer. An environment that says otherwise is
    heeded. glibc; elsewhere the allocator is left alone.
    """
    os.environ.setdefault(_KERNELS_KEPT, str(_KERNELS))
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_ARENA_MAX, _ARENAS)
        mallopt(_M_MMAP_THRESHOLD, _MMAP_THRESHOLD)


def restart_without_thread_caches() -> None:
    """Start this program anew, as the same process, without the allocator's caches; not if that is so already.

    A thread keeps some blocks of each size that it freed, up to seven of each of 64, and each holds the page it lies in
    when all about it is given back: 4 to 10 MB of a released engine, more after each load. They cannot be emptied, and
    glibc reads whether there are any before the program begins. Speech takes no longer without. An environment that
    says how many there are to be is heeded; where the C library is another, or there is no program to start, nothing
    happens.
    """
    tunables = os.environ.get(_TUNABLES, "")
    # Once only: to a program with capabilities, as a Python that may listen on port 80, glibc passes no tunables on.
    if _THREAD_CACHE in tunables or _RESTARTED in os.environ or not sys.executable or not _has_glibc():
        return
    environment = {**os.environ, _TUNABLES: f"{tunables}:{_THREAD_CACHE}=0".removeprefix(":"), _RESTARTED: "1"}
    with suppress(OSError):  # then with them
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)  # noqa: S606  # which is ourselves


def _has_glibc() -> bool:
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (AttributeError, ValueError, OSError):
        return False


def give_back(files: Iterable[Path]) -> None:
    """Collect garbage, return free memory to the kernel, and let it forget what it keeps of some files.

    Call it in a thread when nothing runs. What the files' pages hold is read again when it is needed; pages that are
    mapped stay.

    Args:
        files: read seldom, and ours: whoever else reads them pays as well.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
    forget(files)


def page_cache(files: Iterable[Path]) -> int:
    """Bytes of files that the kernel keeps in memory, mapped or not."""
    return sum(_cached(file) for file in files)


def _cached(file: Path) -> int:
    import mmap

    size = file.stat().st_size
    if not size:
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    finally:
        os.close(descriptor)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    try:
        present = ctypes.create_string_buffer((size + _PAGE - 1) // _PAGE)
        if libc.mincore(address, size, present):
            raise OSError(ctypes.get_errno(), "mincore")
        return sum(flag & 1 for flag in present.raw) * _PAGE
    finally:
        libc.munmap(address, size)


def _children(proc: Path, pid: int) -> list[int]:
    """All descendants of a process that live."""
    found = []
    for file in (proc / str(pid) / "task").glob("*/children"):
        with suppress(OSError, ValueError):
            for child in map(int, file.read_text().split()):
                found += [child, *_children(proc, child)]
    return found


def _resident(proc: Path, pid: int) -> int:
    with suppress(OSError):
        for line in (proc / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    if pid == os.getpid():  # no such file: the most it has had
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return 0


def _cpu_s(proc: Path, pid: int) -> float:
    with suppress(OSError):
        # the name, in brackets, may itself hold blanks and brackets
        fields = (proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / _TICKS_A_SECOND
    return 0.0
