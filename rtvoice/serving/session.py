"""One connection: a reader, a speaker and a writer around the protocol's conversation.

The *reader* takes messages and never waits for speech, so that a `cancel` is always heard. The *speaker* makes the
audio of one utterance after the other, no further ahead of the listener than it may. The *writer* sends it, and alone
decides what has been sent. A peer who does not read stops the writer, then the speaker, then the reader, and nobody
else.
"""

from __future__ import annotations

import asyncio
import math
import sys
import time
from contextlib import aclosing
from typing import TYPE_CHECKING

import numpy as np

from rtvoice.audio import cut
from rtvoice.config import SAMPLE_RATE
from rtvoice.encoders import at_rate
from rtvoice.errors import RtvoiceError, ServerStopping, SetupError
from rtvoice.protocol.conversation import Conversation, Opened, Step
from rtvoice.protocol.dialect import Close, Dialect, NativeDialect, Reply
from rtvoice.protocol.messages import (
    Cancel,
    Cancelled,
    Done,
    End,
    Error,
    Flush,
    Loading,
    Mark,
    Marked,
    Phonemes,
    Segment,
    ServerMessage,
    Speak,
    Words,
)
from rtvoice.serving.admission import Admission
from rtvoice.serving.logs import trace
from rtvoice.serving.metrics import Metrics
from rtvoice.serving.narration import SpokenAudio, narrate
from rtvoice.serving.offer import Offer
from rtvoice.serving.outbox import Answer, Failure, Finish, Outbox, Passed, Sound, Speech
from rtvoice.serving.pacing import PlaybackClock
from rtvoice.serving.peer import PeerGone
from rtvoice.serving.quota import Client
from rtvoice.serving.request import Request
from rtvoice.speech.turn import Account, Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from rtvoice.config import ServerConfig
    from rtvoice.protocol.dialect import MakeDialect
    from rtvoice.serving.peer import Peer
    from rtvoice.speech.synthesizer import Synthesizer
    from rtvoice.text.lexicon import Lexicon

_FRAME = SAMPLE_RATE // 10
"""Samples of one audio frame at most."""


