"""The generator: features and harmonic source become spectra. Its parts, and its exact form.

Two stages raise the rate, 80 rows a second to 800 to 4,800. In each, four residual blocks of six convolutions: one on
the source, three on its sum with the upsampled data. Before every convolution stands an adaptive norm and a Snake.

Rewrites that leave the results as they are but for float32 rounding:

- Snake's sine is a polynomial (OpenVINO's CPU plugin runs Sin as a scalar loop).
- An adaptive norm is a scale and a shift of its input, alpha / pi included; 1 / alpha is in the next kernel.
- Transposed convolutions are matrix products on pairs of rows.
- The residual blocks' convolutions run in the Fourier domain (`fourier`).
- One layout throughout, [T, C], so that nothing is reordered.
"""

from __future__ import annotations

import numpy as np
import openvino as ov
from openvino import Node, Type
from openvino import opset13 as op

from rtvoice.speech.network.fourier import PaddedPlaces, convolve
from rtvoice.speech.network.kernels import KernelInputs, Windows
from rtvoice.speech.network.layers import (
    Value,
    Weights,
    columns,
    const,
    converted,
    leaky_relu,
    reshape,
    row_count,
    rows,
    style_scale_shift,
)
from rtvoice.speech.norms import BLOCKS, EPSILON

RATES = (10, 6)
"""By how much each stage raises the rate."""

DILATIONS = (1, 3, 5)


def snake(x: Value, scale: Value, shift: Value) -> Node:
    """Alpha * (n + sin^2(alpha n) / alpha) for the norm n of `x`; the next kernel divides by alpha.

    With z = scale x + shift = alpha n / pi that is pi z + sin^2(pi z), and sin^2(pi z) has period 1: z is folded to
    -1/2..1/2 and a polynomial in its square does the rest.
    """
    z = op.add(op.multiply(x, scale), shift)
    folded = op.subtract(z, op.round(z, "half_to_even"))
    square = op.multiply(folded, folded)
    wave = op.multiply(square, polynomial(square, sine_squared_polynomial(5)))
    return op.add(op.multiply(z, const(np.pi)), wave)


def sine_squared_polynomial(terms: int) -> list[float]:
    """Return c such that sin^2(pi r) = sum c[i] r^(2 i + 2) on -1/2..1/2, by least squares; 5 terms: within 1.3e-6."""
    r = np.linspace(0, 0.5, 4001)
    powers = np.stack([r ** (2 * i + 2) for i in range(terms)], 1)
    coefficients, *_ = np.linalg.lstsq(powers, np.sin(np.pi * r) ** 2, rcond=None)
    return [float(c) for c in coefficients]


def polynomial(x: Value, coefficients: list[float]) -> Node:
    """Sum of coefficients[i] x^i."""
    *lower, last = coefficients
    total: Node = const(last)
    for c in reversed(lower):
        total = op.add(op.multiply(total, x), const(c))
    return total


def upsample(x: Value, kernel: Value, bias: Value) -> Node:
    """Run a transposed convolution of 2 * stride taps on [T, in].

    Rows i and i + 1 alone make rows stride * i + stride / 2 of the output and the following stride - 1, so what is
    returned, [(T - 1) * stride, out], begins at output row stride / 2 of the first input row.
    """
    y = op.matmul(converted(pairs(x), kernel.get_element_type()), kernel, False, False)  # (T - 1, stride * out)
    return op.add(reshape(converted(y, Type.f32), -1, bias.shape[1]), bias)


def pairs(x: Value) -> Node:
    """Put each row of [T, C] beside the next: [T - 1, 2C]."""
    return op.concat([rows(x, 0, -1), rows(x, 1)], 1)


def source_rows(har: Value, w: Weights) -> Node:
    """Bring the source's STFT from 4,800 to 800 rows a second: [6 T + 6, 22] -> [T, 256], 12 taps and stride 6."""
    taps = w["weight"].transpose(2, 1, 0).reshape(12 * 22, -1)
    y = op.matmul(pairs(reshape(har, -1, 6 * 22)), const(taps), False, False)
    return op.add(y, const(w["bias"][None]))


def source_pixels(har: Value, w: Weights) -> Node:
    """Bring the source's STFT to the channels of the second stage: [T, 22] -> [T, 128]."""
    return op.add(op.matmul(har, const(w["weight"][:, :, 0].T), False, False), const(w["bias"][None]))


def third_of_sum(parts: list[Node]) -> Node:
    """Return a third of the sum of three."""
    first, second, third = parts
    return op.multiply(op.add(op.add(first, second), third), const(1 / 3))


