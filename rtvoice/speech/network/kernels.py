"""The kernels of the generator's residual blocks: 48 convolutions in Fourier form, made when the model is loaded.

They are inputs of the networks, not constants in them. OpenVINO keeps a constant about twice in every network that
has it, and once more in its compile cache; inputs bound to the same arrays are there once for all forms and slice
lengths of the generator, at the same speed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from openvino import Node
from openvino import opset13 as op

from rtvoice.speech.network.fourier import Transform
from rtvoice.speech.network.layers import Floats, Weights, const
from rtvoice.speech.norms import BLOCKS, CONVOLUTIONS


@dataclass(frozen=True, slots=True)
class Windows:
    """Window sizes of the Fourier form for 3, 7 and 11 taps.

    Larger windows cost fewer products a row and more memory: with windows of 8, 16 and 32 rows kernels hold 11, 23 and
    47 matrices, 213 MB in all.
    """

    taps3: int = 8
    taps7: int = 16
    taps11: int = 32

    def of(self, taps: int) -> Transform:
        """Return the transform for so many taps."""
        return Transform.of({3: self.taps3, 7: self.taps7, 11: self.taps11}[taps], taps)


def residual_kernels(w: Weights, windows: Windows) -> dict[str, Floats]:
    """Make all kernels: by name, [P, in, out], each divided by the alpha of the Snake before it."""
    w = w / "decoder.generator"
    kernels = {}
    for block in (block for blocks in BLOCKS for block in blocks):
        for part, i in CONVOLUTIONS:
            weight = w[f"{block}.convs{part}.{i}.weight"] / w[f"{block}.alpha{part}.{i}"].reshape(1, -1, 1)
            kernels[_name(block, part, i)] = windows.of(weight.shape[2]).kernel(weight)
    return kernels


class KernelInputs:
    """The kernels as inputs of a network that is being drawn."""

    def __init__(self, w: Weights, windows: Windows) -> None:
        """Args: w: the generator's weights; windows: as the kernels will be made with."""
        self._w, self._windows = w, windows
        self.parameters: list[Node] = []

    def of(self, block: str, part: int, i: int) -> tuple[Transform, Node, Node]:
        """Return a convolution's windows, kernel and bias."""
        conv = self._w / f"{block}.convs{part}.{i}"
        c_out, c_in, taps = conv["weight"].shape
        transform = self._windows.of(taps)
        kernel = op.parameter([transform.products, c_in, c_out], np.float32, name=_name(block, part, i))
        self.parameters.append(kernel)
        return transform, kernel, const(conv["bias"][None])


def _name(block: str, part: int, i: int) -> str:
    return f"kernel.{block}.{part}.{i}"
