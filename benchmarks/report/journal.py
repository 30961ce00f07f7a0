"""Where measurements are kept: a file of JSON lines, in the order they were made. The last of a cell counts."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from benchmarks.machine import fingerprint
from benchmarks.process import ROOT
from benchmarks.report.records import Line
from benchmarks.workload import digest
from rtvoice._version import __version__
from rtvoice.speech.weights import SHA256

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


def context(profile: str, threads: int) -> dict[str, Any]:
    """What lines must have in common to be compared."""
    machine = fingerprint()
    del machine["load_average"]
    return {
        "profile": profile,
        "threads": threads,
        "weights_sha256": SHA256,
        "sentences_sha256": digest(),
        "rtvoice": __version__,
        "code": code_digest(),
        "machine": machine,
    }


def code_digest(package: Path = ROOT / "rtvoice") -> str:
    """What identifies the code that was measured: of the SHA-256 of all Python files of the package, 12 digits."""
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        digest.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


class Journal:
    """The file. Every line is written as a whole and at once, so that an interrupted run loses the cell it was at."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def lines(self) -> tuple[Line, ...]:
        """All lines. A last one that was cut off while it was written is passed over.

        Raises:
            ValueError: another one is none of ours.
        """
        if not self._path.exists():
            return ()
        whole, _, _ = self._path.read_text("utf-8").rpartition("\n")
        return tuple(Line(**json.loads(text)) for text in whole.splitlines())

    def append(self, line: Line) -> None:
        """Add a line, in the place of one that was cut off."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab+") as file:
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
            file.write((json.dumps(asdict(line), ensure_ascii=False) + "\n").encode())

    def clear(self) -> None:
        """Begin anew."""
        self._path.unlink(missing_ok=True)


def done(lines: Iterable[Line], within: Mapping[str, Any]) -> frozenset[str]:
    """Names of the cells that were measured in this context."""
    last = {line.cell: line for line in lines if line.context == within}
    return frozenset(name for name, line in last.items() if line.measured is not None)


def unfinished(lines: Iterable[Line], within: Mapping[str, Any]) -> bool:
    """Whether these lines are those of a run in this context that has not come to its end."""
    kinds = [line.kind for line in lines if line.context == within]
    return bool(kinds) and "end" not in kinds
