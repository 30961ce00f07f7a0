"""The layers that Kokoro is made of, as OpenVINO operations on one utterance.

Data is time-major between layers, [T, C]: a row is a moment, a column a channel. `Weights` hands out the arrays of a
module by the names of upstream's modules, weight norm already folded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from openvino import Node, Output, Tensor, Type
from openvino import opset13 as op
from openvino.op import Constant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtvoice.config import Precision

Floats: TypeAlias = NDArray[np.float32]
Value: TypeAlias = Node | Output
"""What an operation takes: a node with one output, or one output of several."""

TYPES: Final[dict[Precision, Type]] = {"f32": Type.f32, "bf16": Type.bf16}
"""Of kernels of convolutions, and of what is multiplied by them. All else is of float32."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The arrays of one module, by their names below it.

    Attributes:
        arrays: all arrays of the model, by full name.
        prefix: the module's name, with a dot at its end; empty for the model itself.
    """

    arrays: Mapping[str, Floats]
    prefix: str = ""

    def __truediv__(self, module: str) -> Weights:
        """Return the weights of a module below this one."""
        return Weights(self.arrays, f"{self.prefix}{module}.")

    def __getitem__(self, name: str) -> Floats:
        return self.arrays[self.prefix + name]

    def __contains__(self, name: str) -> bool:
        return self.prefix + name in self.arrays


def const(value: ArrayLike, dtype: DTypeLike = np.float32) -> Node:
    """Return a constant; of 64-bit integers where `dtype` says so."""
    return op.constant(np.array(value, dtype, order="C"))


def tensor(array: Floats, kind: Type) -> Tensor:
    """Copy an array into a tensor of float32, or of bfloat16, rounded to the nearest."""
    made = Tensor(kind, array.shape)
    if kind == Type.bf16:  # the upper half of a float32, which is the second where the lower comes first
        rounded = np.ascontiguousarray(array).view(np.uint32) + np.uint32(0x8000)
        made.data.view(np.uint16)[...] = rounded.view(np.uint16)[..., 1::2]
    else:
        made.data[...] = array
    return made


def converted(x: Value, kind: Type) -> Value:
    """Return `x` as numbers of another type, itself if it is of that type."""
    return x if x.get_element_type() == kind else op.convert(x, kind.to_string())


def reshape(x: Value, *shape: int) -> Node:
    """Give `x` another shape; -1 stands for what is left, 0 keeps a dimension."""
    return op.reshape(x, const(shape, np.int64), special_zero=True)


def transpose(x: Value, *axes: int) -> Node:
    """Reorder the dimensions of `x`."""
    return op.transpose(x, const(axes, np.int64))


def columns(x: Value, start: int, stop: int) -> Node:
    """Return columns `start` to `stop` of the last dimension."""
    return op.slice(x, const([start], np.int64), const([stop], np.int64), const([1], np.int64), const([-1], np.int64))


def rows(x: Value, start: int, stop: int | None = None) -> Node:
    """Return rows `start` to `stop` of the first dimension; a negative `stop` counts from the end, None is the end."""
    end = 2**31 - 1 if stop is None else stop
    return op.slice(x, *(const([n], np.int64) for n in (start, end, 1, 0)))


def row_count(x: Value) -> Node:
    """Return the number of rows of `x`, a scalar of 64-bit integers."""
    return op.gather(op.shape_of(x, "i64"), const(0, np.int64), const(0, np.int64))


def repeat_rows(row: Value, like: Value) -> Node:
    """Repeat `row` [1, C] as often as `like` [T, _] has rows."""
    count = op.unsqueeze(row_count(like), const(0, np.int64))
    return op.tile(row, op.concat([count, const([1], np.int64)], 0))


def linear(x: Value, w: Weights) -> Node:
    """Multiply the last dimension of `x` by a matrix and add its bias, if it has one."""
    y = op.matmul(x, const(w["weight"]), False, True)
    return op.add(y, const(w["bias"])) if "bias" in w else y


def layer_norm(x: Value, eps: float) -> Node:
    """Bring each row to mean 0 and variance 1."""
    return op.mvn(x, const([-1], np.int64), True, eps, "inside_sqrt")


def lstm(x: Value, w: Weights) -> Node:
    """Run a bidirectional LSTM over the rows of `x`; each direction gives half of the columns."""
    weight, recurrent, bias = (
        np.stack([_gates(arrays[0]), _gates(arrays[1])])
        for arrays in (
            (w["weight_ih_l0"], w["weight_ih_l0_reverse"]),
            (w["weight_hh_l0"], w["weight_hh_l0_reverse"]),
            (w["bias_ih_l0"] + w["bias_hh_l0"], w["bias_ih_l0_reverse"] + w["bias_hh_l0_reverse"]),
        )
    )
    size = recurrent.shape[-1]
    zeros = const(np.zeros((1, 2, size)))
    y = op.lstm_sequence(
        op.unsqueeze(x, const(0, np.int64)),  # (1, T, in)
        zeros,
        zeros,
        op.unsqueeze(row_count(x), const(0, np.int64)),
        const(weight),
        const(recurrent),
        const(bias),
        size,
        "bidirectional",
    ).output(0)  # (1, 2, T, size)
    return reshape(transpose(y, 2, 0, 1, 3), -1, 2 * size)


def _gates(x: Floats) -> Floats:
    """Put gates from PyTorch's order (i, f, g, o) into OpenVINO's (f, i, g, o)."""
    i, f, g, o = np.split(x, 4)
    return np.concatenate([f, i, g, o])


def style_scale_shift(style: Value, w: Weights) -> tuple[Node, Node]:
    """Project a style [1, 128] to what an adaptive norm multiplies by (about 1) and adds, [1, C] each."""
    projected = linear(style, w / "fc")
    width = w["fc.bias"].shape[0] // 2
    return op.add(columns(projected, 0, width), const(1.0)), columns(projected, width, 2 * width)


def leaky_relu(x: Value, slope: float) -> Node:
    """Multiply what is negative by `slope`."""
    return op.prelu(x, const(slope))


# Convolutional networks run on images one pixel high: in four dimensions the plugin keeps the data channels-last, as
# its convolutions want it, through norms and element-wise operations as well; in three it would reorder around each.


def to_image(x: Value) -> Node:
    """[T, C] -> [1, C, 1, T]."""
    return op.unsqueeze(transpose(x, 1, 0), const([0, 2], np.int64))


def from_image(x: Value) -> Node:
    """[1, C, 1, T] -> [T, C]."""
    return transpose(op.squeeze(x, const([0, 2], np.int64)), 1, 0)


def convolution(
    x: Value, w: Weights, *, stride: int = 1, padding: int | None = None, precision: Precision = "f32"
) -> Node:
    """Convolve an image; padded by zeros so that its length stays, unless `padding` says how far."""
    kind = TYPES[precision]
    weight = w["weight"][:, :, None]  # (out, in, 1, taps)
    if padding is None:
        padding = weight.shape[-1] // 2
    kernel = Constant(tensor(weight, kind))
    y = converted(op.convolution(converted(x, kind), kernel, [1, stride], [0, padding], [0, padding], [1, 1]), Type.f32)
    return op.add(y, const(w["bias"].reshape(1, -1, 1, 1))) if "bias" in w else y


def adaptive_instance_norm(x: Value, style: Value, w: Weights) -> Node:
    """Bring each channel of an image to mean 0 and variance 1 over time, then scale and shift it by the style."""
    scale, shift = style_scale_shift(style, w)
    normed = op.mvn(x, const([2, 3], np.int64), True, 1e-5, "inside_sqrt")
    return op.add(op.multiply(normed, reshape(scale, 1, -1, 1, 1)), reshape(shift, 1, -1, 1, 1))


def residual_block(x: Value, style: Value, w: Weights, precision: Precision = "f32") -> Node:
    """Two convolutions of 3 taps behind adaptive norms, beside a shortcut; twice as long where it has a `pool`."""
    h = leaky_relu(adaptive_instance_norm(x, style, w / "norm1"), 0.2)
    if "pool.weight" in w:
        h, x = _double(h, w / "pool"), _repeat(x)
    h = convolution(h, w / "conv1", precision=precision)
    h = leaky_relu(adaptive_instance_norm(h, style, w / "norm2"), 0.2)
    h = convolution(h, w / "conv2", precision=precision)
    if "conv1x1.weight" in w:
        x = convolution(x, w / "conv1x1", precision=precision)
    return op.multiply(op.add(h, x), const(np.sqrt(0.5)))


def _repeat(x: Value) -> Node:
    """Repeat every moment of an image twice."""  # (1, C, 1, 2T)
    return _interleave([x, x])


def _double(x: Value, w: Weights) -> Node:
    """Run a transposed depth-wise convolution of stride 2 and 3 taps: even moments see one of them, odd ones two."""
    before, middle, after = (const(w["weight"][:, 0, tap].reshape(1, -1, 1, 1)) for tap in (2, 1, 0))
    bias = const(w["bias"].reshape(1, -1, 1, 1))
    following = op.pad(
        _from(x, 1), const([0, 0, 0, 0], np.int64), const([0, 0, 0, 1], np.int64), "constant", const(0.0)
    )
    even = op.add(op.multiply(x, middle), bias)
    odd = op.add(op.add(op.multiply(x, before), op.multiply(following, after)), bias)
    return _interleave([even, odd])


def _from(x: Value, start: int) -> Node:
    """Return the moments of an image from `start` on."""
    return op.slice(
        x, const([start], np.int64), const([2**31 - 1], np.int64), const([1], np.int64), const([3], np.int64)
    )


def _interleave(phases: list[Value]) -> Node:
    """Take one moment of each image in turn."""
    stacked = op.concat([op.unsqueeze(phase, const(4, np.int64)) for phase in phases], 4)  # (1, C, 1, T, n)
    return op.reshape(stacked, const([0, 0, 0, -1], np.int64), special_zero=True)
