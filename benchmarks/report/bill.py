"""What a day costs where CPU time and memory are paid for as they are used."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rtvoice.config import Prices

if TYPE_CHECKING:
    from collections.abc import Sequence

DAY_S: Final = 86_400.0
SPEECH_S: Final = 7_200.0
"""Seconds of a day, and of speech in it."""

PAPER: Final = Prices(cpu_s=1.12e-5, gib_s=1.24e-6)
"""Those that the paper's cost of an audio-hour follows from: a cloud's x86 containers, in US dollars."""

LISTS: Final = {
    "containers (the paper's table)": PAPER,
    "by request": Prices(cpu_s=2.4e-5, gib_s=2.5e-6),
    "by instance": Prices(cpu_s=1.8e-5, gib_s=2.0e-6),
    "metered": Prices(cpu_s=7.72e-6, gib_s=3.86e-6),
}
"""What clouds ask in US dollars for a vCPU-second and a GiB-second."""

_HOURS: Final = (1, 1, 1, 1, 1, 2, 4, 8, 12, 14, 13, 11, 9, 10, 12, 12, 11, 10, 9, 8, 6, 4, 3, 2)
"""How often somebody comes in each hour of a day, beside the other hours."""

_TALK_S: Final = 40.0
_TALK_SPREAD: Final = 0.9
"""Median of a conversation's speech, and the spread (sigma) of its logarithm."""


@dataclass(frozen=True, slots=True)
class Burst:
    """Speech that is listened to as it is spoken: when it begins, and its length, in seconds."""

    start_s: float
    speech_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What an engine's states take, as measured.

    Attributes:
        cpu_s: CPU-seconds a second of speech.
        idle_cpu: CPU-seconds a second of quiet.
        speaking_gib: memory while it speaks.
        warm_gib: and while it is loaded and quiet.
        released_gib: and while it is released; None if it never is.
        restore_s: seconds to be heard again.
        restore_cpu_s: CPU-seconds of that.
    """

    cpu_s: float
    idle_cpu: float
    speaking_gib: float
    warm_gib: float
    released_gib: float | None = None
    restore_s: float = 0.0
    restore_cpu_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Bill:
    """A day's use, and what it costs.

    Attributes:
        cpu_s: CPU-seconds.
        gib_s: GiB times seconds.
        restores: how often it was loaded again.
        cpu_cost: in the currency of the prices.
        memory_cost: likewise.
    """

    cpu_s: float
    gib_s: float
    restores: int
    cpu_cost: float
    memory_cost: float

    @property
    def cost(self) -> float:
        """Both."""
        return self.cpu_cost + self.memory_cost


def eight_bursts() -> tuple[Burst, ...]:
    """Two hours of speech in eight equal parts, three hours from one to the next: the paper's day."""
    return tuple(Burst(i * DAY_S / 8, SPEECH_S / 8) for i in range(8))


def arrivals(seed: int = 2610) -> tuple[Burst, ...]:
    """Two hours of speech as people come: conversations of all lengths at random moments, mostly by day."""
    rng = random.Random(seed)  # noqa: S311 - moments, not secrets
    lengths: list[float] = []
    while sum(lengths) < SPEECH_S:
        lengths.append(rng.lognormvariate(math.log(_TALK_S), _TALK_SPREAD))
    factor = SPEECH_S / sum(lengths)
    starts = [3600 * (hour + rng.random()) for hour in rng.choices(range(24), _HOURS, k=len(lengths))]
    return tuple(sorted((Burst(s, n * factor) for s, n in zip(starts, lengths, strict=True)), key=lambda b: b.start_s))


def bill(day: Sequence[Burst], rates: Rates, prices: Prices, idle_s: float) -> Bill:
    """Reckon what a day takes: the time in each state times what the state takes.

    Bursts that overlap are spoken together. The day is like the one before it, so that it begins with the state in
    which it ends. Being restored takes as much memory as speaking.

    Args:
        day: bursts, by their starts; at least one.
        rates: of the engine.
        prices: of a CPU-second and a GiB-second.
        idle_s: quiet seconds to a release.
    """
    spans = _spans(day)
    speaking_s = sum(end - start for start, end in spans)
    starts = [start for start, _ in spans[1:]] + [spans[0][0] + DAY_S]
    gaps = [max(0.0, start - end) for (_, end), start in zip(spans, starts, strict=True)]
    warm_s, released_s, restores = sum(gaps), 0.0, 0
    if rates.released_gib is not None:
        released_s = sum(max(0.0, gap - idle_s) for gap in gaps)
        restores = sum(gap > idle_s for gap in gaps)
        warm_s -= released_s
    cpu_s = rates.cpu_s * sum(b.speech_s for b in day) + rates.idle_cpu * (warm_s + released_s)
    cpu_s += restores * rates.restore_cpu_s
    gib_s = rates.speaking_gib * (speaking_s + restores * rates.restore_s) + rates.warm_gib * warm_s
    gib_s += (rates.released_gib or 0.0) * released_s
    return Bill(cpu_s, gib_s, restores, cpu_s * prices.cpu_s, gib_s * prices.gib_s)


def _spans(day: Sequence[Burst]) -> list[tuple[float, float]]:
    """When somebody listens: bursts that overlap in one."""
    spans: list[tuple[float, float]] = []
    for burst in day:
        start, end = burst.start_s, burst.start_s + burst.speech_s
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans
