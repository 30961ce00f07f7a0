"""Long convolutions as matrix products in the Fourier domain: fewer multiplications than the direct form, in float32.

A convolution of C to C channels with K taps costs K C^2 multiplications a row. Cut time into windows of N rows that
overlap by K - 1, so that each gives L = N - K + 1 new rows; transform each window by a real discrete Fourier transform
written as a small matrix; multiply each bin by a C x C matrix; transform back. A complex bin takes three real products
(Gauss), the two real bins one, so P = 3 (N / 2 - 1) + 2 products of C x C a window: (P / L) C^2 multiplications a row.
K = 11 and N = 32: 47 / 22 = 2.1 instead of 11. The transforms are orthogonal, so rounding stays at 1e-6 of full scale.

Data is [T, C], rows are time. Windows of a dilated convolution are of rows one dilation apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from openvino import Node, Type
from openvino import opset13 as op

from rtvoice.speech.network.layers import Floats, Value, const, converted, reshape

_WINDOWS_MULTIPLE = 15
"""Windows of a layer are a multiple of this, whatever its dilation (1, 3 or 5)."""


@dataclass(frozen=True, slots=True)
class Transform:
    """The Fourier form of a convolution of `taps` taps on windows of `size` rows.

    Attributes:
        size: N, rows of a window; even, more than `taps`.
        taps: K.
        analysis: [P, N], from a window to its products' inputs.
        synthesis: [L, P], from the products to the window's new rows.
        spectra: [P, K], from a kernel's taps to its matrices.
    """

    size: int
    taps: int
    analysis: Floats
    synthesis: Floats
    spectra: Floats

    @classmethod
    def of(cls, size: int, taps: int) -> Transform:
        """Make the transforms of a window size and a number of taps."""
        time, kept, lag = np.arange(size), np.arange(taps - 1, size), np.arange(taps)[::-1]
        analysis, synthesis, spectra = [], [], []
        for k in range(size // 2 + 1):
            turn = 2 * np.pi * k / size
            real, imaginary = np.cos(turn * time), -np.sin(turn * time)
            cosine, sine = np.cos(turn * kept) / size, np.sin(turn * kept) / size
            h_real, h_imaginary = np.cos(turn * lag), -np.sin(turn * lag)
            if 2 * k in (0, size):
                analysis.append(real)
                synthesis.append(cosine)
                spectra.append(h_real)
            else:
                # Y = X H with a = Hr (Xr + Xi), b = (Hi - Hr) Xr, c = (Hr + Hi) Xi: Yr = a - c, Yi = a + b
                analysis += [real + imaginary, real, imaginary]
                synthesis += [2 * (cosine - sine), -2 * sine, -2 * cosine]
                spectra += [h_real, h_imaginary - h_real, h_real + h_imaginary]
        rows = (np.array(matrix, np.float32) for matrix in (analysis, np.transpose(synthesis), spectra))
        return cls(size, taps, *map(np.ascontiguousarray, rows))

    @property
    def kept(self) -> int:
        """L, the new rows of a window."""
        return self.size - self.taps + 1

    @property
    def products(self) -> int:
        """P, the matrix products of a window."""
        return len(self.analysis)

    def kernel(self, weight: Floats) -> Floats:
        """Bring a convolution's weight [out, in, K] into the form of the products, [P, in, out]."""
        flat = weight.transpose(2, 1, 0).reshape(self.taps, -1)  # (K, in * out)
        # not by BLAS, whose threads spin and which ends the process where it finds no memory
        kernel: Floats = np.einsum("pk,kn->pn", self.spectra, flat)
        return kernel.reshape(self.products, weight.shape[1], weight.shape[0])


