"""The head of a WAV file, for samples that are all there and for samples that are still coming."""

from __future__ import annotations

import struct

from rtvoice.config import SAMPLE_RATE

_CODES = {"pcm_s16le": (1, 16), "pcm_f32le": (3, 32)}
"""Format code and bits of a sample: whole numbers are 1, floating-point numbers 3."""

UNKNOWN = 0xFFFF_FFFF
"""What streams have for their length."""


def wav_header(audio_format: str, data_bytes: int | None = None) -> bytes:
    """Return the 44 bytes before the samples: mono, 24 kHz.

    Args:
        audio_format: `pcm_s16le` or `pcm_f32le`.
        data_bytes: length of the samples behind it; None if it is not known yet.

    Raises:
        ValueError: so much does not fit into a WAV file (4 GB: a day of 16 bit samples).
    """
    code, bits = _CODES[audio_format]
    if data_bytes is not None and data_bytes + 36 > UNKNOWN:
        raise ValueError(f"{data_bytes} bytes do not fit into a WAV file")
    data, riff = (UNKNOWN, UNKNOWN) if data_bytes is None else (data_bytes, data_bytes + 36)
    width = bits // 8
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", riff, b"WAVE"),
        *(b"fmt ", 16, code, 1, SAMPLE_RATE, SAMPLE_RATE * width, width, bits),
        *(b"data", data),
    )
