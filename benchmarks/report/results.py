"""From lines to figures: what each engine's runs come to, and which lines that was."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from benchmarks.load import percentile
from benchmarks.report.bill import PAPER, Rates
from benchmarks.report.records import GIB, Clients, End, Lifecycle, Peaks, Rewrite, Serve
from benchmarks.table import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.report.records import Held, Line
    from rtvoice.config import Prices

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Numbered:
    """A line and its number in the file, from 1."""

    number: int
    line: Line


class Results:
    """All lines, the last of each cell counting. Failed ones count as not measured."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = tuple(lines)
        self._last = {line.cell: Numbered(number, line) for number, line in enumerate(lines, 1)}

    @property
    def counted(self) -> tuple[Numbered, ...]:
        """The lines that count, failed ones included."""
        return tuple(self._last.values())

    def numbers(self, *subjects: str, kinds: Sequence[str] = ()) -> str:
        """Numbers of the lines that figures of these subjects come from, as `3, 17`."""
        found = sorted(
            one.number
            for one in self._last.values()
            if one.line.subject in subjects and one.line.measured is not None and one.line.kind in (kinds or _KINDS)
        )
        return ", ".join(map(str, found))

    def runs(self, subject: str) -> Runs | None:
        """All there is of one engine behind the server; None if it was not measured."""
        serves = self._of(subject, Serve)
        lifecycles = self._of(subject, Lifecycle)
        return Runs(serves, lifecycles[0] if lifecycles else None) if serves else None

    def lifecycle(self, subject: str) -> Lifecycle | None:
        """Its releases and restores."""
        return next(iter(self._of(subject, Lifecycle)), None)

    def clients(self, subject: str) -> Clients | None:
        """What came of more and more clients."""
        return next(iter(self._of(subject, Clients)), None)

    def rewrite(self, name: str) -> Rewrite | None:
        """A form of the generator."""
        return next(iter(self._of(name, Rewrite)), None)

    @property
    def peaks(self) -> Peaks | None:
        """What a core can do."""
        return next(iter(self._of("machine", Peaks)), None)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of the cells that the run left out for lack of time."""
        return next((one.left_out for one in self._of("run", End)), ())

    def _of(self, subject: str, kind: type[T]) -> tuple[T, ...]:
        decoded = (one.line.decoded() for one in self._last.values() if one.line.subject == subject)
        return tuple(one for one in decoded if isinstance(one, kind))


_KINDS = ("serve", "lifecycle", "clients", "rewrite", "peaks")


class Runs:
    """An engine behind the server, in one or several rounds.

    Args:
        serves: a round each; at least one.
        lifecycle: its releases and restores, if it was released.
    """

    def __init__(self, serves: Sequence[Serve], lifecycle: Lifecycle | None) -> None:
        self.serves = tuple(serves)
        self.lifecycle = lifecycle

    @cached_property
    def audio_s_per_cpu_s(self) -> Figure:
        """Seconds of speech a CPU-second."""
        return Figure.of(one.load.audio_s_per_cpu_s for one in self.serves)

    def first_audio(self, share: float) -> Figure:
        """Seconds to first audio that such a share of sentences do not pass."""
        return Figure.of(percentile([heard.first_audio_s for heard in one.load.heard], share) for one in self.serves)

    @cached_property
    def cold_start_s(self) -> Figure:
        """Seconds from the start of the process to first audio."""
        return Figure.of(one.cold_start_s for one in self.serves)

    @cached_property
    def warm(self) -> Figure:
        """Bytes held while it is loaded and quiet: processes and files."""
        return Figure.of(one.warm.total for one in self.serves)

    @cached_property
    def warm_group(self) -> Figure | None:
        """The same as the control group counts it."""
        return _group([one.warm for one in self.serves])

    @cached_property
    def released(self) -> Figure | None:
        """Bytes held while it is released; None if it never was."""
        return Figure.of(one.released.total for one in self.lifecycle.cycles) if self.lifecycle else None

    @cached_property
    def released_group(self) -> Figure | None:
        """The same as the control group counts it."""
        return _group([one.released for one in self.lifecycle.cycles]) if self.lifecycle else None

    @cached_property
    def restored_s(self) -> Figure | None:
        """Seconds from asking a released server to first audio; None if it was never released."""
        return Figure.of(one.restored_s for one in self.lifecycle.cycles) if self.lifecycle else None

    @property
    def idle(self) -> Figure:
        """Bytes held long after the last response: released where it is, else warm."""
        return self.released or self.warm

    def audio_hour(self, prices: Prices = PAPER) -> Figure:
        """What an hour of speech costs that four clients have made as fast as it goes."""

        def cost(serve: Serve) -> float:
            load = serve.load
            used = load.cpu_s * prices.cpu_s + load.bytes_held / GIB * load.wall_s * prices.gib_s
            return 3600 * used / load.audio_s

        return Figure.of(cost(one) for one in self.serves)

    def rates(self, *, releases: bool) -> Rates:
        """What its states take, for the bill of a day.

        Args:
            releases: whether it is released; then it must have been.
        """
        median = statistics.median
        rates = Rates(
            cpu_s=median(one.load.cpu_s / one.load.audio_s for one in self.serves),
            idle_cpu=median(one.idle_cpu for one in self.serves),
            speaking_gib=median(one.load.bytes_held for one in self.serves) / GIB,
            warm_gib=self.warm.median / GIB,
        )
        if not releases:
            return rates
        assert self.lifecycle is not None
        assert self.released is not None
        cycles = self.lifecycle.cycles
        return Rates(
            cpu_s=rates.cpu_s,
            idle_cpu=rates.idle_cpu,
            speaking_gib=rates.speaking_gib,
            warm_gib=rates.warm_gib,
            released_gib=self.released.median / GIB,
            restore_s=median(one.restored_s for one in cycles),
            restore_cpu_s=median(one.restore_cpu_s for one in cycles),
        )


def _group(held: Sequence[Held]) -> Figure | None:
    counted = [one.group for one in held if one.group is not None]
    return Figure.of(counted) if counted else None
