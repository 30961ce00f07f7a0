"""How long slices are, so that sound begins early and then never stops. Pure.

A short slice is there soon and costs more for each second of speech than a long one. So the first is the shortest, as
long as this machine, at its measured speed, gets ahead of the listener from there; each further one is the cheapest
that is there before what the listener has in hand is heard. On a machine too slow for that, sound is held back until
the rest will follow it without a gap, and what is held back is made in the cheapest slices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from rtvoice.speech.costs import FRAMES_A_SECOND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtvoice.speech.costs import Costs

ROWS_A_SECOND: Final = 2 * FRAMES_A_SECOND
"""Rows of the decoder's features."""

LOOK_AHEAD: Final = 2
"""Rows of features that stage 1 must be ahead of stage 2 (12 of its own rows)."""

MARGIN: Final = 1.25
"""How many times what it is expected to take a slice is given, since measurements scatter."""


class Step(NamedTuple):
    """A slice: its stage, 1 or 2, and its length in rows of features."""

    stage: int
    length: int

    @property
    def network(self) -> str:
        """The name of the network that makes it."""
        return f"stage{self.stage}-{self.length}"


@dataclass(frozen=True, slots=True)
class Progress:
    """Where an utterance's way through the stages stands, in rows of features.

    Attributes:
        count: of all.
        made: that stage 1 has done.
        spoken: that stage 2 has done.
    """

    count: int
    made: int = 0
    spoken: int = 0

    def after(self, step: Step) -> Progress:
        """Return the progress when a slice has been made."""
        if step.stage == 1:
            return replace(self, made=min(self.count, self.made + step.length))
        return replace(self, spoken=min(self.count, self.spoken + step.length))


class Pace:
    """Chooses slices by what they cost on this machine.

    Args:
        costs: of slices; asked each time.
        stage1_lengths: lengths that stage 1 is there for, in rows of features, rising.
        stage2_lengths: likewise for stage 2.
    """

    def __init__(self, costs: Costs, stage1_lengths: Sequence[int], stage2_lengths: Sequence[int]) -> None:
        self._costs = costs
        self._lengths = (stage1_lengths, stage2_lengths)

    def next(self, progress: Progress, in_hand_s: float) -> Step:
        """Choose the next slice.

        Args:
            progress: not at its end.
            in_hand_s: seconds until the listener has heard all that there is; infinite for one who hears nothing yet.
        """
        second = self._cheapest(2, progress.count - progress.spoken, in_hand_s, 0.0)
        if progress.made >= min(progress.count, progress.spoken + second.length + LOOK_AHEAD):
            return second
        return self._cheapest(1, progress.count - progress.made, in_hand_s, self._seconds(second))

    def holds(self, progress: Progress, in_hand_s: float, *, begins: bool) -> bool:
        """Whether speech from here on would run dry, so that it is better to let it be heard later.

        It must last until the rest of it is made. What the listener hears first must also last until the beginning of a
        next sentence is made, one that takes as long as this one is to hear: any that takes longer could not be heard
        in time as a whole either. Nothing is held when all is made.

        Args:
            progress: how much there is.
            in_hand_s: seconds that the listener would have in hand; 0 before the first sound.
            begins: whether the listener has heard nothing yet.
        """
        if progress.spoken >= progress.count:
            return False
        hears = in_hand_s > 0
        while progress.spoken < progress.count:
            step = self.next(progress, in_hand_s)
            if hears:
                in_hand_s -= self._seconds(step)
                if in_hand_s < 0:
                    return True
            after = progress.after(step)
            in_hand_s += (after.spoken - progress.spoken) / ROWS_A_SECOND
            hears = hears or step.stage == 2
            progress = after
        return begins and in_hand_s < self._reserve_s(progress.count / ROWS_A_SECOND)

    def _reserve_s(self, speech_s: float) -> float:
        """Seconds until the first sound of a sentence that takes, as a whole, as long as this speech is to hear."""
        first, rest = self._costs.before_generator(1.0), self._longest_s_per_second()
        factor = first + rest  # seconds of work for a second of speech
        first_s = MARGIN * (speech_s * first / factor + self._costs.first_slices_s)
        return max(first_s, speech_s * (1 - 1 / (MARGIN * factor)))  # a slow machine holds back most of it

    def _longest_s_per_second(self) -> float:
        longest = (Step(stage, lengths[-1]) for stage, lengths in enumerate(self._lengths, 1))
        return sum(self._costs.seconds(step.network) * ROWS_A_SECOND / step.length for step in longest)

    def _cheapest(self, stage: int, left: int, in_hand_s: float, then_s: float) -> Step:
        """Of the slices that are there in time, the cheapest for each row that is left to do; else the shortest."""
        steps = [Step(stage, length) for length in self._lengths[stage - 1]]
        in_time = [step for step in steps if self._seconds(step) + then_s <= in_hand_s] or steps[:1]
        return min(in_time, key=lambda step: self._seconds(step) / min(step.length, left))

    def _seconds(self, step: Step) -> float:
        return MARGIN * self._costs.seconds(step.network)
