"""Sentences to listen to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtvoice.config import AudioFormat
from rtvoice.encoders import Encoder, available_formats

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

MEDIA = {".opus": "audio/ogg", ".wav": "audio/wav"}
"""What files of samples are, by how their names end."""


def write_sample(folder: Path, name: str, samples: NDArray[np.float32]) -> str:
    """Write a sentence as Opus, where that can be made, else as WAV.

    Args:
        folder: made if it is not there.
        name: of the engine.
        samples: [N], at 24 kHz.

    Returns:
        The file's name.
    """
    encoding = "opus" if "opus" in available_formats() else "wav"
    encoder = Encoder(AudioFormat(encoding))
    data = encoder.encode(samples, joins=False)[1] + encoder.finish()[1]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.{encoding}"
    file.write_bytes(data)
    return file.name
