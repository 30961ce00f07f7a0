"""The head of a WAV file, for samples that are all there and for samples that are still coming."""

from __future__ import annotations

import struct

from rtvoice.config import PCM_FORMATS, SAMPLE_RATE

_CODES = {"pcm_s16le": 1, "pcm_f32le": 3, "alaw": 6, "mulaw": 7}
"""How WAV files name the formats of samples."""

UNKNOWN = 0xFFFF_FFFF
"""What streams have for their length."""


def wav_header(audio_format: str, rate: int = SAMPLE_RATE, data_bytes: int | None = None) -> bytes:
    """Return what stands before the samples, which are mono.

    Args:
        audio_format: one of `config.PCM_FORMATS`.
        rate: samples a second.
        data_bytes: length of the samples behind it; None if it is not known yet.

    Raises:
        ValueError: so much does not fit into a WAV file (4 GB: a day of 16 bit samples at 24 kHz).
    """
    width = PCM_FORMATS[audio_format]
    described = struct.pack("<HHIIHH", _CODES[audio_format], 1, rate, rate * width, width, 8 * width)
    chunks = struct.pack("<4sI", b"fmt ", len(described)) + described
    if audio_format in {"alaw", "mulaw"}:  # these say how many samples there are
        chunks += struct.pack("<4sII", b"fact", 4, UNKNOWN if data_bytes is None else data_bytes // width)
    riff, data = UNKNOWN, UNKNOWN
    if data_bytes is not None:
        riff, data = len(b"WAVE") + len(chunks) + 8 + data_bytes, data_bytes
        if riff > UNKNOWN:
            raise ValueError(f"{data_bytes} bytes do not fit into a WAV file")
    return struct.pack("<4sI4s", b"RIFF", riff, b"WAVE") + chunks + struct.pack("<4sI", b"data", data)
