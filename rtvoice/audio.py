"""Samples and bytes: the formats that audio leaves in, and stretches of whole samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtvoice.config import AUDIO_FORMATS
from rtvoice.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_DTYPES: dict[str, np.dtype[np.int16] | np.dtype[np.float32]] = {
    "pcm_s16le": np.dtype("<i2"),
    "pcm_f32le": np.dtype("<f4"),
}
_FULL_SCALE = 32_767


def encode(samples: NDArray[np.float32], audio_format: str) -> bytes:
    """Write samples as bytes.

    Args:
        samples: shape [N], -1 to 1; what lies outside is clipped.
        audio_format: one of `config.AUDIO_FORMATS`. 16 bit samples are rounded to the nearest step.

    Raises:
        InvalidInput: there is no such format.
    """
    dtype = _dtype(audio_format)
    within = np.clip(samples, -1.0, 1.0)
    if dtype.kind == "i":
        within = np.rint(within * _FULL_SCALE)
    return within.astype(dtype).tobytes()


def decode(data: bytes | memoryview, audio_format: str) -> NDArray[np.float32]:
    """Read bytes as samples, shape [N], -1 to 1: the inverse of `encode`.

    Raises:
        InvalidInput: there is no such format, or the bytes are no whole number of samples.
    """
    dtype = _dtype(audio_format)
    if len(data) % dtype.itemsize:
        raise InvalidInput(f"{len(data)} bytes are no whole number of {audio_format} samples.", field="data")
    samples = np.frombuffer(data, dtype).astype(np.float32)
    if dtype.kind == "i":
        samples /= _FULL_SCALE
    return samples


def cut(samples: NDArray[np.float32], length: int) -> Iterator[NDArray[np.float32]]:
    """Cut samples, shape [N], into views of `length`, the last one shorter. None is empty."""
    for start in range(0, len(samples), length):
        yield samples[start : start + length]


def _dtype(audio_format: str) -> np.dtype[np.int16] | np.dtype[np.float32]:
    try:
        return _DTYPES[audio_format]
    except KeyError:
        raise InvalidInput(
            f"There is no audio format {audio_format!r}.", field="format", allowed=AUDIO_FORMATS
        ) from None
