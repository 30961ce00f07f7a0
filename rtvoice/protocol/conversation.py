"""The server's side of a session, without I/O: which utterance a message means, and what it leads to.

`receive_data` takes what the client sent and returns what is to be done: messages of the client, with the utterance's
number filled in, and messages to send. The other methods tell of what the server does; they return the message to send.
Whoever drives this sends the messages in the order in which they are returned.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict

from rtvoice.config import SAMPLE_RATE
from rtvoice.errors import InvalidInput, Overloaded, RtvoiceError, ServerStopping, TextTooLong
from rtvoice.protocol.codec import MAX_U32, FaultySpeak, decode_client
from rtvoice.protocol.messages import (
    OPTIONS,
    Cancel,
    Cancelled,
    ClientMessage,
    Done,
    End,
    Error,
    Flush,
    Mark,
    Speak,
    Words,
)
from rtvoice.protocol.utterance import Event, State, Utterance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rtvoice.config import Limits

_REMEMBERED = 256  # ended utterances for which late messages are ignored rather than refused
_RETRY_AFTER_MS = 1_000


@dataclass(frozen=True, slots=True)
class Opened:
    """An utterance has begun. `options` is the message that opened it; its text comes as a `Speak` of its own."""

    options: Speak


Step = Opened | Speak | Flush | Mark | End | Cancel | Error
"""What a client's message leads to.