def convolve(x: Value, taken: Node, order: Node, kernel: Value, bias: Node, transform: Transform) -> Node:
    """Run a convolution as products.

    Args:
        x: data [_, in].
        taken: for each place in a window and, within it, each window, the row of `x`; flat, int32.
        order: for each row of the output, where it lies among places and windows; int32.
        kernel: [P, in, out], see `Transform.kernel`. If it is of bfloat16, so are the products and the transform before
            them, sums excepted.
        bias: [1, out].
        transform: the windows.

    Returns:
        [len(order), out].
    """
    # rows of equal place in their windows lie together, so that a transform is one product over windows and channels
    size, products = transform.size, transform.products
    precision = kernel.get_element_type()
    x = reshape(op.gather(converted(x, precision), taken, const(0, np.int64)), size, -1)  # (N, windows * in)
    analysis = converted(const(transform.analysis), precision)
    x = reshape(op.matmul(analysis, x, False, False), products, -1, kernel.shape[1])
    x = converted(op.matmul(x, kernel, False, False), Type.f32)  # (P, windows, out)
    x = op.matmul(const(transform.synthesis), reshape(x, products, -1), False, False)
    x = op.gather(reshape(x, -1, kernel.shape[2]), order, const(0, np.int64))
    return op.add(x, bias)


def places(rows: int, start: int, transform: Transform, dilation: int) -> tuple[Node, Node]:
    """Return `taken` and `order` of a convolution without padding that leaves every row where it is.

    Of `rows` rows, those before `start` and the last `start` do not count; as many more as a kernel reaches over do not
    count in the output, which is as long. Such rows hold copies of others.
    """
    length = rows - 2 * start - dilation * (transform.taps - 1)
    windows = -(-length // (dilation * transform.kept))
    # layers whose products have equal shapes share what OpenVINO compiles for them, 25 MB a network
    multiple = _WINDOWS_MULTIPLE // dilation
    windows = -(-windows // multiple) * multiple
    place = np.arange(transform.size)[:, None, None]
    phase, window = np.arange(dilation)[None, :, None], np.arange(windows)[None, None, :]
    taken = (window * transform.kept + place) * dilation + phase
    made = taken[: transform.kept]  # without padding, a window's new rows begin where the window does
    order = np.zeros(rows)
    reached = start + dilation * (transform.taps // 2)
    order[reached : reached + length] = np.argsort(made.reshape(-1), kind="stable")[:length]
    return const(np.minimum(start + taken, rows - 1).reshape(-1), np.int32), const(order, np.int32)


class PaddedPlaces:
    """`taken` and `order` for data whose number of rows is known only at run time, padded by zeros to keep its length.

    The data must have one row of zeros behind its last; rows outside are taken from there. Computed once for all
    convolutions of equal windows and dilation.
    """

    def __init__(self, rows: Node) -> None:
        """Args: rows: how many rows the data has, a scalar of 64-bit integers."""
        self._rows = rows
        self._known: dict[tuple[int, int, int], tuple[Node, Node]] = {}

    def of(self, transform: Transform, dilation: int) -> tuple[Node, Node]:
        """Return `taken` and `order` for these windows."""
        key = (transform.size, transform.taps, dilation)
        if key not in self._known:
            self._known[key] = self._compute(transform, dilation)
        return self._known[key]

    def _compute(self, transform: Transform, dilation: int) -> tuple[Node, Node]:
        kept = transform.kept
        windows = op.divide(op.add(self._rows, _integer(dilation * kept - 1)), _integer(dilation * kept))
        window = op.range(_integer(0), windows, _integer(1), "i64")
        place = np.arange(transform.size)[:, None, None] - transform.taps // 2
        first = const(place * dilation + np.arange(dilation)[None, :, None], np.int64)
        taken = op.add(op.multiply(window, _integer(dilation * kept)), first)  # (N, dilation, windows)
        inside = op.logical_and(op.greater_equal(taken, _integer(0)), op.less(taken, self._rows))
        taken = reshape(op.select(inside, taken, self._rows), -1)

        row = op.range(_integer(0), self._rows, _integer(1), "i64")
        nth, phase = _divide(row, dilation)  # the nth row of its phase
        of_window, place_in = _divide(nth, kept)
        order = op.add(op.multiply(op.add(op.multiply(place_in, _integer(dilation)), phase), windows), of_window)
        return op.convert(taken, "i32"), op.convert(order, "i32")


def _integer(value: int) -> Node:
    return const(value, np.int64)


def _divide(x: Value, by: int) -> tuple[Node, Node]:
    quotient = op.divide(x, _integer(by))
    return quotient, op.subtract(x, op.multiply(quotient, _integer(by)))
