"""The decoder: what is said, its pitch and its energy become the features that the generator turns into sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import openvino as ov
from openvino import Node
from openvino import opset13 as op

from rtvoice.speech.network.generator import upsample
from rtvoice.speech.network.kernels import KernelInputs, Windows
from rtvoice.speech.network.layers import (
    Value,
    Weights,
    columns,
    const,
    convolution,
    from_image,
    leaky_relu,
    reshape,
    residual_block,
    to_image,
)

if TYPE_CHECKING:
    from rtvoice.config import Precision


def decoder_network(w: Weights, windows: Windows, precision: Precision = "f32") -> ov.Model:
    """Build the decoder.

    Inputs: `asr` [F, 512], the rows of `t_en` repeated by their durations; `f0` [2F] in Hz; `energy` [2F];
    `style` [1, 256]; the kernel of the generator's first upsampling (`kernels.make_kernels`).
    Outputs: `x` [2F, 512], 80 rows a second; `summary` [512], mean and deviation of each channel that the generator's
    first upsampling makes of it, from which the statistics of its norms are predicted (`rtvoice.speech.statistics`).
    """
    asr = op.parameter([-1, 512], np.float32, name="asr")
    f0 = op.parameter([-1], np.float32, name="f0")
    energy = op.parameter([-1], np.float32, name="energy")
    style = op.parameter([1, 256], np.float32, name="style")
    acoustic = columns(style, 0, 128)
    w = w / "decoder"
    text = to_image(asr)  # (1, 512, 1, F)
    curves = [_halved(f0, w / "F0_conv"), _halved(energy, w / "N_conv")]  # (1, 1, 1, F) each
    x = residual_block(op.concat([text, *curves], 1), acoustic, w / "encode", precision)  # (1, 1024, 1, F)
    beside = [convolution(text, w / "asr_res.0"), *curves]  # 66 channels
    for i in range(4):  # the last block doubles the rate
        x = residual_block(op.concat([x, *beside], 1), acoustic, w / f"decode.{i}", precision)
    features = from_image(x)  # (2F, 512)
    kernels = KernelInputs(w / "generator", windows, precision)
    summary = _summary(features, *kernels.upsampling(0))
    features.output(0).set_names({"x"})
    summary.output(0).set_names({"summary"})
    return ov.Model([features, summary], [asr, f0, energy, style, *kernels.parameters], "decoder")


def _halved(curve: Value, w: Weights) -> Node:
    return convolution(reshape(curve, 1, 1, 1, -1), w, stride=2, padding=1)


def _summary(features: Value, kernel: Node, bias: Node) -> Node:
    up = upsample(leaky_relu(features, 0.1), kernel, bias)
    mean = op.reduce_mean(up, const([0], np.int64), True)
    centred = op.subtract(up, mean)
    deviation = op.sqrt(op.reduce_mean(op.multiply(centred, centred), const([0], np.int64), True))
    return reshape(op.concat([mean, deviation], 1), -1)