Messages of the client carry the number of an utterance that lives; a `Cancel` waits to be answered by `cancel()`. An
`Error` is to be sent; if it carries a number, that utterance has ended and its work is to be dropped.
"""


class Conversation:
    """One session's utterances by the rules of the protocol.

    Args:
        limits: what the client may ask for.
        check: refuses a message whose options cannot be spoken, by raising `InvalidInput`.
        admit_text: refuses so many characters at that time, by raising `Overloaded`.
    """

    def __init__(
        self,
        limits: Limits,
        check: Callable[[Speak], None],
        admit_text: Callable[[int, float], None] = lambda _characters, _now: None,
    ) -> None:
        self._limits = limits
        self._check = check
        self._admit_text = admit_text
        self._living: dict[int, Utterance] = {}
        self._ended: deque[int] = deque(maxlen=_REMEMBERED)
        self._last = 0
        self._current: int | None = None  # what a message without a number means; set by the client's messages only
        self._stopping = False

    @property
    def living(self) -> tuple[int, ...]:
        """Numbers of the utterances that have not ended, in the order they were opened."""
        return tuple(self._living)

    def state(self, number: int) -> State | None:
        """Where an utterance stands, None if it has ended or never was."""
        utterance = self._living.get(number)
        return utterance.state if utterance else None

    def receive_data(self, data: str | bytes, now: float) -> list[Step]:
        """Take a message of the client.

        Args:
            data: the WebSocket message.
            now: when it arrived, in seconds on any steady clock.

        Raises nothing: what is wrong with a message is an `Error` among the steps.
        """
        try:
            message = decode_client(data)
        except FaultySpeak as error:
            return self._refuse_speak(error)
        except RtvoiceError as error:
            return [_error(error)]
        return self.receive(message, now)

    def receive(self, message: ClientMessage, now: float) -> list[Step]:
        """Take a message of the client that has been read; as `receive_data` otherwise."""
        steps: list[Step] = []
        try:
            steps.extend(self._receive(message, now))
        except RtvoiceError as error:
            steps.append(_error(error))
        return steps

    def stop(self) -> None:
        """Refuse utterances from now on: the server is going away. Those that live go on."""
        self._stopping = True

    def send_words(self, words: Words) -> None:
        """Note when words are heard. Call it before their audio is sent."""
        utterance = self._living[words.utterance]
        for word in words.words:
            utterance.mark(round(word.start_s * SAMPLE_RATE), word.end)

    def note_costs(self, number: int, *, queue_ms: int, compute_ms: int, cold_start_ms: int) -> None:
        """Note what an utterance has taken so far, for the message that ends it."""
        utterance = self._living[number]
        utterance.queue_ms, utterance.compute_ms, utterance.cold_start_ms = queue_ms, compute_ms, cold_start_ms

    def send_audio(self, number: int, samples: int, now: float) -> None:
        """Note that audio leaves: one sample or more, at `now`."""
        self._living[number].send_audio(samples, now)

    def finish(self, number: int) -> Done:
        """End an utterance of which all was sent."""
        utterance = self._end(number, Event.FINISH)
        return Done(spoken_characters=utterance.characters, **_account(utterance))

    def cancel(self, number: int, heard: int) -> Cancelled:
        """End an utterance that the client cancelled.

        Args:
            number: the utterance.
            heard: how many of its samples the listener has heard.
        """
        utterance = self._end(number, Event.CANCEL)
        return Cancelled(
            spoken_characters=utterance.spoken(heard), spoken_ms=heard * 1000 // SAMPLE_RATE, **_account(utterance)
        )

    def fail(self, number: int, error: RtvoiceError) -> Error:
        """End an utterance in an error. What was sent stands."""
        utterance = self._end(number, Event.FAIL)
        spoken = utterance.spoken(utterance.samples)
        return _error(error, spoken_characters=spoken, **_account(utterance))

    def _end(self, number: int, event: Event) -> Utterance:
        utterance = self._living[number]
        utterance.apply(event)
        del self._living[number]
        self._ended.append(number)
        return utterance

    def _receive(self, message: ClientMessage, now: float) -> Iterator[Step]:
        match message:
            case Speak():
                yield from self._speak(message, now)
            case Flush():
                yield from self._flush(message)
            case Mark():
                yield from self._mark(message)
            case End():
                yield from self._end_text(message)
            case Cancel():
                yield from self._cancel(message)

    def _speak(self, message: Speak, now: float) -> Iterator[Step]:
        opens = _options(message)
        number = self._speak_number(message.utterance, opens=bool(opens))
        if number not in self._living:
            if self._is_late(number):
                return
            opening = self._open(number, replace(message, utterance=number))
            yield opening
            if isinstance(opening, Error):
                return
        elif opens and self._living[number].takes_text:
            error = InvalidInput(f"Only the message that opens an utterance may carry {opens[0]!r}.", field=opens[0])
            yield self.fail(number, error)
            return
        yield from self._take_text(number, message.text, now)

    def _take_text(self, number: int, text: str, now: float) -> Iterator[Step]:
        utterance = self._living[number]
        if not utterance.takes_text:
            raise InvalidInput(
                f"Utterance {number} was ended by the client; open a new one.",
                field="utterance",
                allowed=f"a whole number above {self._last}",
            )
        limit = self._limits.text_characters
        if utterance.characters + len(text) > limit:
            allowed = f"at most {limit} characters an utterance"
            yield self.fail(
                number, TextTooLong(f"The text passes the limit: {allowed}.", field="text", allowed=allowed)
            )
            return
        try:
            self._admit_text(len(text), now)
        except Overloaded as error:
            yield self.fail(number, error)
            return
        utterance.receive_text(len(text), now)
        if text:
            yield Speak(text=text, utterance=number)

    def _flush(self, message: Flush) -> Iterator[Step]:
        number = self._current if message.utterance is None else message.utterance
        if number is None:
            raise InvalidInput("No utterance is open.", field="utterance")
        if utterance := self._find(number):
            utterance.apply(Event.FLUSH)
            yield Flush(utterance=number)

    def _mark(self, message: Mark) -> Iterator[Step]:
        number = self._current if message.utterance is None else message.utterance
        if number is None:
            raise InvalidInput("No utterance is open.", field="utterance")
        if utterance := self._find(number):
            if utterance.marks >= self._limits.marks:
                allowed = f"at most {self._limits.marks} marks an utterance"
                raise InvalidInput(f"There are too many marks: {allowed}.", field="name", allowed=allowed)
            utterance.apply(Event.MARK)
            utterance.marks += 1
            yield Mark(name=message.name, utterance=number)

    def _end_text(self, message: End) -> Iterator[Step]:
        number = message.utterance
        if number is None:
            number = self._next() if self._current is None else self._current
        if number not in self._living and number > self._last:
            yield self._open(number, Speak(text="", utterance=number))
        if number == self._current:
            self._current = None
        if utterance := self._find(number):
            utterance.apply(Event.END)
            yield End(utterance=number)

    def _cancel(self, message: Cancel) -> Iterator[Step]:
        if message.utterance is None:
            self._current = None
            living = list(self._living)
            # A client that knows of no numbers tells what it plays: the first.
            yield from [
                Cancel(utterance=number, played_ms=message.played_ms if number == living[0] else None)
                for number in living
            ]
            return
        if message.utterance == self._current:
            self._current = None
        if self._find(message.utterance):
            yield message

    def _open(self, number: int, options: Speak) -> Opened | Error:
        """Begin an utterance; if that is refused, its number is used up and it has ended."""
        self._begin(number)
        try:
            if self._stopping:
                raise ServerStopping("The server is going away and takes no more utterances.")
            if len(self._living) > self._limits.utterances:
                raise Overloaded(
                    f"{self._limits.utterances} utterances of this session have not ended yet.",
                    retry_after_ms=_RETRY_AFTER_MS,
                )
            self._check(options)
        except RtvoiceError as error:
            return self.fail(number, error)
        return Opened(options)

    def _begin(self, number: int) -> None:
        self._last = self._current = number
        self._living[number] = Utterance(number)

    def _refuse_speak(self, error: FaultySpeak) -> list[Step]:
        """End the utterance whose text is missing, in an error, unless it takes no text anyway."""
        try:
            number = self._speak_number(error.utterance, opens=error.opens)
            if number not in self._living:
                if self._is_late(number):
                    return []
                self._begin(number)
        except InvalidInput as unusable_number:
            return [_error(unusable_number)]
        if not self._living[number].takes_text:
            return [_error(error)]
        return [self.fail(number, error)]

    def _speak_number(self, number: int | None, *, opens: bool) -> int:
        """The utterance that a `speak` means; `opens` tells whether it carries options.

        Raises:
            InvalidInput: it would be one that has failed. The rest of a text must not be taken for a new one.
        """
        if number is not None:
            return number
        if self._current is None or (opens and self._current not in self._living):
            return self._next()
        if self._current not in self._living:
            raise InvalidInput(
                f"Utterance {self._current} has failed; end it, or give the next one a number.",
                field="utterance",
                allowed=f"a whole number above {self._last}",
            )
        return self._current

    def _next(self) -> int:
        if self._last == MAX_U32:
            raise InvalidInput("No utterance number is left in this session.", field="utterance")
        return self._last + 1

    def _find(self, number: int) -> Utterance | None:
        """The utterance that lives under this number, None if it has ended.

        Raises:
            InvalidInput: it was never opened.
        """
        if number > self._last:
            raise InvalidInput(f"There is no utterance {number}.", field="utterance")
        return self._living.get(number)

    def _is_late(self, number: int) -> bool:
        """Whether a message for an utterance that does not live is late; False if it may open one.

        Raises:
            InvalidInput: neither; the number was passed over, or ended long ago.
        """
        if number > self._last:
            return False
        if number in self._ended:
            return True
        raise InvalidInput(
            f"Utterance {number} cannot be opened any more: numbers rise within a session.",
            field="utterance",
            allowed=f"a whole number above {self._last}",
        )


def _options(message: Speak) -> list[str]:
    return [name for name in OPTIONS if getattr(message, name) is not None]


class _Account(TypedDict):
    utterance: int
    characters: int
    audio_ms: int
    first_audio_ms: int | None
    queue_ms: int
    compute_ms: int
    cold_start_ms: int


def _account(utterance: Utterance) -> _Account:
    return {
        "utterance": utterance.number,
        "characters": utterance.characters,
        "audio_ms": utterance.audio_ms,
        "first_audio_ms": utterance.first_audio_ms,
        "queue_ms": utterance.queue_ms,
        "compute_ms": utterance.compute_ms,
        "cold_start_ms": utterance.cold_start_ms,
    }


def _error(error: RtvoiceError, **account: int | None) -> Error:
    return Error(
        utterance=account.pop("utterance", None),
        code=error.code,
        message=str(error),
        field=getattr(error, "field", None),
        allowed=getattr(error, "allowed", None),
        retry_after_ms=getattr(error, "retry_after_ms", None),
        **account,
    )
