"""Samples and bytes: the formats that audio leaves in, and stretches of whole samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtvoice.companding import compand, expand
from rtvoice.config import PCM_FORMATS, SAMPLE_RATE
from rtvoice.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

FADE_SAMPLES = 3 * SAMPLE_RATE // 1000
"""How long a fade is at the model's rate: 3 ms."""

_FULL_SCALE = 32_767
_LAWS = ("mulaw", "alaw")


def encode(samples: NDArray[np.float32], audio_format: str) -> bytes:
    """Write samples as bytes.

    Args:
        samples: shape [N], -1 to 1; what lies outside is clipped.
        audio_format: one of `config.PCM_FORMATS`. All but `pcm_f32le` are rounded to the nearest 16 bit step.

    Raises:
        InvalidInput: there is no such format.
    """
    _check(audio_format)
    within = np.clip(samples, -1.0, 1.0)
    if audio_format == "pcm_f32le":
        return within.astype("<f4").tobytes()
    steps = np.rint(within * _FULL_SCALE)
    if audio_format in _LAWS:
        return compand(steps.astype(np.int16), audio_format).tobytes()
    return steps.astype("<i2").tobytes()


def decode(data: bytes | memoryview, audio_format: str) -> NDArray[np.float32]:
    """Read bytes as samples, shape [N], -1 to 1: the inverse of `encode`, to the format's precision.

    Raises:
        InvalidInput: there is no such format, or the bytes are no whole number of samples.
    """
    _check(audio_format)
    if len(data) % PCM_FORMATS[audio_format]:
        raise InvalidInput(f"{len(data)} bytes are no whole number of {audio_format} samples.", field="data")
    if audio_format == "pcm_f32le":
        return np.frombuffer(data, "<f4").astype(np.float32)
    if audio_format in _LAWS:
        return expand(np.frombuffer(data, np.uint8), audio_format).astype(np.float32) / np.float32(_FULL_SCALE)
    return np.frombuffer(data, "<i2").astype(np.float32) / np.float32(_FULL_SCALE)


def cut(samples: NDArray[np.float32], length: int) -> Iterator[NDArray[np.float32]]:
    """Cut samples, shape [N], into views of `length`, the last one shorter. None is empty."""
    for start in range(0, len(samples), length):
        yield samples[start : start + length]


class Fader:
    """Fades a stretch of sound in at its start and out at its end, so that joins make no click.

    Sound passes through in order; the last few milliseconds stay here until more comes or the stretch ends.
    """

    def __init__(self) -> None:
        self._held = np.zeros(0, np.float32)
        self._passed = 0

    def push(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """Take samples [N] and return those that are not the last ones for sure, [M], perhaps none."""
        faded = samples.copy()
        rising = faded[: max(0, FADE_SAMPLES - self._passed)]
        rising *= _ramp(self._passed, len(rising))
        self._passed += len(faded)
        joined = np.concatenate([self._held, faded])
        keep = max(0, len(joined) - FADE_SAMPLES)
        self._held = joined[keep:]
        return joined[:keep]

    def finish(self) -> NDArray[np.float32]:
        """End the stretch: return its last samples, [M], at most `FADE_SAMPLES`. Another one may begin."""
        last, self._held, self._passed = self._held, np.zeros(0, np.float32), 0
        return last * _ramp(0, len(last))[::-1]


def _ramp(start: int, length: int) -> NDArray[np.float32]:
    """A part of the rise from silence to full sound, shape [length]."""
    return (np.arange(start, start + length, dtype=np.float32) + np.float32(0.5)) / np.float32(FADE_SAMPLES)


def _check(audio_format: str) -> None:
    if audio_format not in PCM_FORMATS:
        raise InvalidInput(
            f"There is no format of bare samples {audio_format!r}.", field="format", allowed=tuple(PCM_FORMATS)
        )
