"""The prosody network: pitch and energy over time."""

from __future__ import annotations

import numpy as np
import openvino as ov
from openvino import Node
from openvino import opset13 as op

from rtvoice.speech.network.layers import (
    Value,
    Weights,
    columns,
    convolution,
    lstm,
    reshape,
    residual_block,
    to_image,
)


def prosody_network(w: Weights) -> ov.Model:
    """Build the prosody network.

    Inputs: `en` [F, 640], the rows of `d` repeated by their durations; `style` [1, 256].
    Outputs: `f0` [2F] in Hz and `energy` [2F], 80 of each a second.
    """
    en = op.parameter([-1, 640], np.float32, name="en")
    style = op.parameter([1, 256], np.float32, name="style")
    prosodic = columns(style, 128, 256)
    shared = to_image(lstm(en, w / "predictor.shared"))  # (1, 512, 1, F)
    f0 = _curve(shared, prosodic, w / "predictor", "F0")
    energy = _curve(shared, prosodic, w / "predictor", "N")
    f0.output(0).set_names({"f0"})
    energy.output(0).set_names({"energy"})
    return ov.Model([f0, energy], [en, style], "prosody")


def _curve(x: Value, prosodic: Value, w: Weights, name: str) -> Node:
    for i in range(3):  # the second block doubles the rate
        x = residual_block(x, prosodic, w / f"{name}.{i}")
    return reshape(convolution(x, w / f"{name}_proj"), -1)
