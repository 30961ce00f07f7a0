"""G.711: the 8 bit samples of telephony, mu-law and A-law, to and from 16 bit samples (ITU-T G.711, 1988)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BIAS = 132  # moves mu-law's segments to powers of two
_MULAW_CLIP = 32_635  # what lies above would not fit with the bias
_ALAW_EVEN_BITS = 0x55  # are sent inverted


def compand(samples: NDArray[np.int16], law: str) -> NDArray[np.uint8]:
    """Write 16 bit samples, shape [N], as 8 bit ones of a law (`mulaw` or `alaw`)."""
    return _codes(law)[samples.view(np.uint16)]


def expand(codes: NDArray[np.uint8], law: str) -> NDArray[np.int16]:
    """Read 8 bit samples of a law, shape [N], as 16 bit ones: the inverse of `compand`, to the law's precision."""
    return _levels(law)[codes]


@cache
def _codes(law: str) -> NDArray[np.uint8]:
    """The code of every 16 bit sample, by its bits: shape [65536]."""
    samples = np.arange(1 << 16, dtype=np.uint16).view(np.int16).astype(np.int32)
    return _to_mulaw(samples) if law == "mulaw" else _to_alaw(samples)


@cache
def _levels(law: str) -> NDArray[np.int16]:
    """The sample of every code: shape [256]."""
    codes = np.arange(256, dtype=np.int32)
    return _from_mulaw(codes) if law == "mulaw" else _from_alaw(codes)


def _to_mulaw(samples: NDArray[np.int32]) -> NDArray[np.uint8]:
    size = np.minimum(np.abs(samples), _MULAW_CLIP) + _BIAS
    exponent = np.frexp(size)[1] - 8  # 0 for the lowest segment, whose sizes have 8 bits
    mantissa = (size >> (exponent + 3)) & 0x0F
    sign = np.where(samples < 0, 0x80, 0)
    codes: NDArray[np.int32] = ~(sign | (exponent << 4) | mantissa)
    return codes.astype(np.uint8)


def _from_mulaw(codes: NDArray[np.int32]) -> NDArray[np.int16]:
    bits = ~codes & 0xFF
    size = ((((bits & 0x0F) << 3) + _BIAS) << ((bits >> 4) & 0x07)) - _BIAS
    return np.where(bits & 0x80, -size, size).astype(np.int16)


def _to_alaw(samples: NDArray[np.int32]) -> NDArray[np.uint8]:
    thirteen = samples >> 3
    size = np.where(thirteen < 0, -thirteen - 1, thirteen)
    exponent = np.maximum(np.frexp(size)[1] - 5, 0)
    mantissa = np.where(exponent > 1, size >> np.maximum(exponent, 1), size >> 1) & 0x0F
    sign = np.where(samples < 0, 0, 0x80)
    codes: NDArray[np.int32] = (sign | (exponent << 4) | mantissa) ^ _ALAW_EVEN_BITS
    return codes.astype(np.uint8)


def _from_alaw(codes: NDArray[np.int32]) -> NDArray[np.int16]:
    bits = codes ^ _ALAW_EVEN_BITS
    exponent = (bits >> 4) & 0x07
    size = ((bits & 0x0F) << 4) + np.where(exponent, 0x108, 8)
    size <<= np.maximum(exponent - 1, 0)
    return np.where(bits & 0x80, size, -size).astype(np.int16)
