"""The generator slice by slice: which rows each slice needs, and where they are kept. Sans-I/O.

A `SlicedGeneration` is asked for the next call of a network, runs nothing itself, and is given what the network
returned. Buffers hold zeros around the utterance, so that every slice is a view of them: nothing is copied to feed a
network.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rtvoice.speech.host import window_norm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rtvoice.speech.host import SourceSpectra
    from rtvoice.speech.norms import Norms

    Floats = NDArray[np.float32]

STAGE1_LENGTHS = (18, 48, 150)
STAGE2_LENGTHS = (16, 64)
"""Lengths of slices that there are networks for, in rows of the decoder's features (12.5 ms), rising."""

STAGES = (*(f"stage1-{length}" for length in STAGE1_LENGTHS), *(f"stage2-{length}" for length in STAGE2_LENGTHS))
"""The networks by which the generator runs in slices."""

GROWTH = 4
"""How many times the audio that was given before a slice may be long. The first is as short as can be, so that sound
begins early; the next ones may be longer the more audio the listener has in hand, so that none runs dry on a machine
that is slow, and soon they are as long as is cheapest."""

SAMPLES_PER_ROW = 300
"""Samples of one row of the decoder's features, 12.5 ms."""

LOOK_AHEAD = 2
"""Rows of features that stage 1 must be ahead of stage 2 (12 of its own rows)."""


@dataclass(frozen=True, slots=True)
class Call:
    """A network to run, and what it is fed beside the kernels."""

    network: str
    inputs: Mapping[str, Floats]


class SlicedGeneration:
    """One utterance's way through the sliced generator.

    While `call()` returns a call, run it and give its outputs to `take`, which returns samples whenever a slice of
    them is complete.
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
        self._count = count = len(features)
        self._source, self._norms = source, norms
        self._lengths = (stage1_lengths, stage2_lengths)
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
        self._made = self._given = 0  # rows of features that stage 1 and stage 2 have done
        self._length = 0  # of the slice under way
        self._stage = 0

    def call(self) -> Call | None:
        """Return the next network to run, None at the end. Repeatable until `take`."""
        if self._given >= self._count:
            return None
        most = GROWTH * self._given
        second = _fitting(self._lengths[1], self._count - self._given, most)
        if self._made < min(self._count, self._given + second + LOOK_AHEAD):
            self._stage = 0
            self._length = _fitting(self._lengths[0], self._count - self._made, most)
            return self._call_stage1(self._made, self._made + self._length)
        self._stage = 1
        self._length = second
        return self._call_stage2(self._given, self._given + second)

    def take(self, outputs: Mapping[str, Floats]) -> Floats | None:
        """Take what the network of the last `call` returned; return the samples it completes, 300 a row, or None."""
        if self._stage == 0:
            rows = 10 * (min(self._made + self._length, self._count) - self._made)
            start = 12 + 10 * self._made
            self._y[start : start + rows] = outputs["y"][:rows]
            self._made += self._length
            return None
        rows = min(self._length, self._count - self._given)
        self._given += self._length
        return outputs["samples"][: rows * SAMPLES_PER_ROW]

    def _call_stage1(self, a: int, b: int) -> Call:
        self._source.make(60 * b + 579)
        inputs = {
            "x": self._x[a : b + 14],
            "har": self._source.rows[self._margin + 60 * a - 579 : self._margin + 60 * b + 579],
            "mask": self._mask1[10 * a : 10 * b + 192],
            "scale": self._norms.scales[0],
            "shift": self._norms.shifts[0],
        }
        return Call(f"stage1-{b - a}", inputs)

    def _call_stage2(self, a: int, b: int) -> Call:
        inputs = {
            "x": self._y[10 * a : 10 * b + 24],
            "har": self._source.rows[self._margin + 60 * a - 124 : self._margin + 60 * b + 125],
            "mask": self._mask2[60 * a : 60 * b + 249],
            "first": self._first[60 * a : 60 * b + 129],
            "norm": self._norm[60 * a : 60 * b],
            "scale": self._norms.scales[1],
            "shift": self._norms.shifts[1],
        }
        return Call(f"stage2-{b - a}", inputs)


def margin(stage1_lengths: Sequence[int] = STAGE1_LENGTHS) -> int:
    """Return how many rows of zeros the source's spectra must have before and behind them."""
    return 60 * max(stage1_lengths) + 579


def _fitting(lengths: Sequence[int], left: int, most: int) -> int:
    """Choose a slice's length: the shortest that does all that is left, else the longest up to `most`.

    All are in rows of features.
    """
    allowed = [length for length in lengths if length <= most] or lengths[:1]
    return next((length for length in allowed if length >= left), allowed[-1])


def _with_margins(data: Floats, before: int, behind: int) -> Floats:
    return np.pad(data, ((before, behind), (0, 0)))
