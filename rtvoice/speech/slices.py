"""The generator slice by slice: which rows each slice needs, and where they are kept. Sans-I/O.

A `SlicedGeneration` is told which slice to make next (`rtvoice.speech.pace` says which), answers with the call of a
network, runs nothing itself, and is given what the network returned. Buffers hold zeros around the utterance, so that
every slice is a view of them: nothing is copied to feed a network.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rtvoice.speech.host import window_norm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rtvoice.speech.host import SourceSpectra
    from rtvoice.speech.norms import Norms

    Floats = NDArray[np.float32]

STAGE1_LENGTHS = (18, 150)
STAGE2_LENGTHS = (16, 64)
"""Lengths of slices that there are networks for, in rows of the decoder's features (12.5 ms), rising."""

STAGES = (*(f"stage1-{length}" for length in STAGE1_LENGTHS), *(f"stage2-{length}" for length in STAGE2_LENGTHS))
"""The networks by which the generator runs in slices."""

SAMPLES_PER_ROW = 300
"""Samples of one row of the decoder's features, 12.5 ms."""

LOOK_AHEAD = 2
"""Rows of features that stage 1 must be ahead of stage 2 (12 of its own rows)."""


class Step(NamedTuple):
    """A slice to make: its stage, 1 or 2, and its length in rows of features."""

    stage: int
    length: int

    @property
    def network(self) -> str:
        """The name of the network that makes it."""
        return f"stage{self.stage}-{self.length}"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an utterance has come through the stages, in rows of features.

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

    def missing(self, length: int) -> int:
        """Return how many rows stage 1 must make before stage 2 can make a slice of that length."""
        return max(0, min(self.count, self.spoken + length + LOOK_AHEAD) - self.made)


@dataclass(frozen=True, slots=True)
class Call:
    """A network to run, and what it is fed beside the kernels."""

    network: str
    inputs: Mapping[str, Floats]


class SlicedGeneration:
    """One utterance's way through the sliced generator.

    While something of it is left to speak, ask for the call of a step, run it and give its outputs to `take`.

    Attributes:
        progress: how far it has come.
    """

    def __init__(
        self,
        features: Floats,
        source: SourceSpectra,
        norms: Norms,
        stage1_lengths: Sequence[int] = STAGE1_LENGTHS,
        stage2_lengths: Sequence[int] = STAGE2_LENGTHS,
    ) -> None:
        """Prepare the buffers.

        Args:
            features: the decoder's output, [X, 512].
            source: spectra of the harmonic source, with margins of `margin(stage1_lengths)`.
            norms: scales and shifts.
            stage1_lengths: lengths that stage 1 is there for, in rows of features, rising.
            stage2_lengths: likewise for stage 2.
        """
        self.progress = Progress(len(features))
        count = self.progress.count
        self._source, self._norms = source, norms
        longest = max(*stage1_lengths, *stage2_lengths)
        self._x = _with_margins(features, 7, longest + 7)
        self._y = np.zeros((12 + 10 * (count + longest) + 12, 256), np.float32)
        self._mask1 = _with_margins(np.ones((10 * count, 1), np.float32), 96, 10 * longest + 96)
        spectra = 60 * count + 1
        self._mask2 = _with_margins(np.ones((spectra, 1), np.float32), 124, 60 * longest + 125)
        self._first = np.zeros((64 + spectra + 60 * longest + 65, 1), np.float32)
        self._first[64] = 1
        self._norm = _with_margins(window_norm(spectra), 0, 60 * longest)
        self._margin = margin(stage1_lengths)
        self._step: Step | None = None  # under way

    def call(self, step: Step) -> Call:
        """Return the network to run for a step, and what it is fed.

        Args:
            step: of a length that the buffers were prepared for; one of stage 2 needs stage 1 to be far enough ahead
                (`Progress.missing`).
        """
        self._step = step
        if step.stage == 1:
            return self._call_stage1(self.progress.made, step)
        return self._call_stage2(self.progress.spoken, step)

    def take(self, outputs: Mapping[str, Floats]) -> Floats | None:
        """Take what the network of the last `call` returned; return the samples it completes, 300 a row, or None."""
        if self._step is None:
            raise AssertionError("nothing was called")
        before, self.progress = self.progress, self.progress.after(self._step)
        self._step = None
        if self.progress.spoken > before.spoken:
            return outputs["samples"][: (self.progress.spoken - before.spoken) * SAMPLES_PER_ROW]
        rows = 10 * (self.progress.made - before.made)
        start = 12 + 10 * before.made
        self._y[start : start + rows] = outputs["y"][:rows]
        return None

    def _call_stage1(self, a: int, step: Step) -> Call:
        b = a + step.length
        self._source.make(60 * b + 579)
        inputs = {
            "x": self._x[a : b + 14],
            "har": self._source.rows[self._margin + 60 * a - 579 : self._margin + 60 * b + 579],
            "mask": self._mask1[10 * a : 10 * b + 192],
            "scale": self._norms.scales[0],
            "shift": self._norms.shifts[0],
        }
        return Call(step.network, inputs)

    def _call_stage2(self, a: int, step: Step) -> Call:
        b = a + step.length
        inputs = {
            "x": self._y[10 * a : 10 * b + 24],
            "har": self._source.rows[self._margin + 60 * a - 124 : self._margin + 60 * b + 125],
            "mask": self._mask2[60 * a : 60 * b + 249],
            "first": self._first[60 * a : 60 * b + 129],
            "norm": self._norm[60 * a : 60 * b],
            "scale": self._norms.scales[1],
            "shift": self._norms.shifts[1],
        }
        return Call(step.network, inputs)


def margin(stage1_lengths: Sequence[int] = STAGE1_LENGTHS) -> int:
    """Return how many rows of zeros the source's spectra must have before and behind them."""
    return 60 * max(stage1_lengths) + 579


def _with_margins(data: Floats, before: int, behind: int) -> Floats:
    return np.pad(data, ((before, behind), (0, 0)))
