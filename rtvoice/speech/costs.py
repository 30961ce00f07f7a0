"""How long inferences take here: as calibrated or guessed at first, then as measured on those that ran. Sans-I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rtvoice.speech.slices import STAGE1_LENGTHS, STAGE2_LENGTHS

if TYPE_CHECKING:
    from collections.abc import Mapping

PHONEMES_A_SECOND: Final = 14.0
FRAMES_A_SECOND: Final = 40.0
"""Of speech at its usual pace."""

_SENTENCE_S: Final = 4.0
"""Length of a usual sentence's speech."""

_WEIGHT: Final = 0.2
"""Of the newest measurement in an average."""

_ASSUMED: Final = 0.8
"""What a thread beside others does, to one alone, where it was not measured."""

_MOST_CHANGE: Final = 2.0
"""How many times its estimate a measurement counts at most: an inference that was held up once tells little."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a network takes, in seconds.

    Attributes:
        fixed_s: each time it runs.
        each_s: for each phoneme (text) or frame of 25 ms (prosody, decoder) beside that; stages have fixed shapes.
    """

    fixed_s: float
    each_s: float = 0.0

    def of(self, size: int) -> float:
        """Return the seconds for so many phonemes or frames."""
        return self.fixed_s + self.each_s * size


GUESS: Final[Mapping[str, Cost]] = {
    "text": Cost(0.008, 0.0027),
    "prosody": Cost(0.004, 0.0004),
    "decoder": Cost(0.015, 0.0012),
    **{f"stage1-{rows}": Cost(0.03 + 0.0014 * rows) for rows in STAGE1_LENGTHS},
    **{f"stage2-{rows}": Cost(0.002 + 0.0034 * rows) for rows in STAGE2_LENGTHS},
}
"""What one thread of a server's core with AVX2 takes, for as long as nothing is known."""


class Costs:
    """What inferences of an engine take.

    Args:
        prior: by network, as they are taken to be before any has run.
    """

    def __init__(self, prior: Mapping[str, Cost] = GUESS) -> None:
        self._prior = prior
        self._factor = 1.0  # of all networks, what was measured to what was expected
        self._factors: dict[str, float] = {}  # of those that ran

    def seconds(self, network: str, size: int = 0) -> float:
        """Return how long an inference takes.

        Args:
            network: its name; one of the prior.
            size: phonemes or frames, see `Cost`.
        """
        return self._prior[network].of(size) * self._factors.get(network, self._factor)

    def learn(self, network: str, seconds: float, size: int = 0) -> None:
        """Take a measurement into the averages; one of a network that is not in the prior is passed over."""
        if network not in self._prior or seconds <= 0:
            return
        measured = seconds / self._prior[network].of(size)
        known = self._factors.get(network, self._factor)
        measured = min(measured, _MOST_CHANGE * known)
        self._factors[network] = known + _WEIGHT * (measured - known)
        self._factor += _WEIGHT * (measured - self._factor)

    def before_generator(self, speech_s: float) -> float:
        """Return the seconds that text, prosody and decoder take for so many seconds of speech."""
        phonemes, frames = round(PHONEMES_A_SECOND * speech_s), round(FRAMES_A_SECOND * speech_s)
        return self.seconds("text", phonemes) + self.seconds("prosody", frames) + self.seconds("decoder", frames)

    @property
    def work_s(self) -> float:
        """Seconds of work for a second of speech in the longest slices."""
        longest = (("stage1", STAGE1_LENGTHS[-1]), ("stage2", STAGE2_LENGTHS[-1]))
        slices = (self.seconds(f"{stage}-{rows}") * 2 * FRAMES_A_SECOND / rows for stage, rows in longest)
        return self.before_generator(1.0) + sum(slices)

    @property
    def first_slices_s(self) -> float:
        """Seconds of the shortest slice of both stages."""
        return self.seconds(f"stage1-{STAGE1_LENGTHS[0]}") + self.seconds(f"stage2-{STAGE2_LENGTHS[0]}")

    @property
    def first_audio_s(self) -> float:
        """Seconds until a usual sentence can be heard, if nobody else speaks."""
        return self.before_generator(_SENTENCE_S) + self.first_slices_s


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was measured on a machine.

    Attributes:
        costs: of each network of the default path, on one thread.
        speedups: by how many threads an inference has, how many times as fast it is as on one; empty if others used
            the machine.
    """

    costs: Mapping[str, Cost]
    speedups: Mapping[int, float]

    def on(self, threads: int) -> dict[str, Cost]:
        """Return what the networks cost on so many threads, as an engine's inferences have."""
        speedup = self.speedups.get(threads, max(1.0, _ASSUMED * threads))
        return {name: Cost(cost.fixed_s / speedup, cost.each_s / speedup) for name, cost in self.costs.items()}

    def work_s(self, threads: int) -> float:
        """Return the seconds of work for a second of speech in the longest slices."""
        return Costs(self.on(threads)).work_s


UNMEASURED: Final = Calibration(GUESS, {})
"""Of a machine of which nothing is known."""
