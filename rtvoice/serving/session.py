"""One connection: a reader, a speaker and a writer around the protocol's conversation.

The *reader* takes messages and never waits for speech, so that a `cancel` is always heard. The *speaker* makes the
audio of one utterance after the other, no further ahead of the listener than it may. The *writer* sends it, and alone
decides what has been sent. A peer who does not read stops the writer, then the speaker, then the reader, and nobody
else.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from rtvoice._version import __version__
from rtvoice.audio import cut
from rtvoice.audio import encode as encode_samples
from rtvoice.config import AUDIO_FORMATS, MAX_SPEED, MIN_SPEED, SAMPLE_RATE
from rtvoice.errors import InvalidInput, RtvoiceError, ServerStopping
from rtvoice.protocol.codec import encode
from rtvoice.protocol.conversation import Conversation, Opened, Step
from rtvoice.protocol.messages import (
    PROTOCOL_VERSION,
    Audio,
    Cancel,
    Cancelled,
    Done,
    End,
    Error,
    Flush,
    Ready,
    Segment,
    SessionLimits,
    Speak,
    Voice,
    Words,
)
from rtvoice.serving.logs import trace
from rtvoice.serving.narration import SpokenAudio, TextInbox, narrate
from rtvoice.serving.outbox import Answer, Failure, Finish, Outbox, Sound, Speech
from rtvoice.serving.pacing import PlaybackClock
from rtvoice.speech.synthesizer import SpeechOptions
from rtvoice.speech.turn import Account, Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from rtvoice.config import ServerConfig
    from rtvoice.speech.synthesizer import Synthesizer

_FRAME = SAMPLE_RATE // 10
"""Samples of one audio frame at most."""


class PeerGone(Exception):
    """The connection is closed; nothing more can be sent."""


class Peer(Protocol):
    """The other end of a connection, as a session sees it."""

    async def receive(self) -> str | bytes | None:
        """Wait for a message; None when the connection is closed. Safe to cancel."""

    async def send(self, data: str | bytes) -> None:
        """Send a message; returns when the next one may be sent.

        Raises:
            PeerGone: the connection is closed.
        """

    async def close(self, code: int, reason: str) -> None:
        """Close the connection; returns when it is closed, within a deadline."""


@dataclass(slots=True)
class _Utterance:
    """What the session holds of an utterance that has not ended."""

    number: int
    options: SpeechOptions
    audio_format: str
    inbox: TextInbox = field(default_factory=TextInbox)
    samples_sent: int = 0
    task: asyncio.Task[None] | None = None

    def drop_work(self) -> None:
        if self.task is not None:
            self.task.cancel()


class Session:
    """One connection's life. `run` it once.

    Args:
        peer: the other end.
        synthesizer: entered.
        config: limits and pace.
        log: where events go, bound to the connection.
        account: of whoever it belongs to, beside other sessions, if it belongs to anybody.
        clock: a steady clock, in seconds.
    """

    def __init__(
        self,
        peer: Peer,
        synthesizer: Synthesizer,
        config: ServerConfig,
        log: FilteringBoundLogger,
        account: Account | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._peer = peer
        self._synthesizer = synthesizer
        self._config = config
        self._log = log
        self._account = Account(account)
        self._now = clock
        self._conversation = Conversation(config.limits, self._check)
        self._outbox = Outbox()
        self._listener = PlaybackClock()
        self._utterances: dict[int, _Utterance] = {}
        self._opened = asyncio.Event()
        self._stopping = False

    async def run(self) -> None:
        """Serve until the peer closes or `stop` has closed the connection.

        Cancelling it drops all work. It does not close the connection, whose owner does.
        """
        try:
            await self._peer.send(encode(self._ready()))
        except PeerGone:
            return
        async with asyncio.TaskGroup() as group:
            loops = [
                group.create_task(self._write(), name="writer"),
                group.create_task(self._speak(group), name="speaker"),
            ]
            await self._read()
            for task in loops:
                task.cancel()
            for utterance in self._utterances.values():
                utterance.drop_work()

    def stop(self) -> None:
        """Refuse new utterances and close when those that live have ended."""
        self._stopping = True
        self._conversation.stop()
        self._close_if_quiet()

    def abort(self) -> None:
        """End what lives in an error and close."""
        self.stop()
        for number in self._conversation.living:
            error = ServerStopping("The server is going away and cannot finish this utterance.")
            self._answer(self._conversation.fail(number, error))

    # The reader

    async def _read(self) -> None:
        while (data := await self._peer.receive()) is not None:
            for step in self._conversation.receive_data(data, self._now()):
                self._take(step)
            await self._outbox.has_room()
            # Messages that have arrived come without a wait: let others run between two of them.
            await asyncio.sleep(0)

    def _take(self, step: Step) -> None:
        match step:
            case Opened(options):
                self._open(options)
            case Speak(text=text, utterance=int(number)):
                self._utterances[number].inbox.push(text)
            case Flush(utterance=int(number)):
                self._utterances[number].inbox.flush()
            case End(utterance=int(number)):
                self._utterances[number].inbox.end()
            case Cancel(utterance=int(number)):
                self._cancel(number)
            case Error():
                self._answer(step)

    def _open(self, options: Speak) -> None:
        number = options.utterance
        if number is not None:
            self._utterances[number] = _Utterance(
                number, self._speech_options(options), options.format or AUDIO_FORMATS[0]
            )
            self._opened.set()

    def _cancel(self, number: int) -> None:
        sent = self._utterances[number].samples_sent
        # Utterances are sent in order: what the listener holds of this one is the newest it holds.
        unheard = round(self._listener.interrupt(sent / SAMPLE_RATE, self._now()) * SAMPLE_RATE)
        self._answer(self._conversation.cancel(number, max(0, sent - unheard)))

    def _answer(self, answer: Answer) -> None:
        """Send an answer before all speech; if it ends an utterance, no more of that leaves."""
        if answer.utterance is not None:
            self._outbox.drop(answer.utterance)
            self._forget(answer.utterance, answer)
        self._outbox.answer(answer)
        self._close_if_quiet()

    def _forget(self, number: int, terminal: Done | Cancelled | Error) -> None:
        utterance = self._utterances.pop(number, None)
        if utterance is not None:
            utterance.drop_work()
        outcome = terminal.code if isinstance(terminal, Error) else type(terminal).__name__.lower()
        self._log.info(
            "utterance ended",
            utterance=number,
            outcome=outcome,
            characters=terminal.characters,
            audio_ms=terminal.audio_ms,
            first_audio_ms=terminal.first_audio_ms,
        )

    def _close_if_quiet(self) -> None:
        if self._stopping and not self._conversation.living:
            self._outbox.close()

    # The speaker

    async def _speak(self, group: asyncio.TaskGroup) -> None:
        while True:
            utterance = next((waiting for waiting in self._utterances.values() if waiting.task is None), None)
            if utterance is None:
                self._opened.clear()
                await self._opened.wait()
                continue
            utterance.task = group.create_task(self._say(utterance), name=f"utterance {utterance.number}")
            await asyncio.wait([utterance.task])

    async def _say(self, utterance: _Utterance) -> None:
        number = utterance.number
        turn = Turn(self._account, self._dry_at, clock=self._now)
        try:
            async with aclosing(narrate(utterance.inbox, self._synthesizer, utterance.options, turn)) as narration:
                async for audio in narration:
                    await self._put(number, audio)
            self._outbox.put(Finish(number))
        except RtvoiceError as error:
            self._outbox.put(Failure(number, error))
        except Exception as error:
            self._log.error("utterance failed", utterance=number, error=trace(error))  # see trace
            self._outbox.put(Failure(number, RtvoiceError("A fault of the server; its log says more.")))

    async def _put(self, number: int, audio: SpokenAudio) -> None:
        if audio.opens:
            segment = audio.segment
            self._outbox.put(Segment(utterance=number, start=segment.start, end=segment.end, sample=audio.index))
        if audio.words:
            self._outbox.put(Words(utterance=number, words=audio.words))
        index = audio.index
        for samples in cut(audio.samples, _FRAME):
            await self._room(len(samples) / SAMPLE_RATE)
            self._outbox.put(Sound(number, index, samples))
            index += len(samples)

    def _dry_at(self) -> float:
        """When the listener has heard all that was made, if it goes out at once."""
        waiting = self._outbox.seconds
        return max(self._listener.dry_at, self._now()) + waiting if waiting else self._listener.dry_at

    async def _room(self, seconds: float) -> None:
        """Wait until the listener is near enough for this much more audio."""
        while True:
            unheard = self._listener.ahead(self._now())
            excess = unheard + self._outbox.seconds + seconds - self._config.audio_ahead_s
            if excess <= 0 or unheard + self._outbox.seconds == 0:
                return
            # What was sent is heard as time goes by; what was not waits for the writer.
            await self._outbox.progress(excess if unheard else None)

    # The writer

    async def _write(self) -> None:
        try:
            while (item := await self._outbox.take()) is not None:
                data = self._render(item)
                if data is not None:
                    await self._peer.send(data)
                if isinstance(item, Sound):
                    self._listener.sent(len(item.samples) / SAMPLE_RATE, self._now())
            await self._peer.close(1001, "the server is going away")
        except PeerGone:
            self._outbox.abandon()  # the reader sees it too, once it waits for messages again, and ends the session

    def _render(self, item: Answer | Speech) -> str | bytes | None:
        """Write a message, and note that it is sent: from here on there is no wait before it leaves."""
        if isinstance(item, Cancelled | Error):
            return encode(item)
        number = item.utterance
        utterance = self._utterances.get(number)
        if utterance is None:
            return None  # it has ended meanwhile
        match item:
            case Sound(_, index, samples):
                self._conversation.send_audio(number, len(samples), self._now())
                utterance.samples_sent += len(samples)
                data = encode_samples(samples, utterance.audio_format)
                return encode(Audio(utterance=number, sample=index, data=data))
            case Words():
                self._conversation.send_words(item)
                return encode(item)
            case Segment():
                return encode(item)
            case Finish():
                done = self._conversation.finish(number)
                self._forget(number, done)
                self._close_if_quiet()
                return encode(done)
            case Failure(_, error):
                failed = self._conversation.fail(number, error)
                self._forget(number, failed)
                self._close_if_quiet()
                return encode(failed)

    # What the server offers

    def _ready(self) -> Ready:
        limits = self._config.limits
        return Ready(
            protocol=PROTOCOL_VERSION,
            server=__version__,
            sample_rate=SAMPLE_RATE,
            formats=AUDIO_FORMATS,
            voices=tuple(
                Voice(name=voice.name, language=voice.language, gender=voice.gender)
                for voice in self._synthesizer.voices
            ),
            languages=self._synthesizer.languages,
            limits=SessionLimits(
                text_characters=limits.text_characters,
                message_bytes=limits.message_bytes,
                utterances=limits.utterances,
                min_speed=MIN_SPEED,
                max_speed=MAX_SPEED,
            ),
        )

    def _check(self, options: Speak) -> None:
        if options.format is not None and options.format not in AUDIO_FORMATS:
            raise InvalidInput("There is no such audio format.", field="format", allowed=AUDIO_FORMATS)
        self._synthesizer.check(self._speech_options(options))

    def _speech_options(self, options: Speak) -> SpeechOptions:
        default = SpeechOptions(voice=self._synthesizer.voices[0].name)
        return SpeechOptions(
            voice=default.voice if options.voice is None else options.voice,
            language=options.language,
            speed=default.speed if options.speed is None else options.speed,
            seed=default.seed if options.seed is None else options.seed,
        )
