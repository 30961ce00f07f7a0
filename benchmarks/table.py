"""Figures with their spread, and tables a person reads."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured quantity: the median of several runs, the lowest and the highest of them."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Figure:
        """Sum up runs, at least one."""
        ordered = sorted(values)
        return cls(statistics.median(ordered), ordered[0], ordered[-1])

    @property
    def spread(self) -> float:
        """Highest less lowest, as a share of the median."""
        return (self.high - self.low) / self.median if self.median else 0.0

    def show(self, digits: int = 2) -> str:
        """As `1.31 (1.29-1.34)`; without the range where there was one run, or nothing to see of it."""
        median, low, high = (f"{value:,.{digits}f}" for value in (self.median, self.low, self.high))
        return median if low == high else f"{median} ({low}-{high})"


def render(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out a table: the first column to the left, the others to the right, a rule below the header."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        first, *others = (
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join((first, *others)).rstrip()

    return "\n".join((line(header), "  ".join("-" * width for width in widths), *(line(row) for row in rows)))
