"""What is asked of figures, and whether they keep to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.table import render

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Criterion:
    """A figure and its limit.

    Attributes:
        what: is measured, with its unit.
        measured: the figure; no number is outside of any limit.
        limit: at most so much.
        at_least: the limit is a lower one.
    """

    what: str
    measured: float
    limit: float
    at_least: bool = False

    @property
    def kept(self) -> bool:
        """Whether the figure is within its limit."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


def show(criteria: Sequence[Criterion]) -> str:
    """As a table."""
    rows = [
        [
            one.what,
            f"{one.measured:.3f}",
            f"{'at least' if one.at_least else 'at most'} {one.limit:.3f}",
            "yes" if one.kept else "NO",
        ]
        for one in criteria
    ]
    return render(["", "measured", "asked", "kept"], rows)
