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
from benchmarks.report.records import Line, encoded
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
            left_s = estimate.seconds(*plan[i:])
            if self.budget_s is not None:  # what is optional gives way; what is not takes its time
                needed = estimate.seconds(*(one for one in plan[i:] if not one.optional))
                left_s = min(left_s, max(needed, self.budget_s - spent_s))
            self.told(f"{i + 1} of {len(plan)}: {cell.name}, {_minutes(left_s)} left")
            started = self.clock()
            line = self._line(cell)
            self.journal.append(line)
            estimate.learn(cell, self.clock() - started)
            if line.error:
                self.told(f"{cell.name} failed: {line.error.splitlines()[0]}")
        return tuple(left_out)

    def _line(self, cell: Cell) -> Line:
        started = self.clock()
        measured, error = None, ""
        try:
            measured = encoded(self.measures.measure(cell))
        except FAILURES as failure:
            error = f"{type(failure).__name__}: {failure}"
        return Line(
            cell=cell.name,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            took_s=round(self.clock() - started, 2),
            context=self.context,
            versions={} if error else dict(self.measures.versions(cell)),
            measured=measured,
            error=error,
        )


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
