"""The statistics of the generator's norms, predicted before the generator runs.

The generator's 48 instance norms take mean and variance over the whole of what is spoken: all that stops it from
running in slices. Both are nearly a function of what the decoder gives. Here it is learnt for each voice: kernel ridge
regression with a Gaussian kernel (Saunders et al. 1998) from a summary of the decoder's output, the pitch and the
lengths to means and log variances, its output of reduced rank (Izenman 1975) and in 8 bits.

Predicted statistics give speech that is nearer to the exact form's than another draw of the model's own noise
(docs/performance.md).

A blend of voices needs no regression of its own: what its voices' maps say, averaged by their parts, is off by what is
nearly the same for every sentence, so a handful of sentences give it.
"""

from __future__ import annotations

import zlib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol
from zipfile import BadZipFile

import numpy as np

from rtvoice.speech.norms import CHANNELS, NORMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO, Self

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

OUTPUTS: Final = 2 * NORMS * sum(CHANNELS)
SUMMARY: Final = 512
"""Values of the decoder's summary."""

INPUTS: Final = SUMMARY + 11

_RANK: Final = 48
_WIDTH: Final = 0.05
_RIDGE: Final = 0.002
_PROSODY_WEIGHT: Final = np.float32(np.sqrt(3))
"""Chosen on sentences that were held out; the error is flat around them."""

_LEAST_VARIANCE: Final = 1e-8
_VOICED_HZ: Final = 10.0


@dataclass(frozen=True, slots=True)
class Statistics:
    """Means and variances of the norms of both stages, [24, 256] and [24, 128] each."""

    means: tuple[Floats, Floats]
    variances: tuple[Floats, Floats]

    def flat(self) -> Floats:
        """Return them as the regression has them: for each stage means, then log variances."""
        parts = []
        for mean, variance in zip(self.means, self.variances, strict=True):
            parts += [mean.reshape(-1), np.log(variance.reshape(-1) + _LEAST_VARIANCE)]
        return np.concatenate(parts)

    @classmethod
    def of_flat(cls, flat: Floats) -> Self:
        """Make them from what `flat` returned."""
        means, variances, at = [], [], 0
        for channels in CHANNELS:
            size = NORMS * channels
            means.append(flat[at : at + size].reshape(NORMS, channels))
            variances.append(np.exp(flat[at + size : at + 2 * size]).reshape(NORMS, channels))
            at += 2 * size
        return cls((means[0], means[1]), (variances[0], variances[1]))


def describe(summary: Floats, f0: Floats, energy: Floats, durations: Floats) -> Floats:
    """Describe a model call for the regression.

    Args:
        summary: the decoder's, [512].
        f0: pitch in Hz, [2F].
        energy: [2F].
        durations: frames of each input, [T].

    Returns:
        [523].
    """
    voiced = f0 > _VOICED_HZ
    pitch = np.log(f0[voiced]) if voiced.any() else np.full(1, 5.0)
    frames, inputs = len(f0) / 2, len(durations)
    prosody = [
        voiced.mean(),
        pitch.mean(),
        pitch.std(),
        pitch.max(),
        pitch.min(),
        np.log(frames),
        np.log(inputs),
        frames / inputs,
        energy.mean(),
        energy.std(),
        np.sqrt(frames),
    ]
    return np.concatenate([summary, np.array(prosody)]).astype(np.float32)


class Predictor(Protocol):
    """What predicts statistics for a voice or a blend."""

    def predict(self, description: Floats) -> Statistics:
        """Predict statistics from what `describe` returned."""

    def save(self, file: IO[bytes]) -> None:
        """Write what was fitted."""


