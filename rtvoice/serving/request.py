"""What a session holds of one utterance: its text on the way in, its marks, its audio on the way out."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from rtvoice.encoders import Encoder
from rtvoice.protocol.messages import Audio
from rtvoice.serving.narration import TextInbox
from rtvoice.serving.outbox import Passed

if TYPE_CHECKING:
    import asyncio

    import numpy as np
    from numpy.typing import NDArray

    from rtvoice.config import AudioFormat
    from rtvoice.serving.admission import Waiting
    from rtvoice.serving.pacing import PlaybackClock
    from rtvoice.speech.synthesizer import SpeechOptions
    from rtvoice.speech.turn import Account
    from rtvoice.text.front import TextOptions


class Request:
    """What the session holds of an utterance that has not ended.

    Args:
        number: the utterance's.
        options: how it sounds.
        audio_format: what it leaves as.
        reading: how its text is read.
        pause_s: silence between its sentences.
        listener: who hears it.
        account: what it takes is charged to.
        phoneme_times: whether the times of its phonemes are told.

    Attributes:
        rate: samples a second that it leaves at.
        inbox: its text on the way to who speaks it.
        samples_sent: at the model's rate.
        cold_start_s: time in which it waited for the model to be loaded.
        task: speaks it, once its turn has come.
        waiting: its entry with the admission, once there is something to say.
    """

    def __init__(
        self,
        number: int,
        options: SpeechOptions,
        audio_format: AudioFormat,
        reading: TextOptions,
        pause_s: float,
        listener: PlaybackClock,
        account: Account,
        *,
        phoneme_times: bool = False,
    ) -> None:
        self.number = number
        self.options = options
        self.reading = reading
        self.rate = audio_format.sample_rate
        self.pause_s = pause_s
        self.listener = listener
        self.account = account
        self.phoneme_times = phoneme_times
        self._encoder = Encoder(audio_format)
        self.inbox = TextInbox()
        self.samples_sent = 0
        self.cold_start_s = 0.0
        self.task: asyncio.Task[None] | None = None
        self.waiting: Waiting | None = None
        self._arrived = self._ink = self._spoken = 0  # characters: all, to the last that is no space, made into audio
        self._marks: deque[tuple[int, str]] = deque()

    def push(self, text: str) -> None:
        """Take text that arrived."""
        ink = len(text.rstrip())
        if ink:
            self._ink = self._arrived + ink
        self._arrived += len(text)
        self.inbox.push(text)

    @property
    def has_text(self) -> bool:
        """Whether any text arrived."""
        return self._arrived > 0

    def mark(self, name: str) -> None:
        """Take a mark behind the text that arrived."""
        self._marks.append((self._ink, name))

    def passed(self, spoken: int | None = None) -> list[Passed]:
        """Marks that the audio made so far has passed.

        Args:
            spoken: how many characters it speaks, if that has changed; from the end of all of it on, no less than all.
        """
        if spoken is not None:
            self._spoken = max(self._spoken, spoken)
        names = []
        while self._marks and self._marks[0][0] <= self._spoken:
            names.append(self._marks.popleft()[1])
        return [Passed(self.number, name) for name in names]

    def encode(self, samples: NDArray[np.float32], *, joins: bool) -> list[Audio]:
        """Write samples [N] as what is sent of them now, perhaps nothing; `joins` if a segment ends with them."""
        self.samples_sent += len(samples)
        return self._audio(*self._encoder.encode(samples, joins=joins))

    def finish(self) -> list[Audio]:
        """Write what is left of its audio."""
        return self._audio(*self._encoder.finish())

    def _audio(self, position: int, data: bytes) -> list[Audio]:
        return [Audio(utterance=self.number, sample=position, data=data)] if data else []

    @property
    def costs_ms(self) -> dict[str, int]:
        """What it has taken, as `Conversation.note_costs` is told."""
        return {
            "queue_ms": round(self.account.waited_s * 1000),
            "compute_ms": round(self.account.used_s * 1000),
            "cold_start_ms": round(self.cold_start_s * 1000),
        }

    def heard(self) -> None:
        """Note that there is audio of it."""
        if self.waiting is not None:
            self.waiting.heard(self.account.used_s)

    def drop_work(self) -> None:
        """Stop speaking it."""
        if self.waiting is not None:
            self.waiting.over()
        if self.task is not None:
            self.task.cancel()
            # A task that was cancelled keeps the frames it was cancelled in, and so this object and all audio that it
            # refers to: without the circle it goes at once, not when the collector comes by.
            self.task = None
