"""What a session is about to send: audio in order, and answers that pass it by."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtvoice.config import SAMPLE_RATE
from rtvoice.protocol.dialect import Reply
from rtvoice.protocol.messages import Cancelled, Error, Loading, Phonemes, Segment, Words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rtvoice.errors import RtvoiceError

_MAX_ANSWERS = 64


@dataclass(frozen=True, slots=True)
class Sound:
    """A frame of audio to be encoded and sent.

    Attributes:
        utterance: the utterance's number.
        samples: shape [N], N >= 1.
        joins: whether they are the last of their segment.
    """

    utterance: int
    samples: NDArray[np.float32]
    joins: bool


@dataclass(frozen=True, slots=True)
class Passed:
    """Behind the audio of the text before a mark."""

    utterance: int
    name: str


@dataclass(frozen=True, slots=True)
class Finish:
    """Behind an utterance's last audio."""

    utterance: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Behind the last audio of an utterance that could not be spoken to its end."""

    utterance: int
    error: RtvoiceError


Speech = Sound | Passed | Finish | Failure | Segment | Words | Phonemes
Answer = Cancelled | Error | Loading | Reply


class Outbox:
    """Two queues for one writer.

    Speech leaves in the order in which it was put in. Answers to the client go before all of it, so that `cancelled`
    does not wait behind audio. Speech is bounded by its writer, who looks at `seconds` and waits for `progress`;
    answers by the reader, who waits for `has_room` before it reads what could need another.
    """

    def __init__(self) -> None:
        self._answers: deque[Answer] = deque()
        self._speech: deque[Speech] = deque()
        self._filled = asyncio.Event()
        self._taken = asyncio.Event()
        self._closed = self._abandoned = False
        self._samples = 0

    @property
    def seconds(self) -> float:
        """Audio that waits."""
        return self._samples / SAMPLE_RATE

    def put(self, speech: Speech) -> None:
        """Add speech behind all that waits."""
        self._speech.append(speech)
        if isinstance(speech, Sound):
            self._samples += len(speech.samples)
        self._filled.set()

    def answer(self, answer: Answer) -> None:
        """Add an answer behind other answers, before all speech."""
        self._answers.append(answer)
        self._filled.set()

    def tell(self, news: Loading) -> None:
        """Add what only matters to a peer who reads: it is left out if an answer waits."""
        if not self._answers:
            self.answer(news)

    def drop(self, utterance: int) -> None:
        """Throw away the speech of an utterance."""
        self._speech = deque(speech for speech in self._speech if speech.utterance != utterance)
        self._samples = sum(len(speech.samples) for speech in self._speech if isinstance(speech, Sound))
        self._taken.set()

    def close(self) -> None:
        """Tell the writer to stop when it has sent what waits. Nothing is added after this."""
        self._closed = True
        self._filled.set()

    def abandon(self) -> None:
        """Tell that nothing is taken any more: nobody waits for room from here on."""
        self._abandoned = True
        self._taken.set()

    async def take(self) -> Answer | Speech | None:
        """Take what is to be sent next; None when closed and empty. Safe to cancel."""
        while not self._answers and not self._speech:
            if self._closed:
                return None
            self._filled.clear()
            await self._filled.wait()
        self._taken.set()
        if self._answers:
            return self._answers.popleft()
        speech = self._speech.popleft()
        if isinstance(speech, Sound):
            self._samples -= len(speech.samples)
        return speech

    async def progress(self, within: float | None) -> None:
        """Wait until something is taken or dropped, at most `within` seconds."""
        self._taken.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._taken.wait()

    async def has_room(self) -> None:
        """Wait until there is room for the answers to another message."""
        while len(self._answers) >= _MAX_ANSWERS and not self._abandoned:
            await self.progress(None)
