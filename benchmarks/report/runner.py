"""Takes a plan's cells one by one and writes a line for each; goes on where it was interrupted."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.process import EngineFailed
from benchmarks.report.client import SilentServer
from benchmarks.report.plan import Estimate
from benchmarks.report.records import End, Line, encoded
from benchmarks.server import ServerFailed
from rtvoice.errors import RtvoiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.report.journal import Journal
    from benchmarks.report.plan import Cell
    from benchmarks.report.records import Measured

FAILURES = (EngineFailed, ServerFailed, SilentServer, RtvoiceError, subprocess.CalledProcessError, TimeoutError)
"""What an engine may do instead of speaking. The others are measured all the same."""


class Measures(Protocol):
    """What measures cells: `benchmarks.report.measuring.Measuring`."""

    def measure(self, cell: Cell) -> Measured:
        """Measure one cell, or raise one of `FAILURES`."""

    def versions(self, cell: Cell) -> Mapping[str, str]:
        """Of the libraries that the cell was measured with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run over a plan.

    Attributes:
        journal: gets the lines.
        context: of the lines.
        measures: measures a cell.
        told: told what is going on and how long it will take.
        budget_s: optional cells that would end later than this are left out; None leaves none out.
        clock: a steady clock, in seconds.
    """

    journal: Journal
    context: Mapping[str, Any]
    measures: Measures
    told: Callable[[str], None]
    budget_s: float | None = None
    clock: Callable[[], float] = time.monotonic

    def over(self, plan: Sequence[Cell]) -> tuple[Cell, ...]:
        """Measure cells in their order; returns those that were left out for lack of time."""
        began, estimate, left_out = self.clock(), Estimate(), []
        for i, cell in enumerate(plan):
            spent_s = self.clock() - began
            if cell.optional and self.budget_s is not None and spent_s + estimate.seconds(cell) > self.budget_s:
                left_out.append(cell)
                continue
            self.told(
                f"{i + 1} of {len(plan)}: {cell.name}, {_minutes(self._left_s(plan[i:], estimate, spent_s))} left"
            )
            started = self.clock()
            line = self._line(cell)
            self.journal.append(line)
            estimate.learn(cell, self.clock() - started)
            if line.error:
                self.told(f"{cell.name} failed: {line.error.splitlines()[0]}")
        return tuple(left_out)

    def end(self, left_out: Sequence[Cell]) -> None:
        """Note that the run, all of it, has come to its end, without these cells."""
        names = tuple(cell.name for cell in left_out)
        self.journal.append(self._made("end/run/0", 0.0, encoded(End(names))))

    def _left_s(self, left: Sequence[Cell], estimate: Estimate, spent_s: float) -> float:
        """What is needed takes its time; what is optional ends with the budget at the latest."""
        every_s = estimate.seconds(*left)
        if self.budget_s is None:
            return every_s
        needed_s = estimate.seconds(*(cell for cell in left if not cell.optional))
        return min(every_s, max(needed_s, self.budget_s - spent_s))

    def _line(self, cell: Cell) -> Line:
        started = self.clock()
        try:
            measured = encoded(self.measures.measure(cell))
        except FAILURES as failure:
            return self._made(cell.name, self.clock() - started, None, error=f"{type(failure).__name__}: {failure}")
        return self._made(cell.name, self.clock() - started, measured, self.measures.versions(cell))

    def _made(
        self,
        cell: str,
        took_s: float,
        measured: dict[str, Any] | None,
        versions: Mapping[str, str] | None = None,
        error: str = "",
    ) -> Line:
        return Line(
            cell=cell,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            took_s=round(took_s, 2),
            context=self.context,
            versions=dict(versions or {}),
            measured=measured,
            error=error,
        )


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
