"""The generator's adaptive norms on the host: their names, and what the sliced form takes in place of statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rtvoice.speech.statistics import Statistics

    Floats = NDArray[np.float32]

CHANNELS: Final = (256, 128)
"""Channels of each stage."""

BLOCKS: Final = tuple((f"noise_res.{i}", *(f"resblocks.{3 * i + j}" for j in range(3))) for i in range(len(CHANNELS)))
"""The residual blocks of each stage: the source's, then the three on the sum."""

CONVOLUTIONS: Final = tuple((part, i) for i in range(3) for part in (1, 2))
"""A block's convolutions and norms in order: first or second of a pair, number of the pair."""

NORMS: Final = len(BLOCKS[0]) * len(CONVOLUTIONS)
"""Norms of a stage."""

EPSILON: Final = 1e-5
"""Added to the variance of a norm."""

_GENERATOR: Final = "decoder.generator"


def norm_names(stage: int) -> list[tuple[str, str]]:
    """Return the names of a stage's adaptive norms and of the Snakes' alphas behind them, in the order of `scale`."""
    return [
        (f"{block}.adain{part}.{i}", f"{block}.alpha{part}.{i}") for block in BLOCKS[stage] for part, i in CONVOLUTIONS
    ]


@dataclass(frozen=True, slots=True)
class Norms:
    """What the norms of a sliced generator multiply by and add, for each stage [24, C].

    Snake's alpha / pi is in them: see `network.generator.snake`.
    """

    scales: tuple[Floats, Floats]
    shifts: tuple[Floats, Floats]


class StyledNorms:
    """Joins a style and statistics to norms. Holds the style's projections."""

    def __init__(self, arrays: Mapping[str, Floats]) -> None:
        """Args: arrays: the model's `network.host_arrays`."""
        self._stages = []
        for stage in range(len(CHANNELS)):
            names = norm_names(stage)
            weight = np.stack([arrays[f"{_GENERATOR}.{norm}.fc.weight"] for norm, _ in names])  # (24, 2C, 128)
            bias = np.stack([arrays[f"{_GENERATOR}.{norm}.fc.bias"] for norm, _ in names])
            turns = np.stack([arrays[f"{_GENERATOR}.{alpha}"].reshape(-1) for _, alpha in names]) / np.float32(np.pi)
            self._stages.append((weight, bias, turns))

    def join(self, style: Floats, statistics: Statistics) -> Norms:
        """Return the norms of a style [1, 256] where these statistics are measured or predicted."""
        scales, shifts = [], []
        for number, (weight, bias, turns) in enumerate(self._stages):
            gamma, beta = np.split(np.einsum("ncs,s->nc", weight, style[0, :128]) + bias, 2, axis=1)  # (24, C)
            scale = (1 + gamma) / np.sqrt(statistics.variances[number] + np.float32(EPSILON)) * turns
            scales.append(scale)
            shifts.append(beta * turns - statistics.means[number] * scale)
        return Norms((scales[0], scales[1]), (shifts[0], shifts[1]))