@dataclass(frozen=True, slots=True)
class StatisticsMap:
    """A voice's map from descriptions to statistics.

    Attributes:
        input_mean: of the descriptions it was fitted to, [523].
        input_scale: what they are divided by, [523].
        support: those descriptions, so normalised, [N, 523] float16.
        weights: of each of them in each direction of the output, [N, R].
        basis: the directions, [R, 18432] int8.
        basis_scale: what the directions are multiplied by, [R].
        output_mean: of the statistics it was fitted to, [18432] float16.
        output_scale: their deviations, [18432] float16.
    """

    input_mean: Floats
    input_scale: Floats
    support: NDArray[np.float16]
    weights: Floats
    basis: NDArray[np.int8]
    basis_scale: Floats
    output_mean: NDArray[np.float16]
    output_scale: NDArray[np.float16]

    def predict(self, description: Floats) -> Statistics:
        """Predict statistics from what `describe` returned. Takes about a millisecond."""
        return Statistics.of_flat(self.flat(description))

    def flat(self, description: Floats) -> Floats:
        """Predict statistics as `Statistics.flat` has them."""
        normal = (description - self.input_mean) / self.input_scale
        near = _kernel(normal[None], self.support.astype(np.float32))[0]  # (N,)
        # not by BLAS, as in `rtvoice.speech.host`
        directions = np.einsum("n,nr->r", near, self.weights) * self.basis_scale
        mixed = np.einsum("r,rm->m", directions, self.basis.astype(np.float32))
        flat: Floats = mixed * self.output_scale + self.output_mean
        return flat.astype(np.float32, copy=False)

    @classmethod
    def fit(cls, descriptions: Floats, statistics: Floats) -> Self:
        """Fit a map.

        Args:
            descriptions: [N, 523].
            statistics: `Statistics.flat` of each, [N, 18432].
        """
        input_mean, input_scale = descriptions.mean(0), descriptions.std(0) + 1e-6
        input_scale[SUMMARY:] /= _PROSODY_WEIGHT
        support = ((descriptions - input_mean) / input_scale).astype(np.float16)
        output_mean = statistics.mean(0).astype(np.float16)
        output_scale = (statistics.std(0) + 1e-4).astype(np.float16)
        normal = ((statistics - output_mean) / output_scale).astype(np.float64)
        near = _kernel(support.astype(np.float32), support.astype(np.float32)).astype(np.float64)
        weights = np.linalg.solve(near + _RIDGE * np.eye(len(near)), normal)  # (N, 18432)
        _, _, directions = np.linalg.svd(near @ weights, full_matrices=False)
        directions = directions[:_RANK]
        basis_scale = np.abs(directions).max(1) / 127
        return cls(
            input_mean.astype(np.float32),
            input_scale.astype(np.float32),
            support,
            (weights @ directions.T).astype(np.float32),
            np.round(directions / basis_scale[:, None]).astype(np.int8),
            basis_scale.astype(np.float32),
            output_mean,
            output_scale,
        )

    def save(self, file: IO[bytes]) -> None:
        """Write the map."""
        np.savez_compressed(file, allow_pickle=False, **{name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def load(cls, file: IO[bytes]) -> Self:
        """Read a map that `save` wrote. Nothing is unpickled.

        Raises:
            ValueError: it is damaged, or of another model.
        """
        with _reading(), np.load(file, allow_pickle=False) as stored:
            loaded = cls(**{name: stored[name] for name in stored.files})
        if loaded.basis.shape[1:] != (OUTPUTS,) or loaded.support.shape[1:] != (INPUTS,):
            raise ValueError("of another model")
        return loaded


@dataclass(frozen=True, slots=True)
class BlendedMap:
    """A blend's map: the mean of its voices' maps, each with its part, and what that is off by.

    Attributes:
        maps: of the voices.
        parts: of the voices; they add up to 1.
        offset: what is added to the mean of the statistics as `Statistics.flat` has them, [18432] float16.
    """

    maps: tuple[StatisticsMap, ...]
    parts: tuple[float, ...]
    offset: NDArray[np.float16]

    def predict(self, description: Floats) -> Statistics:
        """Predict statistics from what `describe` returned."""
        return Statistics.of_flat(self._mean(description) + self.offset.astype(np.float32))

    @classmethod
    def fit(
        cls, maps: Sequence[StatisticsMap], parts: Sequence[float], descriptions: Floats, statistics: Floats
    ) -> Self:
        """Fit the offset.

        Args:
            maps: of the voices.
            parts: of the voices.
            descriptions: of the blend, [N, 523].
            statistics: `Statistics.flat` of each, [N, 18432].
        """
        unfitted = cls(tuple(maps), tuple(parts), np.zeros(OUTPUTS, np.float16))
        predicted = np.stack([unfitted._mean(description) for description in descriptions])
        return replace(unfitted, offset=(statistics - predicted).mean(0).astype(np.float16))

    def save(self, file: IO[bytes]) -> None:
        """Write the offset, and which maps it belongs to."""
        np.savez_compressed(file, allow_pickle=False, offset=self.offset, belongs=self._identity())

    @classmethod
    def load(cls, file: IO[bytes], maps: Sequence[StatisticsMap], parts: Sequence[float]) -> Self | None:
        """Read what `save` wrote; None if it belongs to other maps than these. Nothing is unpickled.

        Raises:
            ValueError: it is damaged.
        """
        with _reading(), np.load(file, allow_pickle=False) as stored:
            loaded = cls(tuple(maps), tuple(parts), stored["offset"])
            return loaded if np.array_equal(stored["belongs"], loaded._identity()) else None

    def _mean(self, description: Floats) -> Floats:
        weighted = [part * one.flat(description) for part, one in zip(self.parts, self.maps, strict=True)]
        mean: Floats = np.sum(weighted, axis=0, dtype=np.float32)
        return mean

    def _identity(self) -> NDArray[np.uint32]:
        """A number for each map."""
        return np.array([zlib.crc32(one.weights.tobytes()) for one in self.maps], np.uint32)


@contextmanager
def _reading() -> Iterator[None]:
    """Name what goes wrong with a file `ValueError`."""
    try:
        yield
    except (OSError, EOFError, ValueError, TypeError, KeyError, BadZipFile, zlib.error) as error:
        raise ValueError(f"damaged: {error}") from error


def _kernel(a: Floats, b: Floats) -> Floats:
    """Return exp(-width * the mean squared difference) of each row of `a` to each of `b`."""
    squares = (a * a).sum(1)[:, None] + (b * b).sum(1)[None] - 2 * np.einsum("nf,mf->nm", a, b)
    near: Floats = np.exp(-_WIDTH * np.maximum(squares, 0) / a.shape[1])
    return near
