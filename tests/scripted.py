"""A synthesizer that follows a script: tones instead of speech, with delays and failures on demand."""

from __future__ import annotations

import asyncio
import math
import time
import zlib
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from rtvoice.config import SAMPLE_RATE
from rtvoice.errors import InvalidInput, SynthesisFailed
from rtvoice.speech.synthesizer import AudioSlice, PhonemeTime, SpeechOptions, Synthesizer, VoiceInfo, WordTime
from rtvoice.text.segment import Pause

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from numpy.typing import NDArray

    from rtvoice.speech.turn import Turn
    from rtvoice.text.segment import Passage, Script

VOICES = (VoiceInfo("af_heart", "en-us", "female"), VoiceInfo("bm_george", "en-gb", "male"))
LANGUAGES = ("en-us", "en-gb")
WORD_S = 0.2

Time = TypeVar("Time", WordTime, PhonemeTime)


class ScriptedSynthesizer(Synthesizer):
    """Speaks each word as a tone of its own, 0.2 s long at speed 1. Its characters are its phonemes, equally long.

    Args:
        delay_s: how long each slice takes to make.
        slice_s: length of a slice.
        fails_on: a segment with this text in it fails after its first slice.
        fault: what it fails with.
        gate: no slice is made while this is not set.
    """

    def __init__(
        self,
        *,
        delay_s: float = 0.0,
        slice_s: float = 0.2,
        fails_on: str | None = None,
        fault: Exception | None = None,
        gate: asyncio.Event | None = None,
    ) -> None:
        self.delay_s = delay_s
        self.slice_s = slice_s
        self.fails_on = fails_on
        self.fault = fault if fault is not None else SynthesisFailed("The segment could not be spoken.")
        self.gate = gate
        self.entered = 0
        self.running = 0
        self.most_running = 0
        self.slices_made = 0
        self.seconds_made = 0.0
        self.segments: list[str] = []

    @property
    def voices(self) -> tuple[VoiceInfo, ...]:
        return VOICES

    @property
    def languages(self) -> tuple[str, ...]:
        return LANGUAGES

    def check(self, options: SpeechOptions) -> None:
        self.voice(options.voice)
        if options.language is not None and options.language not in LANGUAGES:
            raise InvalidInput("There is no such language.", field="language", allowed=LANGUAGES)
        if not 0.5 <= options.speed <= 2.0:
            raise InvalidInput("The speed is out of range.", field="speed", allowed="a number from 0.5 to 2.0")

    async def speak(
        self, script: Script, options: SpeechOptions, *, ordinal: int, turn: Turn | None = None
    ) -> AsyncGenerator[AudioSlice, None]:
        self.segments.append(script.segment.text)
        samples, words, phonemes = sound_of(script, options)
        length = round(self.slice_s * SAMPLE_RATE)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            for start in range(0, len(samples), length):
                if start and self.fails_on is not None and self.fails_on in script.segment.text:
                    raise self.fault
                if self.gate is not None:
                    await self.gate.wait()
                await asyncio.sleep(self.delay_s)
                if turn is not None:
                    turn.account.charge(self.delay_s, 0.0, time.monotonic())
                piece = samples[start : start + length].copy()
                self.slices_made += 1
                self.seconds_made += len(piece) / SAMPLE_RATE
                end = start + len(piece)
                yield AudioSlice(piece, _within(words, start, end), _within(phonemes, start, end))
        finally:
            self.running -= 1

    async def __aenter__(self) -> Self:
        self.entered += 1
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self.entered -= 1


def sound_of(script: Script, options: SpeechOptions) -> tuple[NDArray[np.float32], list[WordTime], list[PhonemeTime]]:
    """A segment's samples [N] and the times of its words and phonemes, from nothing but its script and the options."""
    stretches = [np.zeros(0, np.float32)]
    words, phonemes = [], []
    for part in script.parts:
        if isinstance(part, Pause):
            stretches.append(np.zeros(round(part.seconds * SAMPLE_RATE), np.float32))
            continue
        for word in part.words:
            said = part.text[word.at : word.to]
            tone = _tone(said, options, part)
            start = sum(map(len, stretches))
            edges = [(start + len(tone) * n // len(said)) / SAMPLE_RATE for n in range(len(said) + 1)]
            words.append(WordTime(word.start, word.end, edges[0], edges[-1]))
            phonemes += map(PhonemeTime, said, edges, edges[1:])
            stretches.append(tone)
    return np.concatenate(stretches), words, phonemes


def _within(times: list[Time], start: int, end: int) -> tuple[Time, ...]:
    """Those that begin between two samples."""
    return tuple(time for time in times if start <= round(time.start_s * SAMPLE_RATE) < end)


def _tone(word: str, options: SpeechOptions, passage: Passage) -> NDArray[np.float32]:
    samples = round(WORD_S / (options.speed * passage.rate) * SAMPLE_RATE)
    hertz = 200 + zlib.crc32(f"{word} {passage.voice or options.voice} {options.seed}".encode()) % 400
    return (0.5 * np.sin(2 * math.pi * hertz / SAMPLE_RATE * np.arange(samples))).astype(np.float32)