def last_convolution(x: Value, w: Weights) -> Node:
    """Convolve [T + 6, 128] to [T, 22]: one product for all 7 taps, their results shifted and added."""
    weight = w["weight"]  # (22, 128, 7)
    c_out, c_in, taps = weight.shape
    y = op.matmul(x, const(weight.transpose(1, 2, 0).reshape(c_in, taps * c_out)), False, False)
    total: Node = const(w["bias"][None])
    for tap, part in enumerate(op.split(y, const(1, np.int64), taps).outputs()):
        total = op.add(total, rows(part, tap, tap - taps + 1 or None))
    return total


# The exact form: norms measured over the whole of what is spoken, so it must all be there.


def generator_network(w: Weights, windows: Windows) -> ov.Model:
    """Build the generator in its exact form.

    Inputs: `x` [2F, 512] from the decoder; `har` [120F + 1, 22], magnitudes and angles of the harmonic source's STFT;
    `style` [1, 256]; the kernels (`kernels.make_kernels`).
    Outputs: `post` [120F + 1, 22], log magnitudes and what the sine of is the phase, 4,800 rows a second; the
    statistics that its norms measured, `mean1`, `variance1` [24, 256] and `mean2`, `variance2` [24, 128], in the
    order of `norms.norm_names`.
    """
    features = op.parameter([-1, 512], np.float32, name="x")
    har = op.parameter([-1, 22], np.float32, name="har")
    style = op.parameter([1, 256], np.float32, name="style")
    w = w / "decoder.generator"
    acoustic = columns(style, 0, 128)
    kernels = KernelInputs(w, windows)
    x: Value = features
    outputs: dict[str, Node] = {}
    for number, (rate, source) in enumerate(zip(RATES, _sources(har, w), strict=True)):
        stage = _ExactStage(w, acoustic, row_count(source), kernels)
        noise, *names = BLOCKS[number]
        h = stage.block(source, noise)
        up = rows(upsample(_padded(leaky_relu(x, 0.1), 1, 1), *kernels.upsampling(number)), rate // 2, -(rate // 2))
        if number == 1:  # the source's STFT has one row more: the second row, mirrored, stands before the first
            up = op.concat([rows(up, 1, 2), up], 0)
        h = op.add(h, up)
        x = third_of_sum([stage.block(h, name) for name in names])
        outputs[f"mean{number + 1}"] = op.concat(stage.means, 0)
        outputs[f"variance{number + 1}"] = op.concat(stage.variances, 0)
    outputs["post"] = last_convolution(_padded(leaky_relu(x, 0.01), 3, 3), w / "conv_post")
    for name, node in outputs.items():
        node.output(0).set_names({name})
    return ov.Model(list(outputs.values()), [features, har, style, *kernels.parameters], "generator")


def _sources(har: Value, w: Weights) -> tuple[Node, Node]:
    """Bring the source to both stages."""
    return source_rows(_padded(har, 3, 2), w / "noise_convs.0"), source_pixels(har, w / "noise_convs.1")


class _ExactStage:
    """A stage that measures its norms."""

    def __init__(self, w: Weights, style: Value, count: Node, kernels: KernelInputs) -> None:
        self._w, self._style, self._kernels = w, style, kernels
        self._places = PaddedPlaces(count)
        self.means: list[Node] = []
        self.variances: list[Node] = []

    def block(self, x: Value, name: str) -> Node:
        """Run a residual block."""
        for i, dilation in enumerate(DILATIONS):
            h = self._convolution(x, name, 1, i, dilation)
            x = op.add(x, self._convolution(h, name, 2, i, 1))
        return x

    def _convolution(self, x: Value, block: str, part: int, i: int, dilation: int) -> Node:
        h = _padded(snake(x, *self._scale_shift(x, f"{block}.adain{part}.{i}", f"{block}.alpha{part}.{i}")), 0, 1)
        transform, kernel, bias = self._kernels.convolution(block, part, i)
        return convolve(h, *self._places.of(transform, dilation), kernel, bias, transform)

    def _scale_shift(self, x: Value, norm: str, alpha: str) -> tuple[Node, Node]:
        gamma, beta = style_scale_shift(self._style, self._w / norm)
        mean = op.reduce_mean(x, const([0], np.int64), True)
        centred = op.subtract(x, mean)
        variance = op.reduce_mean(op.multiply(centred, centred), const([0], np.int64), True)
        self.means.append(mean)
        self.variances.append(variance)
        turns = const(self._w[alpha].reshape(1, -1) / np.pi)
        scale = op.multiply(op.divide(gamma, op.sqrt(op.add(variance, const(EPSILON)))), turns)
        return scale, op.subtract(op.multiply(beta, turns), op.multiply(mean, scale))


def _padded(x: Value, before: int, behind: int) -> Node:
    """Put rows of zeros before and behind [T, C]."""
    return op.pad(x, const([before, 0], np.int64), const([behind, 0], np.int64), "constant", const(0.0))
