"""How much arithmetic the generator's forms take, what they must move for it, and what that allows a core to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from benchmarks.network import Variant
    from benchmarks.report.records import Peaks, Rewrite

_FLOAT = 4
_RATES: Final = (800, 4800)
_CONVOLUTIONS: Final = 6
"""Rows a second of each stage, and convolutions of a residual block."""


def traffic(variant: Variant) -> float:
    """Bytes (10^9) a second of speech that the residual blocks of both stages move at least, no cache between layers.

    Each convolution reads its rows and writes as many, and reads its kernel once a slice. The Fourier form writes and
    reads the windows' transforms and the products beside that.
    """
    from benchmarks.network import ROWS_A_SECOND
    from rtvoice.speech.network.kernels import Windows
    from rtvoice.speech.norms import CHANNELS

    windows, total = Windows(*variant.windows), 0.0
    for stage, (channels, rate) in enumerate(zip(CHANNELS, _RATES, strict=True)):
        slices_a_second = ROWS_A_SECOND / variant.lengths[stage]
        for taps in (3, 7, 11, 7 if stage == 0 else 11):
            rows, matrices = 2.0 * rate * channels, taps
            if taps in variant.fourier:
                transform = windows.of(taps)
                rows += 4 * rate * channels * transform.products / transform.kept
                matrices = transform.products
            total += _CONVOLUTIONS * _FLOAT * (rows + matrices * channels**2 * slices_a_second) / 1e9
    return total


@dataclass(frozen=True, slots=True)
class Point:
    """A form under the roof.

    Attributes:
        intensity: operations a byte.
        gflops: operations a second that it does, in 10^9; what is no convolution takes its time as well.
        roof: what a core could do at that intensity.
    """

    intensity: float
    gflops: float
    roof: float


def place(rewrite: Rewrite, peaks: Peaks) -> Point:
    """Where a form lies. A multiplication and its addition are two operations."""
    operations = 2 * rewrite.gmac
    intensity = operations / rewrite.gbytes
    return Point(intensity, operations / rewrite.cpu_s, min(peaks.gflops, intensity * peaks.gbytes_s))
