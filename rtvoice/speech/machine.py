"""Which machine this is, as far as speed goes: what was measured on another one does not count."""

from __future__ import annotations

import functools
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

_MODEL, _FLAGS = ("model name", "CPU part", "cpu"), ("flags", "Features")
"""Names under which Linux tells them, by architecture."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A kind of machine.

    Attributes:
        model: the processor's, as it calls itself.
        flags: what it can do, as Linux names it.
        cores: how many it has, whoever may use them.
    """

    model: str
    flags: frozenset[str]
    cores: int

    @property
    def key(self) -> str:
        """Sixteen hexadecimal digits: equal for machines of the same kind."""
        described = "\n".join((self.model, " ".join(sorted(self.flags)), str(self.cores)))
        return hashlib.sha256(described.encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return f"{self.model or 'an unknown processor'}, {self.cores} cores"


@functools.cache
def this_machine(cpuinfo: Path = Path("/proc/cpuinfo")) -> Machine:
    """Ask the kernel. Where it does not tell, machines of as many cores count as the same.

    Args:
        cpuinfo: where Linux describes the processors; of several kinds the first counts.
    """
    told: dict[str, str] = {}
    try:
        for line in cpuinfo.read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            told.setdefault(name.strip(), value.strip())
    except OSError:
        pass
    model = next((told[name] for name in _MODEL if told.get(name)), "")
    flags = next((told[name] for name in _FLAGS if name in told), "")
    return Machine(model, frozenset(flags.split()), os.cpu_count() or 1)
