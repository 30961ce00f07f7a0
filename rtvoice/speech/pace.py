"""How long slices are, and when they may be heard, so that sound begins early and then never stops. Pure.

A short slice is there soon and costs more for each second of speech than a long one. So the first is the shortest, and
each further one is the cheapest that is there before a listener would have heard those before it. On a machine that is
too slow to get ahead of the listener in this way all are the cheapest, and sound is held back until the rest will
follow it without a gap.

Where slices begin and end changes their samples by a rounding error. So they are planned by what is known when the
engine is loaded, and not by the clock: the same text then has the same samples to the last bit, whoever else speaks.
When they are heard goes by what was measured meanwhile.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from rtvoice.speech.costs import FRAMES_A_SECOND, Costs
from rtvoice.speech.slices import Progress, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rtvoice.speech.costs import Cost

ROWS_A_SECOND: Final = 2 * FRAMES_A_SECOND
"""Rows of the decoder's features."""

MARGIN: Final = 1.25
"""How many times what it is expected to take a slice is given, since measurements scatter."""


class Pace:
    """Plans slices and says when they may be heard.

    Args:
        prior: what networks cost, for plans.
        costs: what they turn out to cost; asked each time.
        stage1_lengths: lengths that stage 1 is there for, in rows of features, rising.
        stage2_lengths: likewise for stage 2.
    """

    def __init__(
        self,
        prior: Mapping[str, Cost],
        costs: Costs,
        stage1_lengths: Sequence[int],
        stage2_lengths: Sequence[int],
    ) -> None:
        self._prior, self._costs = Costs(prior), costs
        self._lengths = (stage1_lengths, stage2_lengths)

    def plan(self, count: int) -> tuple[Step, ...]:
        """Return the slices of speech of so many rows of features, in the order to make them."""
        progress = Progress(count)
        hurried = tuple(self._steps(progress, 0.0))
        if self._lasts(self._prior, progress, hurried, 0.0, begins=True):
            return hurried
        return tuple(self._steps(progress, math.inf))

    def lasts(self, progress: Progress, steps: Sequence[Step], in_hand_s: float, *, begins: bool) -> bool:
        """Whether what there is can be heard from now on without running dry.

        It must last until the rest of it is made. What the listener hears first must also last until the beginning of a
        next sentence is made, one that takes as long as this one is to hear: any that takes longer could not be heard
        in time as a whole either.

        Args:
            progress: how much there is.
            steps: slices that are still to be made. If there are none, it lasts.
            in_hand_s: seconds that the listener would have in hand; 0 before the first sound.
            begins: whether the listener has heard nothing yet.
        """
        return not steps or self._lasts(self._costs, progress, steps, in_hand_s, begins=begins)

    def _lasts(
        self, costs: Costs, progress: Progress, steps: Sequence[Step], in_hand_s: float, *, begins: bool
    ) -> bool:
        hears = in_hand_s > 0
        for step in steps:
            if hears:
                in_hand_s -= _seconds(costs, step)
                if in_hand_s < 0:
                    return False
            after = progress.after(step)
            in_hand_s += (after.spoken - progress.spoken) / ROWS_A_SECOND
            hears = hears or step.stage == 2
            progress = after
        return not begins or in_hand_s >= self._reserve_s(costs, progress.count / ROWS_A_SECOND)

    def _reserve_s(self, costs: Costs, speech_s: float) -> float:
        """Seconds until the first sound of a sentence that takes, as a whole, as long as this speech is to hear."""
        shortest, longest = ([Step(stage, at[n]) for stage, at in enumerate(self._lengths, 1)] for n in (0, -1))
        before = costs.before_generator(1.0)
        # seconds of work for a second of speech
        factor = before + sum(costs.seconds(step.network) * ROWS_A_SECOND / step.length for step in longest)
        first_s = speech_s * MARGIN * before / factor + sum(_seconds(costs, step) for step in shortest)
        return max(first_s, speech_s * (1 - 1 / (MARGIN * factor)))  # a slow machine holds back most of it

    def _steps(self, progress: Progress, in_hand_s: float) -> Iterator[Step]:
        """Choose slices for a listener who has so much in hand and hears the first of them when it is there."""
        hears = in_hand_s > 0
        while progress.spoken < progress.count:
            step = self._next(progress, in_hand_s)
            after = progress.after(step)
            if hears:
                in_hand_s = max(0.0, in_hand_s - _seconds(self._prior, step))
            in_hand_s += (after.spoken - progress.spoken) / ROWS_A_SECOND
            hears = hears or step.stage == 2
            progress = after
            yield step

    def _next(self, progress: Progress, in_hand_s: float) -> Step:
        left = progress.count - progress.spoken
        second = self._cheapest(2, left, in_hand_s, lambda step: self._until(progress, step))
        if not (missing := progress.missing(second.length)):
            return second
        in_hand_s -= _seconds(self._prior, second)
        return self._cheapest(1, progress.count - progress.made, in_hand_s, lambda step: self._times(step, missing))

    def _cheapest(self, stage: int, left: int, in_hand_s: float, takes: Callable[[Step], float]) -> Step:
        """Of the slices that are there in time, the cheapest for each row that is left to do; else the shortest."""
        steps = [Step(stage, length) for length in self._lengths[stage - 1]]
        in_time = [step for step in steps if takes(step) <= in_hand_s] or steps[:1]
        return min(in_time, key=lambda step: _seconds(self._prior, step) / min(step.length, left))

    def _until(self, progress: Progress, second: Step) -> float:
        """Seconds until a slice of stage 2 is there, with the slices of stage 1 that must go before."""
        missing = progress.missing(second.length)
        first_s = min(self._times(Step(1, length), missing) for length in self._lengths[0])
        return first_s + _seconds(self._prior, second)

    def _times(self, step: Step, rows: int) -> float:
        """Seconds of as many slices as so many rows take."""
        return -(-rows // step.length) * _seconds(self._prior, step)


def _seconds(costs: Costs, step: Step) -> float:
    return MARGIN * costs.seconds(step.network)