class Session:
    """One connection's life. `run` it once.

    Args:
        peer: the other end.
        synthesizer: entered.
        config: limits and pace.
        log: where events go, bound to the connection.
        client: whom it belongs to, beside other sessions.
        dialect: makes what the peer speaks; None for the native protocol.
        admission: says whether an utterance is taken; by default it is.
        metrics: where what happens is counted.
        lexicon: gives how some words are said, as it is now.
        clock: a steady clock, in seconds.
    """

    def __init__(
        self,
        peer: Peer,
        synthesizer: Synthesizer,
        config: ServerConfig,
        log: FilteringBoundLogger,
        client: Client | None = None,
        dialect: MakeDialect | None = None,
        admission: Admission | None = None,
        metrics: Metrics | None = None,
        lexicon: Callable[[], Lexicon | None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._peer = peer
        self._synthesizer = synthesizer
        self._config = config
        self._log = log
        self._client = client or Client(config.client_limits)
        self._account = Account(self._client.account)
        self._now = clock
        self._offer = Offer(synthesizer, config.limits, control=config.control)
        self._lexicon = lexicon
        self._admission = admission or Admission(most_s=None, places=lambda: synthesizer.places)
        self._metrics = metrics or Metrics(config.prices)
        self._conversation = Conversation(config.limits, self._check, self._client.take_text)
        self._dialect: Dialect = (dialect or NativeDialect)(self._conversation, self._offer.ready())
        self._outbox = Outbox()
        self._listener = PlaybackClock()
        self._utterances: dict[int, Request] = {}
        self._cancelling: dict[int, float] = {}  # when a cancel came that is not answered yet
        self._opened = asyncio.Event()
        self._stopping = False
        self._close_code, self._close_reason = 1001, "the server is going away"

    async def run(self) -> None:
        """Serve until the peer closes or `stop` has closed the connection.

        Cancelling it drops all work. It does not close the connection, whose owner does.
        """
        if self._config.prewarm:
            self._synthesizer.wake()
        try:
            for data in self._dialect.write(self._offer.ready()):
                await self._peer.send(data)
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

    @property
    def utterances(self) -> int:
        """How many have been opened and have not ended."""
        return len(self._utterances)

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
            for step in self._dialect.receive(data, self._now()):
                self._take(step)
            await self._outbox.has_room()
            # Messages that have arrived come without a wait: let others run between two of them.
            await asyncio.sleep(0)

    def _take(self, step: Step | Reply | Close) -> None:
        match step:
            case Opened(options):
                self._open(options)
            case Speak(text=text, utterance=int(number)):
                self._utterances[number].push(text)
                self._expect(self._utterances[number])
            case Flush(utterance=int(number)):
                self._utterances[number].inbox.flush()
            case Mark(utterance=int(number), name=name):
                self._utterances[number].mark(name)
                self._put_marks(self._utterances[number])
            case End(utterance=int(number)):
                self._utterances[number].inbox.end()
            case Cancel(utterance=int(number), played_ms=played_ms):
                self._cancel(self._utterances[number], played_ms)
            case Error() | Reply():
                self._answer(step)
            case Close():
                self._close_code, self._close_reason = 1000, ""
                self.stop()

    def _check(self, options: Speak) -> None:
        self._offer.check(options)
        self._client.take_utterance(self._now())
        self._admission.check()

    def _open(self, options: Speak) -> None:
        number = options.utterance
        if number is not None:
            self._synthesizer.wake()
            self._utterances[number] = Request(
                number,
                self._offer.speech_options(options),
                self._offer.audio_format(options),
                self._offer.text_options(
                    options,
                    self._lexicon(),
                    first_audio_s=self._admission.predicted_s if self._config.early_cut else None,
                ),
                (options.pause_ms or 0) / 1000,
                PlaybackClock() if self._dialect.is_concurrent else self._listener,
                Account(self._account),
                phoneme_times=bool(options.phoneme_times),
            )
            self._opened.set()

    def _expect(self, utterance: Request) -> None:
        """Count an utterance among those that wait to be heard: the session's first, and only if there is text."""
        is_next = self._dialect.is_concurrent or next(iter(self._utterances.values())) is utterance
        if utterance.waiting is None and utterance.has_text and is_next:
            # One whose text was spoken, and who waits for more of it, keeps nobody else waiting.
            utterance.waiting = self._admission.begin(
                lambda: math.inf if utterance.inbox.is_awaited else self._dry_at(utterance)
            )

    def _cancel(self, utterance: Request, played_ms: int | None) -> None:
        self._cancelling[utterance.number] = self._now()
        sent = utterance.samples_sent
        # Utterances are sent in order: what the listener holds of this one is the newest it holds.
        unheard = round(utterance.listener.interrupt(sent / SAMPLE_RATE, self._now()) * SAMPLE_RATE)
        heard = max(0, sent - unheard) if played_ms is None else min(sent, played_ms * SAMPLE_RATE // 1000)
        self._note_costs(utterance)
        self._answer(self._conversation.cancel(utterance.number, heard))

    def _answer(self, answer: Answer) -> None:
        """Send an answer before all speech; if it ends an utterance, no more of that leaves."""
        if not isinstance(answer, Reply | Loading) and answer.utterance is not None:
            self._outbox.drop(answer.utterance)
            self._forget(answer.utterance, answer)
        self._outbox.answer(answer)
        self._close_if_quiet()

    def _forget(self, number: int, terminal: Done | Cancelled | Error) -> None:
        utterance = self._utterances.pop(number, None)
        if utterance is not None:
            utterance.drop_work()
        self._metrics.utterance_ended(terminal)
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
            if not self._dialect.is_concurrent:
                await asyncio.wait([utterance.task])

    async def _say(self, utterance: Request) -> None:
        number = utterance.number
        self._expect(utterance)
        turn = Turn(
            utterance.account,
            lambda: self._dry_at(utterance),
            lambda elapsed_s, expected_s: self._tell_loading(utterance, elapsed_s, expected_s),
            self._now,
        )
        narration = narrate(
            utterance.inbox,
            self._synthesizer,
            utterance.options,
            turn,
            reading=utterance.reading,
            pause_s=utterance.pause_s,
        )
        heard = False
        try:
            async with aclosing(narration):
                async for audio in narration:
                    utterance.cold_start_s = turn.loading_s
                    utterance.heard()
                    await self._put(utterance, audio)
                    heard = True
            if self._dialect.silence_ms and utterance.has_text and not heard:
                silence = np.zeros(self._dialect.silence_ms * SAMPLE_RATE // 1000, np.float32)
                self._outbox.put(Sound(number, silence, joins=True))
            self._put_marks(utterance, sys.maxsize)
            self._outbox.put(Finish(number))
        except RtvoiceError as error:
            if isinstance(error, SetupError):  # who runs the server can mend it, and reads the log
                self._log.error("utterance failed", utterance=number, error=str(error))
            self._outbox.put(Failure(number, error))
        except Exception as error:
            self._log.error("utterance failed", utterance=number, error=trace(error))  # see trace
            self._outbox.put(Failure(number, RtvoiceError("A fault of the server; its log says more.")))

    async def _put(self, utterance: Request, audio: SpokenAudio) -> None:
        number, segment = utterance.number, audio.segment
        if audio.opens:
            sample = at_rate(audio.index, utterance.rate)
            self._outbox.put(Segment(utterance=number, start=segment.start, end=segment.end, sample=sample))
        if audio.words:
            self._outbox.put(Words(utterance=number, words=audio.words))
        if audio.phonemes and utterance.phoneme_times:
            self._outbox.put(Phonemes(utterance=number, phonemes=audio.phonemes))
        self._metrics.audio_ahead(utterance.listener.ahead(self._now()))
        left = len(audio.samples)
        for samples in cut(audio.samples, _FRAME):
            await self._room(utterance, len(samples) / SAMPLE_RATE)
            left -= len(samples)
            self._outbox.put(Sound(number, samples, joins=audio.closes and not left))
        if audio.closes:
            self._put_marks(utterance, segment.end)

    def _tell_loading(self, utterance: Request, elapsed_s: float, expected_s: float | None) -> None:
        utterance.cold_start_s = elapsed_s
        expected_ms = None if expected_s is None else round(expected_s * 1000)
        self._outbox.tell(
            Loading(utterance=utterance.number, elapsed_ms=round(elapsed_s * 1000), expected_ms=expected_ms)
        )

    def _put_marks(self, utterance: Request, spoken: int | None = None) -> None:
        for passed in utterance.passed(spoken):
            self._outbox.put(passed)

    def _dry_at(self, utterance: Request) -> float:
        """When the listener has heard all that was made, if it goes out at once."""
        waiting, dry_at = self._outbox.seconds, utterance.listener.dry_at
        return max(dry_at, self._now()) + waiting if waiting else dry_at

    async def _room(self, utterance: Request, seconds: float) -> None:
        """Wait until the listener is near enough for this much more audio."""
        while True:
            unheard = utterance.listener.ahead(self._now())
            excess = unheard + self._outbox.seconds + seconds - self._config.audio_ahead_s
            if excess <= 0 or unheard + self._outbox.seconds == 0:
                return
            # What was sent is heard as time goes by; what was not waits for the writer.
            await self._outbox.progress(excess if unheard else None)

    # The writer

    async def _write(self) -> None:
        try:
            while (item := await self._outbox.take()) is not None:
                request = self._utterances.get(item.utterance) if isinstance(item, Sound) else None
                for message in self._render(item):
                    for data in self._dialect.write(message):
                        await self._peer.send(data)
                if isinstance(item, Reply):
                    await self._peer.send(item.data)
                if isinstance(item, Sound) and request is not None:
                    request.listener.sent(len(item.samples) / SAMPLE_RATE, self._now())
            await self._peer.close(self._close_code, self._close_reason)
        except PeerGone:
            self._outbox.abandon()  # the reader sees it too, once it waits for messages again, and ends the session

    def _render(self, item: Answer | Speech) -> list[ServerMessage]:
        """Make the messages of what is sent next, and note that they are sent: there is no wait before they leave."""
        if isinstance(item, Cancelled):
            self._metrics.cancelled_in(self._now() - self._cancelling.pop(item.utterance))
        if isinstance(item, Cancelled | Error | Loading):
            return [item]
        if isinstance(item, Reply):
            return []
        utterance = self._utterances.get(item.utterance)
        if utterance is None:
            return []  # it has ended meanwhile
        match item:
            case Sound(number, samples, joins):
                self._conversation.send_audio(number, len(samples), self._now())
                return list(utterance.encode(samples, joins=joins))
            case Passed(number, name):
                return [Marked(utterance=number, name=name, sample=at_rate(utterance.samples_sent, utterance.rate))]
            case Words():
                self._conversation.send_words(item)
                return [item]
            case Segment() | Phonemes():
                return [item]
            case Finish(number):
                rest = utterance.finish()
                self._note_costs(utterance)
                return [*rest, self._ended(self._conversation.finish(number))]
            case Failure(number, error):
                self._note_costs(utterance)
                return [self._ended(self._conversation.fail(number, error))]

    def _ended(self, terminal: Done | Error) -> Done | Error:
        if terminal.utterance is not None:
            self._forget(terminal.utterance, terminal)
        self._close_if_quiet()
        return terminal

    def _note_costs(self, utterance: Request) -> None:
        self._conversation.note_costs(utterance.number, **utterance.costs_ms)
