"""What a figure was measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path

_VECTOR_UNITS = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16", "asimd", "sve")


def fingerprint() -> dict[str, object]:
    """Describe the machine: processor and its vector units, cores this process may use, memory, kernel, Python."""
    return {
        "processor": _cpuinfo("model name") or platform.machine(),
        "vector_units": [unit for unit in _VECTOR_UNITS if unit in _cpuinfo("flags", "Features").split()],
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "load_average": os.getloadavg()[0],
    }


def _cpuinfo(*names: str) -> str:
    """The first line of `/proc/cpuinfo` that has one of these names; empty if none has."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() in names:
            return value.strip()
    return ""
