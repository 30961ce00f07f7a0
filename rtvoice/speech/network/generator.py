"""The generator in its exact form: features and harmonic source become spectra, norms measured over all of them.

Three rewrites leave the results as they are but for float32 rounding: Snake's sine is a polynomial (the plugin runs
Sin as a scalar loop), transposed convolutions run as plain ones whose phases are interleaved, and everything stays in
one layout (`layers.to_image`).
"""

from __future__ import annotations

import numpy as np
import openvino as ov
from openvino import Node
from openvino import opset13 as op

from rtvoice.speech.network.layers import (
    Floats,
    Value,
    Weights,
    adaptive_instance_norm,
    columns,
    const,
    convolution,
    from_image,
    leaky_relu,
    reshape,
    to_image,
)

DILATIONS = (1, 3, 5)
RATES = (10, 6)
"""By how much each stage raises the rate: 80 rows a second to 800 to 4,800."""


def generator_network(w: Weights) -> ov.Model:
    """Build the generator in its exact form.

    Inputs: `x` [2F, 512] from the decoder; `har` [120F + 1, 22], magnitudes and angles of the harmonic source's STFT;
    `style` [1, 256].
    Output: `post` [120F + 1, 22], log magnitudes and what the sine of is the phase, 4,800 rows a second.
    """
    features = op.parameter([-1, 512], np.float32, name="x")
    har = op.parameter([-1, 22], np.float32, name="har")
    style = op.parameter([1, 256], np.float32, name="style")
    acoustic = columns(style, 0, 128)
    w = w / "decoder.generator"
    x, source = to_image(features), to_image(har)
    for i, rate in enumerate(RATES):
        h = (
            convolution(source, w / f"noise_convs.{i}", stride=6, padding=3)
            if i == 0
            else convolution(source, w / f"noise_convs.{i}")
        )
        h = snake_block(h, acoustic, w / f"noise_res.{i}")
        x = transposed_convolution(leaky_relu(x, 0.1), w / f"ups.{i}", rate)
        if i == 1:  # the source's STFT has one row more: the second row, mirrored, goes before the first
            x = op.concat([op.slice(x, *(const([n], np.int64) for n in (1, 2, 1, 3))), x], 3)
        x = op.add(x, h)
        blocks = [snake_block(x, acoustic, w / f"resblocks.{3 * i + j}") for j in range(3)]
        x = op.multiply(op.add(op.add(blocks[0], blocks[1]), blocks[2]), const(1 / 3))
    post = from_image(convolution(leaky_relu(x, 0.01), w / "conv_post"))
    post.output(0).set_names({"post"})
    return ov.Model([post], [features, har, style], "generator")


def snake_block(x: Value, style: Value, w: Weights) -> Node:
    """Add three pairs of convolutions to the data, each behind an adaptive norm and a Snake."""
    for i, dilation in enumerate(DILATIONS):
        h = snake(adaptive_instance_norm(x, style, w / f"adain1.{i}"), w[f"alpha1.{i}"])
        h = convolution(h, w / f"convs1.{i}", dilation=dilation)
        h = snake(adaptive_instance_norm(h, style, w / f"adain2.{i}"), w[f"alpha2.{i}"])
        x = op.add(x, convolution(h, w / f"convs2.{i}"))
    return x


def sine_squared_polynomial(terms: int) -> Floats:
    """Return c such that sin^2(pi r) = sum c[i] r^(2 i + 2) on -1/2..1/2, by least squares; 5 terms: within 1.3e-6."""
    r = np.linspace(0, 0.5, 4001)
    powers = np.stack([r ** (2 * i + 2) for i in range(terms)], 1)
    coefficients, *_ = np.linalg.lstsq(powers, np.sin(np.pi * r) ** 2, rcond=None)
    return np.asarray(coefficients, np.float32)


def snake(x: Value, alpha: Floats) -> Node:
    """X + sin^2(alpha x) / alpha, for an image and a factor [1, C, 1] a channel.

    sin^2 has period pi, so alpha x / pi is folded to -1/2..1/2 and a polynomial in its square does the rest.
    """
    alpha = alpha.reshape(1, -1, 1, 1)
    folded = op.multiply(x, const(alpha / np.pi))
    folded = op.subtract(folded, op.round(folded, "half_to_even"))
    square = op.multiply(folded, folded)
    *lower, last = sine_squared_polynomial(5)
    total: Node = const(last)
    for c in reversed(lower):
        total = op.add(op.multiply(total, square), const(c))
    return op.add(x, op.multiply(op.multiply(square, total), const(1 / alpha)))


def polyphase(weight: Floats, stride: int) -> tuple[Floats, int, int]:
    """Turn a transposed convolution's kernel [in, out, k], padding (k - stride) / 2, into a plain convolution's.

    Returns:
        The kernel [stride * out, in, taps], phase by phase, and the rows to pad before and behind.
    """
    c_in, c_out, k = weight.shape
    padding = (k - stride) // 2
    taps = {
        (phase, offset): tap
        for phase in range(stride)
        for offset in range(-k, k)
        if 0 <= (tap := phase + padding - offset * stride) < k
    }
    first, last = min(offset for _, offset in taps), max(offset for _, offset in taps)
    kernel = np.zeros((stride, c_out, c_in, last - first + 1), np.float32)
    for (phase, offset), tap in taps.items():
        kernel[phase, :, :, offset - first] = weight[:, :, tap].T
    return kernel.reshape(stride * c_out, c_in, -1), -first, last


def transposed_convolution(x: Value, w: Weights, stride: int) -> Node:
    """Raise an image's rate `stride`-fold: a plain convolution makes all phases, a transpose puts them in turn."""
    weight, before, behind = polyphase(w["weight"], stride)
    c_out = w["bias"].shape[0]
    y = op.convolution(x, const(weight[:, :, None]), [1, 1], [0, before], [0, behind], [1, 1])
    y = op.transpose(reshape(y, 1, stride, c_out, -1), const([0, 2, 3, 1], np.int64))  # (1, C, T, stride)
    return op.add(reshape(y, 1, c_out, 1, -1), const(w["bias"].reshape(1, -1, 1, 1)))
