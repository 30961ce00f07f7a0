"""The generator in slices: static shapes, the norms' statistics given, audio out.

With mean and variance of its 48 instance norms known, the generator is a feed-forward network of short reach. Each
adaptive norm is then a scale and a shift a channel, and a slice of its output needs only so many rows more of its
input. Convolutions run without padding, so each eats the rows it reaches over; where rows lie before the beginning or
behind the end of the utterance, a mask sets what enters each convolution to zero there, as padding would.

Two networks, because their best slices differ: `stage1` runs at 800 rows a second on 256 channels and wants long ones
(few windows would leave its products bound by reading kernels), `stage2` at 4,800 on 128 and wants what stays in the
cache. A slice is counted in rows of the decoder's features, 80 a second. Slice [a, b) of

- `stage1` gives rows [10a, 10b) of its output. It reads features [a - 7, b + 7) and, of the source's STFT, rows
  [60a - 579, 60b + 579).
- `stage2` gives samples [300a, 300b), inverse STFT included. It reads rows [10a - 12, 10b + 12) of `stage1`'s output,
  and of the source's STFT rows [60a - 124, 60b + 125).

Rows outside the utterance are zeros. (`rtvoice.speech.slices` cuts and feeds.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import openvino as ov
from openvino import Node
from openvino import opset13 as op

from rtvoice.speech.network.fourier import convolve, places
from rtvoice.speech.network.generator import (
    DILATIONS,
    last_convolution,
    polynomial,
    snake,
    source_pixels,
    source_rows,
    third_of_sum,
    upsample,
)
from rtvoice.speech.network.kernels import KernelInputs, Windows
from rtvoice.speech.network.layers import Floats, Value, Weights, const, leaky_relu, reshape, rows
from rtvoice.speech.norms import BLOCKS, CHANNELS, CONVOLUTIONS, NORMS

if TYPE_CHECKING:
    from rtvoice.config import Precision

REACH = 60
"""Rows that the longest residual block of a stage reaches to each side."""


class _Stage:
    """The residual blocks of a stage, norms given."""

    def __init__(self, w: Weights, number: int, mask: Value, windows: Windows, precision: Precision) -> None:
        """Args: mask: [T, 1] for the rows of the source's block, which come first."""
        self._number, self._mask = number, mask
        self.kernels = KernelInputs(w, windows, precision)
        self.scale = op.parameter([NORMS, CHANNELS[number]], np.float32, name="scale")
        self.shift = op.parameter([NORMS, CHANNELS[number]], np.float32, name="shift")
        self._scales = op.split(self.scale, const(0, np.int64), NORMS).outputs()
        self._shifts = op.split(self.shift, const(0, np.int64), NORMS).outputs()

    @property
    def parameters(self) -> list[Node]:
        """The inputs that are the stage's own: scales, shifts, kernels."""
        return [self.scale, self.shift, *self.kernels.parameters]

    def source(self, x: Value, count: int) -> Node:
        """Run the source's block on [count, C]; the rows at both ends that it reaches over do not count."""
        return self._block(x, count, 0, self._mask)

    def mean_of_blocks(self, x: Value, count: int, first: int) -> Node:
        """Return the mean of the other three on [count, C], whose first row is row `first` of the mask.

        The first and the last `REACH` rows are left out.
        """
        mask = rows(self._mask, first, first + count)
        mean = third_of_sum([self._block(x, count, number, mask) for number in (1, 2, 3)])
        return rows(mean, REACH, -REACH)

    def _block(self, x: Value, count: int, number: int, mask: Value) -> Node:
        """Run a block on [count, C].

        It leaves every row where it is, those at the ends that it reaches over as well, which do not count from then
        on: to cut them off would copy the others each time.
        """
        eaten = 0
        for i, dilation in enumerate(DILATIONS):
            h = x
            for part, d in ((1, dilation), (2, 1)):
                norm = number * len(CONVOLUTIONS) + 2 * i + part - 1
                h = snake(h, self._scales[norm], self._shifts[norm])
                # padding would have set to zero what lies outside the utterance
                h = op.multiply(h, mask)
                transform, kernel, bias = self.kernels.convolution(BLOCKS[self._number][number], part, i)
                h = convolve(h, *places(count, eaten, transform, d), kernel, bias, transform)
                eaten += d * (transform.taps // 2)
            x = op.add(x, h)
        return x


def stage1_network(w: Weights, length: int, windows: Windows, precision: Precision = "f32") -> ov.Model:
    """Build the first stage for slices of `length` rows of features.

    Inputs: `x` [length + 14, 512]; `har` [60 length + 1158, 22]; `mask` [10 length + 192, 1], 1 inside the utterance
    and 0 outside, for the rows from 96 before the slice; `scale`, `shift` [24, 256], see `norms.Norms`; the
    kernels (`kernels.make_kernels`).
    Output: `y` [10 length, 256].
    """
    w = w / "decoder.generator"
    x = op.parameter([length + 14, 512], np.float32, name="x")
    har = op.parameter([60 * length + 1158, 22], np.float32, name="har")
    mask = op.parameter([10 * length + 192, 1], np.float32, name="mask")
    stage = _Stage(w, 0, mask, windows, precision)
    h = rows(stage.source(source_rows(har, w / "noise_convs.0"), 10 * length + 192), 36, -36)
    up = rows(upsample(leaky_relu(x, 0.1), *stage.kernels.upsampling(0)), 5, -5)
    y = stage.mean_of_blocks(op.add(h, up), 10 * length + 2 * REACH, 36)
    y.output(0).set_names({"y"})
    return ov.Model([y], [x, har, mask, *stage.parameters], f"stage1-{length}")


def stage2_network(w: Weights, length: int, windows: Windows, precision: Precision = "f32") -> ov.Model:
    """Build the second stage, inverse STFT included, for slices of `length` rows of features.

    Inputs: `x` [10 length + 24, 256], the first stage's rows; `har` [60 length + 249, 22]; `mask` [60 length + 249, 1],
    1 inside the utterance and 0 outside, for the rows from 124 before the slice; `first` [60 length + 129, 1], 1 at
    the utterance's first row of spectra and 0 elsewhere, for the rows from 64 before the slice; `norm` [60 length, 5],
    what the sums of overlapping windows are multiplied by; `scale`, `shift` [24, 128]; the
    kernels.
    Output: `samples` [300 length].
    """
    w = w / "decoder.generator"
    x = op.parameter([10 * length + 24, 256], np.float32, name="x")
    har = op.parameter([60 * length + 249, 22], np.float32, name="har")
    mask = op.parameter([60 * length + 249, 1], np.float32, name="mask")
    first = op.parameter([60 * length + 129, 1], np.float32, name="first")
    norm = op.parameter([60 * length, 5], np.float32, name="norm")
    stage = _Stage(w, 1, mask, windows, precision)
    h = rows(stage.source(source_pixels(har, w / "noise_convs.1"), 60 * length + 249), 60, -60)
    active = leaky_relu(x, 0.1)
    h = op.add(h, rows(upsample(active, *stage.kernels.upsampling(1)), 4, -5))
    # there is one row of spectra more than six a row of stage 1: the second row, mirrored, stands before the first
    mirrored = w["ups.1.weight"][:, :, 4] - w["ups.1.weight"][:, :, 2]
    h = op.add(h, op.multiply(first, op.matmul(rows(active, 12, 13), const(mirrored), False, False)))
    y = stage.mean_of_blocks(h, 60 * length + 129, 60)
    y = op.multiply(leaky_relu(y, 0.01), rows(mask, 120, -120))  # (60 length + 9, 128)
    samples = _inverse_stft(last_convolution(y, w / "conv_post"), rows(mask, 123, -123), norm)
    samples.output(0).set_names({"samples"})
    return ov.Model([samples], [x, har, mask, first, norm, *stage.parameters], f"stage2-{length}")


def _inverse_stft(post: Value, mask: Value, norm: Value) -> Node:
    """Turn log magnitudes and phases [T + 3, 22] into the samples [5 T] that all their windows cover.

    Row i of `post` is centred on the end of block i - 2 of 5 samples, so block i sums parts of rows i to i + 3.
    """
    spectrum, phase = op.split(post, const(1, np.int64), 2).outputs()  # (T + 3, 11)
    magnitude = op.multiply(op.exp(spectrum), mask)
    cosine, sine = _cosine_sine(_sine(phase))
    parts = op.concat([op.multiply(magnitude, cosine), op.multiply(magnitude, sine)], 1)
    frames = op.matmul(parts, const(_inverse_transform()), False, False)  # (T + 3, 20)
    quarters = op.split(frames, const(1, np.int64), 4).outputs()
    pieces = [rows(quarter, 3 - i, -i or None) for i, quarter in enumerate(quarters)]  # (T, 5)
    total = op.add(op.add(pieces[0], pieces[1]), op.add(pieces[2], pieces[3]))
    return reshape(op.multiply(total, norm), -1)


def _inverse_transform() -> Floats:
    """Return [22, 20]: from 11 real and 11 imaginary parts to 20 samples under the periodic Hann window."""
    k, t = np.arange(11)[:, None], np.arange(20)[None]
    weight = np.where(k % 10 == 0, 1, 2) / 20
    window = 0.5 - 0.5 * np.cos(2 * np.pi * t / 20)
    turn = 2 * np.pi * k * t / 20
    return np.concatenate([weight * np.cos(turn) * window, -weight * np.sin(turn) * window]).astype(np.float32)


def _sine(x: Value) -> Node:
    """Sine by an odd polynomial on -1/2..1/2 turns (the plugin's Sin is a scalar loop), within 1e-6."""
    turns = op.multiply(x, const(1 / (2 * np.pi)))
    r = op.subtract(turns, op.round(turns, "half_to_even"))
    return op.multiply(r, polynomial(op.multiply(r, r), _odd_sine_coefficients()))


def _odd_sine_coefficients() -> list[float]:
    r = np.linspace(0, 0.5, 4001)
    powers = np.stack([r ** (2 * i + 1) for i in range(7)], 1)
    coefficients, *_ = np.linalg.lstsq(powers, np.sin(2 * np.pi * r), rcond=None)
    return [float(c) for c in coefficients]


def _cosine_sine(x: Value) -> tuple[Node, Node]:
    """Return cosine and sine of -1..1 by their series, within 3e-7."""
    square = op.multiply(x, x)
    cosine = polynomial(square, [1, -1 / 2, 1 / 24, -1 / 720, 1 / 40320])
    sine = polynomial(square, [1, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880])
    return cosine, op.multiply(x, sine)
