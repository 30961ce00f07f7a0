"""Fits the map of a voice or a blend: speaks sentences in the exact form and learns what the norms measured."""

from __future__ import annotations

import asyncio
import functools
from importlib import resources
from typing import TYPE_CHECKING, Final

import numpy as np

from rtvoice.speech.pieces import cut
from rtvoice.speech.statistics import BlendedMap, StatisticsMap
from rtvoice.speech.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rtvoice.speech.acoustics import Acoustics
    from rtvoice.speech.phonemes import Phonemizer
    from rtvoice.speech.statistics import Predictor
    from rtvoice.speech.voices import VoiceStore

SPEEDS: Final = (1.0, 1.0, 1.15, 1.0, 0.85, 1.0, 1.0, 1.4, 1.0, 0.7, 1.0, 1.0, 1.8, 1.0, 0.55)
"""Speeds at which the sentences are spoken, in turn."""


_LONG: Final = 100
"""Characters of a text that is spoken slowly only when thorough: the exact form's memory grows with its duration."""

_AT_ONCE: Final = 4
"""Sentences under way at once, so that no stream of the pool waits for a step of the host."""


def sentences() -> list[str]:
    """Return the sentences that come with the package; any first part of them has all lengths and kinds."""
    file = resources.files("rtvoice.speech") / "data" / "sentences.txt"
    return file.read_text("utf-8").splitlines()


async def fit_statistics(
    acoustics: Acoustics,
    phonemizer: Phonemizer,
    voices: VoiceStore,
    voice: str,
    language: str,
    texts: Sequence[str],
    progress: Callable[[float], None],
    *,
    thorough: bool = False,
) -> Predictor:
    """Fit the map of a voice or a blend.

    Args:
        acoustics: where the exact form runs.
        phonemizer: reads the texts.
        voices: has the voice, or the voices of the blend and their maps.
        voice: its name.
        language: one that the phonemizer reads.
        texts: what is spoken, one call of the model each; of a text too long for one, its first part.
        progress: told the part that is done, 0 to 1.
        thorough: speak long texts slowly as well, which takes 5 GB of memory a stream rather than 3.

    Raises:
        InvalidInput: there is no such voice, or a voice of the blend has no map.
        SynthesisFailed: a sentence cannot be spoken.
    """
    blended = voices.blended(voice)
    under_way = asyncio.Semaphore(_AT_ONCE)
    done = 0

    async def speak(number: int, text: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        nonlocal done
        speed = SPEEDS[number % len(SPEEDS)]
        if len(text) > _LONG and not thorough:
            speed = max(speed, 1.0)
        async with under_way:
            piece, *_ = cut(await phonemizer.phonemise(text, language))
            style = voices.style(voice, len(piece.phonemes))
            turn, noise = Turn(), np.random.default_rng(number)
            features = await acoustics.features(piece.phonemes, style, speed, turn)
            statistics = await acoustics.measure(features, style, noise, turn)
        done += 1
        progress(done / len(texts))
        return features.description, statistics.flat()

    try:
        async with asyncio.TaskGroup() as speaking:
            tasks = [speaking.create_task(speak(number, text)) for number, text in enumerate(texts)]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    descriptions, statistics = zip(*(task.result() for task in tasks), strict=True)
    fit = StatisticsMap.fit if blended is None else functools.partial(BlendedMap.fit, *blended)
    return await asyncio.to_thread(fit, np.stack(descriptions), np.stack(statistics))
