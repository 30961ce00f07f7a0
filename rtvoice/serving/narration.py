"""From the text of an utterance, as it arrives, to its audio in order.

This is the one way through the house: sessions on a socket and the engine in process both use it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import aclosing
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final

import numpy as np

from rtvoice.audio import Fader
from rtvoice.config import SAMPLE_RATE
from rtvoice.errors import InvalidInput
from rtvoice.protocol.messages import Phoneme, Word
from rtvoice.speech.synthesizer import AudioSlice
from rtvoice.text.front import TextFront, TextOptions
from rtvoice.text.stops import ends_sentence

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from numpy.typing import NDArray

    from rtvoice.speech.synthesizer import PhonemeTime, SpeechOptions, Synthesizer, WordTime
    from rtvoice.speech.turn import Turn
    from rtvoice.text.segment import Script, Segment

_PIECE = 256
"""Characters of text read at once: what is ahead of the voice is not worth blocking the loop for."""


class Mark(Enum):
    """What may stand between two pieces of text."""

    FLUSH = "flush"


FLUSH: Final = Mark.FLUSH
"""Speak what came before without waiting for the end of its sentence."""


class TextInbox:
    """The text of one utterance on its way from who sends it to who speaks it.

    One task writes, another iterates. It holds as much as is put in: the writer keeps to the limit on an utterance's
    text, or waits for `emptied`.
    """

    def __init__(self) -> None:
        self._pieces: deque[str | Mark] = deque()
        self._ended = False
        self._error: Exception | None = None
        self._arrived = asyncio.Event()
        self._emptied = asyncio.Event()
        self._awaited = False

    @property
    def is_awaited(self) -> bool:
        """Whether all that was added has been read, and the reader waits for more."""
        return self._awaited and not self._pieces

    def push(self, text: str) -> None:
        """Add text."""
        self._pieces.extend(text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
        self._arrived.set()

    def flush(self) -> None:
        """Add a flush behind the text that was added."""
        if not self._pieces or self._pieces[-1] is not FLUSH:  # two are as good as one, and need no room
            self._pieces.append(FLUSH)
        self._arrived.set()

    def end(self) -> None:
        """Tell that no more text comes."""
        self._ended = True
        self._arrived.set()

    def fail(self, error: Exception) -> None:
        """Tell that no more text comes, for a reason that is raised when the text before it has been read."""
        self._error = error
        self.end()

    async def emptied(self) -> None:
        """Wait until all that was added has been read."""
        while self._pieces:
            self._emptied.clear()
            await self._emptied.wait()

    def __aiter__(self) -> TextInbox:
        return self

    async def __anext__(self) -> str | Mark:
        """Read the next piece, at most 256 characters. Safe to cancel: nothing is lost."""
        while not self._pieces:
            if self._error is not None:
                raise self._error
            if self._ended:
                raise StopAsyncIteration
            self._arrived.clear()
            self._awaited = True
            try:
                await self._arrived.wait()
            finally:
                self._awaited = False
        piece = self._pieces.popleft()
        if not self._pieces:
            self._emptied.set()
        return piece


@dataclass(frozen=True, slots=True)
class SpokenAudio:
    """A stretch of an utterance's audio.

    Attributes:
        segment: the sentence or clause it belongs to, with its characters in the utterance.
        opens: whether it is the segment's first.
        closes: whether it is the segment's last.
        index: of its first sample in the utterance. Stretches follow each other without a gap.
        samples: mono, 24 kHz, float32 in -1..1, shape [N], N >= 1.
        words: those that begin in it or just behind it, in order; times are in seconds from the utterance's first
            sample.
        phonemes: likewise; see `PhonemeTime` for what one is.
    """

    segment: Segment
    opens: bool
    closes: bool
    index: int
    samples: NDArray[np.float32]
    words: tuple[Word, ...]
    phonemes: tuple[Phoneme, ...]


async def narrate(
    text: AsyncIterator[str | Mark],
    synthesizer: Synthesizer,
    options: SpeechOptions,
    turn: Turn | None = None,
    *,
    reading: TextOptions | None = None,
    pause_s: float = 0.0,
) -> AsyncGenerator[SpokenAudio, None]:
    """Speak an utterance.

    Args:
        text: its text in any pieces, with flushes between them.
        synthesizer: entered, and the options checked by it.
        options: how it sounds.
        turn: for whom, if anything is known of them.
        reading: how the text is read; its language is the speech's, its voices are those that can be spoken.
        pause_s: silence between two sentences, beside what the voice makes itself.

    Yields:
        Its audio in order, each segment faded in and out. A segment is begun when the audio before it has been taken,
        so whoever iterates sets the pace. Text with nothing to say yields nothing.

    Raises:
        SynthesisFailed: a segment could not be spoken; what was yielded stands.

    Leave it with `aclose()` or by cancelling the task that awaits it.
    """
    index = ordinal = 0
    pause = np.zeros(0, np.float32)
    reading = replace(
        reading or TextOptions(),
        language=_language(synthesizer, options),
        voices=lambda voice: _is_spoken(synthesizer, replace(options, voice=voice)),
    )
    front = TextFront(reading)
    async with aclosing(_scripts(text, front)) as scripts:
        async for script in scripts:
            begins = index
            slices = synthesizer.speak(script, options, ordinal=ordinal, turn=turn)
            async with aclosing(_stretches(slices, pause)) as stretches:
                offset_s = (begins + len(pause)) / SAMPLE_RATE
                async for audio, closes in stretches:
                    words = _words(script.segment, audio.words, offset_s)
                    phonemes = _phonemes(audio.phonemes, offset_s)
                    yield SpokenAudio(script.segment, index == begins, closes, index, audio.samples, words, phonemes)
                    index += len(audio.samples)
            if index > begins:
                ends = pause_s > 0 and ends_sentence(script.segment.text)
                pause = np.zeros(round(pause_s * SAMPLE_RATE) if ends else 0, np.float32)
            ordinal += 1


async def _stretches(
    slices: AsyncGenerator[AudioSlice, None], pause: NDArray[np.float32]
) -> AsyncGenerator[tuple[AudioSlice, bool], None]:
    """A segment's audio behind a pause, faded in and out, and whether it is the last. Times do not count the pause.

    Nothing, if there are no slices. The last few milliseconds of a slice come with the next one, or as a stretch of
    their own at the end.
    """
    fader = Fader()
    words: tuple[WordTime, ...] = ()
    phonemes: tuple[PhonemeTime, ...] = ()
    silence: NDArray[np.float32] | None = pause
    failure: Exception | None = None
    async with aclosing(slices):
        try:
            async for piece in slices:
                samples = fader.push(piece.samples)
                words += piece.words
                phonemes += piece.phonemes
                if silence is not None:
                    samples, silence = np.concatenate([silence, samples]), None
                if len(samples):
                    yield AudioSlice(samples, words, phonemes), False
                    words, phonemes = (), ()
        except Exception as error:  # raised below, behind what was made before it
            failure = error
    rest = fader.finish()
    if len(rest):
        yield AudioSlice(rest, words, phonemes), failure is None
    if failure is not None:
        raise failure


async def _scripts(text: AsyncIterator[str | Mark], front: TextFront) -> AsyncGenerator[Script, None]:
    async for piece in text:
        for script in front.flush() if isinstance(piece, Mark) else front.push(piece):
            yield script
    for script in front.flush():
        yield script


def _words(segment: Segment, words: tuple[WordTime, ...], offset_s: float) -> tuple[Word, ...]:
    return tuple(
        Word(
            text=segment.text[word.start - segment.start : word.end - segment.start],
            start=word.start,
            end=word.end,
            start_s=round(offset_s + word.start_s, 4),
            end_s=round(offset_s + word.end_s, 4),
        )
        for word in words
    )


def _phonemes(phonemes: tuple[PhonemeTime, ...], offset_s: float) -> tuple[Phoneme, ...]:
    return tuple(
        Phoneme(
            phoneme=sound.phoneme, start_s=round(offset_s + sound.start_s, 4), end_s=round(offset_s + sound.end_s, 4)
        )
        for sound in phonemes
    )


def _is_spoken(synthesizer: Synthesizer, options: SpeechOptions) -> bool:
    try:
        synthesizer.check(options)
    except InvalidInput:
        return False
    return True


def _language(synthesizer: Synthesizer, options: SpeechOptions) -> str:
    if options.language is not None:
        return options.language
    return synthesizer.voice(options.voice).language
