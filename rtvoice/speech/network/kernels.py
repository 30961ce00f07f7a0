"""The kernels of the generator: 48 convolutions in Fourier form and two upsamplings, made when the model is loaded.

They are inputs of the networks, not constants in them. OpenVINO keeps a constant about twice in every network that
has it, and once more in its compile cache; inputs bound to the same arrays are there once for all forms and slice
lengths of the generator, at the same speed.

Kernels can be of bfloat16: half the memory and, where the processor multiplies such numbers twice as fast, two thirds
of the time. What lies between the convolutions stays float32, above all what sines are taken of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from openvino import Node, Tensor
from openvino import opset13 as op

from rtvoice.speech.network.fourier import Transform
from rtvoice.speech.network.layers import TYPES, Weights, const, tensor
from rtvoice.speech.norms import BLOCKS, CHANNELS, CONVOLUTIONS

if TYPE_CHECKING:
    from rtvoice.config import Precision


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


def make_kernels(w: Weights, windows: Windows, precision: Precision = "f32") -> dict[str, Tensor]:
    """Make all kernels, by name.

    Those of convolutions are [P, in, out], divided by the alpha of the Snake before them; those of upsamplings
    [2 in, stride * out].
    """
    kind = TYPES[precision]
    w = w / "decoder.generator"
    kernels = {}
    for block in (block for blocks in BLOCKS for block in blocks):
        for part, i in CONVOLUTIONS:
            weight = w[f"{block}.convs{part}.{i}.weight"] / w[f"{block}.alpha{part}.{i}"].reshape(1, -1, 1)
            kernels[_convolution_name(block, part, i)] = tensor(windows.of(weight.shape[2]).kernel(weight), kind)
    for stage in range(len(CHANNELS)):
        weight = w[f"ups.{stage}.weight"]  # (in, out, 2 * stride)
        c_in, c_out, taps = weight.shape
        both = np.concatenate([weight[:, :, taps // 2 :], weight[:, :, : taps // 2]])  # of a row, then of the next
        kernel = both.transpose(0, 2, 1).reshape(2 * c_in, taps // 2 * c_out)
        kernels[_upsampling_name(stage)] = tensor(kernel, kind)
    return kernels


class KernelInputs:
    """The kernels as inputs of a network that is being drawn."""

    def __init__(self, w: Weights, windows: Windows, precision: Precision = "f32") -> None:
        """Args: w: the generator's weights; windows, precision: as the kernels will be made with."""
        self._w, self._windows, self._type = w, windows, TYPES[precision]
        self.parameters: list[Node] = []

    def convolution(self, block: str, part: int, i: int) -> tuple[Transform, Node, Node]:
        """Return the windows, kernel and bias of a convolution of a residual block."""
        conv = self._w / f"{block}.convs{part}.{i}"
        c_out, c_in, taps = conv["weight"].shape
        transform = self._windows.of(taps)
        kernel = self._input([transform.products, c_in, c_out], _convolution_name(block, part, i))
        return transform, kernel, const(conv["bias"][None])

    def upsampling(self, stage: int) -> tuple[Node, Node]:
        """Return the kernel and bias of a stage's upsampling."""
        up = self._w / f"ups.{stage}"
        c_in, c_out, taps = up["weight"].shape
        kernel = self._input([2 * c_in, taps // 2 * c_out], _upsampling_name(stage))
        return kernel, const(up["bias"][None])

    def _input(self, shape: list[int], name: str) -> Node:
        kernel = op.parameter(shape, self._type, name=name)
        self.parameters.append(kernel)
        return kernel


def _convolution_name(block: str, part: int, i: int) -> str:
    return f"kernel.{block}.{part}.{i}"


def _upsampling_name(stage: int) -> str:
    return f"kernel.ups.{stage}"
