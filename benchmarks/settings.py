"""What benchmarks of engines have in common: which rows run, where, on how many cores."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from benchmarks.baselines import ROWS, Row
from benchmarks.process import ROOT, EngineProcess

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What to measure and how.

    Attributes:
        rows: the engines.
        threads: cores each engine is confined to.
        rounds: how often all of it is done.
        pythons: the interpreter of each environment.
        cache: where prepared files lie.
    """

    rows: tuple[Row, ...]
    threads: int
    rounds: int
    pythons: dict[str, Path]
    cache: Path

    @classmethod
    def of(cls, parsed: argparse.Namespace) -> Self | None:
        """Take what `add_arguments` read and make the cache's folder; None, and says so, if an interpreter is missing.

        With `--quick` there is one round.
        """
        settings = cls(
            rows=tuple(ROWS[name] for name in parsed.rows.split(",")),
            threads=parsed.threads,
            rounds=1 if parsed.quick else parsed.rounds,
            pythons={"serving": parsed.serving_python, "reference": parsed.reference_python},
            cache=parsed.cache.resolve(),
        )
        for row in settings.rows:
            if not settings.pythons[row.environment].exists():
                print(missing(row.label, settings.pythons[row.environment]), file=sys.stderr)
                return None
        settings.cache.mkdir(parents=True, exist_ok=True)
        return settings

    def start(self, row: Row) -> EngineProcess:
        """An engine's process, to be entered."""
        return EngineProcess(row, self.pythons[row.environment], self.cache, self.threads)

    def prepare(self, progress: Callable[[str], None]) -> None:
        """Make the files that engines read."""
        for row in self.rows:
            progress(f"preparing {row.label}")
            with self.start(row) as engine:
                engine.prepare()


def missing(who: str, python: Path) -> str:
    """What is said when an environment is not there."""
    return f"{who} needs {python}, which is not there; `make benchmark-engine` sets everything up."


def add_pythons(parser: argparse.ArgumentParser) -> None:
    """Add the options of where things lie: `serving_python`, `reference_python`, `cache`."""
    parser.add_argument(
        "--serving-python", type=Path, default=Path(sys.executable), help="of rtvoice's own environment"
    )
    parser.add_argument(
        "--reference-python",
        type=Path,
        default=ROOT / ".venv-reference" / "bin" / "python",
        help="of the environment with torch, kokoro and onnxruntime (`make benchmark-engine` makes it)",
    )
    parser.add_argument("--cache", type=Path, default=ROOT / ".cache" / "benchmarks", help="where prepared files lie")


def add_arguments(parser: argparse.ArgumentParser, rows: Sequence[str]) -> None:
    """Add the options that `Settings.of` reads, beside `--quick`.

    Args:
        parser: what they are added to.
        rows: names of the engines by default.
    """
    cores = len(os.sched_getaffinity(0))

    def names(text: str) -> str:
        if unknown := [name for name in text.split(",") if name not in ROWS]:
            parser.error(f"no such row: {', '.join(unknown)}; there are {', '.join(ROWS)}")
        return text

    def threads(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= cores:
            parser.error(f"--threads: this process may use {cores} cores")
        return int(text)

    parser.add_argument(
        "--rows",
        type=names,
        default=",".join(rows),
        metavar="NAMES",
        help="engines, with commas; the first is compared to (%(default)s)",
    )
    parser.add_argument("--threads", type=threads, default=cores, help="cores each engine is confined to (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="how often all of it is done (%(default)s)")
    add_pythons(parser)


class Progress:
    """Shows where a run is: on a terminal one line that changes, elsewhere a line whenever the text changes."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, text: str) -> None:
        """Show what is going on."""
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif text != self._last:
            print(text, file=sys.stderr, flush=True)
        self._last = text
