"""What is measured, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rtvoice.config import Prices

Kind = Literal["serve", "lifecycle", "clients", "rewrite", "peaks"]

TABLE_1: Final = (
    "pytorch-eager",
    "onnxruntime-default",
    "onnxruntime-sized",
    "openvino-default",
    "openvino-sized",
    "rtvoice-f32",
    "rtvoice",
    "kokoro-onnx",
    "piper",
)
"""Engines of Table 1, in its order. The first is what ratios are taken to."""

STEPS: Final = ("openvino-threads", "openvino-cached", "rtvoice-exact", "rtvoice-in-order")
"""What Table 2 has beside engines of Table 1."""

RELEASED: Final = ("rtvoice", "piper", "openvino-sized")
"""Engines that are released and restored."""

GROWING: Final = ("pytorch-eager", "openvino-sized", "rtvoice")
"""Engines that Figure 3 is of."""

REWRITES: Final = ("direct", "no-sine", "fourier", "bfloat16")
"""Forms of the generator that Table 2 is of; all but the last are of the roofline as well, that of float32."""

SKIPPED: Final = {
    "pocket-tts": "it reads text where all others are given phonemes, and fetches its weights from a hub when it is "
    "loaded, which a benchmark that runs offline does not do",
}
"""Engines that the report names and does not measure, and why."""

PARTS: Final[dict[str, tuple[Kind, ...]]] = {
    "table-1": ("serve", "lifecycle"),
    "table-2": ("serve", "lifecycle", "rewrite"),
    "figure-1": ("serve", "lifecycle"),
    "figure-3": ("clients",),
    "figure-4": ("serve", "lifecycle"),
    "figure-5": ("lifecycle",),
    "roofline": ("rewrite", "peaks"),
}
"""What the report shows, and the kinds of cells it is made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How thoroughly to measure.

    Attributes:
        name: how it is called.
        rounds: how often each engine of Table 1 is measured.
        turns: sentences of each of four clients in a round.
        idle_s: seconds that memory is watched after the last response.
        cycles: releases and restores of rtvoice; others have a third of them.
        clients: how many clients at once Figure 3 has.
        budget_s: cells that may be left out are, when they would end later than this; None leaves none out. Preparing
            what engines load is not in it.
    """

    name: str
    rounds: int
    turns: int
    idle_s: float
    cycles: int
    clients: tuple[int, ...]
    budget_s: float | None


QUICK: Final = Profile(name="quick", rounds=2, turns=2, idle_s=4, cycles=3, clients=(1, 4, 8), budget_s=510)
FULL: Final = Profile(name="full", rounds=5, turns=5, idle_s=60, cycles=10, clients=(1, 2, 4, 8, 16, 32), budget_s=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One measurement.

    Attributes:
        kind: what is done.
        subject: with which engine, or which form of the generator.
        number: of the round, from 0.
        optional: whether it may be left out for lack of time.
    """

    kind: Kind
    subject: str
    number: int = 0
    optional: bool = False

    @property
    def name(self) -> str:
        """What identifies it in results."""
        return f"{self.kind}/{self.subject}/{self.number}"


def cells(profile: Profile) -> tuple[Cell, ...]:
    """All measurements in the order they are made: what no table can do without first.

    Then come, as far as there is time, a second round of the two engines whose ratios are told, what the other tables
    and figures are made of, and further rounds. Rounds turn the order of engines, so that a machine that drifts does
    not do so for the same one each time.
    """
    needed = [Cell(kind="serve", subject=name) for name in TABLE_1]
    needed += [Cell(kind="lifecycle", subject=name) for name in RELEASED]
    further = [
        Cell(kind="serve", subject=name, number=number, optional=True)
        for number in range(1, profile.rounds)
        for name in _turned(TABLE_1, number)
    ]
    compared = [cell for cell in further if cell.number == 1 and cell.subject in (TABLE_1[0], "rtvoice")]
    others = [Cell(kind="serve", subject=name, optional=True) for name in STEPS]
    others += [Cell(kind="rewrite", subject=name, optional=True) for name in REWRITES]
    others += [Cell(kind="peaks", subject="machine", optional=True)]
    others += [Cell(kind="clients", subject=name, optional=True) for name in GROWING]
    return (*needed, *compared, *others, *(cell for cell in further if cell not in compared))


def _turned(names: Sequence[str], number: int) -> Iterator[str]:
    """The second round begins with rtvoice; later ones go on turning."""
    start = names.index("rtvoice") * number % len(names)
    yield from (*names[start:], *names[:start])


def chosen(plan: Sequence[Cell], parts: Collection[str], subjects: Collection[str]) -> tuple[Cell, ...]:
    """The cells that some tables and figures are made of.

    Args:
        plan: to choose from.
        parts: names in `PARTS`; none for all.
        subjects: names of engines; none for all.
    """
    kinds = {kind for part in parts or PARTS for kind in PARTS[part]}
    return tuple(cell for cell in plan if cell.kind in kinds and (not subjects or cell.subject in subjects))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a report is of.

    Attributes:
        profile: how thoroughly was measured.
        plan: all that should have been.
        prices: of a CPU-second and a GiB-second.
        idle_s: quiet seconds to a release, in the bill of a day.
    """

    profile: Profile
    plan: Sequence[Cell]
    prices: Prices
    idle_s: float


_SECONDS: Final[dict[Kind, float]] = {"serve": 28, "lifecycle": 25, "rewrite": 12, "peaks": 6, "clients": 30}


class Estimate:
    """How long cells will take: as long as the same took before, else as such cells take on a machine so slow."""

    def __init__(self) -> None:
        self._took: dict[tuple[Kind, str], float] = {}
        self._expected_s = self._took_s = 0.0

    def learn(self, cell: Cell, took_s: float) -> None:
        """Note what a cell took."""
        self._took[cell.kind, cell.subject] = took_s
        self._expected_s += _SECONDS[cell.kind]
        self._took_s += took_s

    def seconds(self, *left: Cell) -> float:
        """What these will take."""
        slowness = self._took_s / self._expected_s if self._expected_s else 1.0
        return sum(self._took.get((cell.kind, cell.subject), slowness * _SECONDS[cell.kind]) for cell in left)
