"""An utterance's life as a table, and the account that its terminal message gives.

::

    OPEN ----audio----> SPEAKING
      |                    |
      +--end--> DRAINING <-+--end
      |            |       |
      |            +--finish--> DONE
      |            |
      +------------+-------+--cancel--> CANCELLED
      +------------+-------+--fail----> FAILED

An utterance that is open or speaking takes text; in draining all of its text has arrived and the rest is being spoken.
The last three states are final. The client sends text, flush, mark, end and cancel; the server sends audio, finishes
and fails. What the table does not hold is an `IllegalEvent`: the peer's fault or ours, by the role it names.
"""

from __future__ import annotations

from bisect import bisect_left
from enum import Enum
from typing import ClassVar

from rtvoice.config import SAMPLE_RATE
from rtvoice.errors import RtvoiceError, Scope


class State(Enum):
    """Where an utterance stands."""

    OPEN = "open"
    SPEAKING = "speaking"
    DRAINING = "draining"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Event(Enum):
    """What happens to an utterance."""

    TEXT = "text"
    FLUSH = "flush"
    MARK = "mark"
    END = "end"
    CANCEL = "cancel"
    AUDIO = "audio"
    FINISH = "finish"
    FAIL = "fail"


class Role(Enum):
    """Who an event comes from."""

    CLIENT = "client"
    SERVER = "server"


ROLES = {
    Event.TEXT: Role.CLIENT,
    Event.FLUSH: Role.CLIENT,
    Event.MARK: Role.CLIENT,
    Event.END: Role.CLIENT,
    Event.CANCEL: Role.CLIENT,
    Event.AUDIO: Role.SERVER,
    Event.FINISH: Role.SERVER,
    Event.FAIL: Role.SERVER,
}

TRANSITIONS: dict[State, dict[Event, State]] = {
    State.OPEN: {
        Event.TEXT: State.OPEN,
        Event.FLUSH: State.OPEN,
        Event.MARK: State.OPEN,
        Event.END: State.DRAINING,
        Event.CANCEL: State.CANCELLED,
        Event.AUDIO: State.SPEAKING,
        Event.FAIL: State.FAILED,
    },
    State.SPEAKING: {
        Event.TEXT: State.SPEAKING,
        Event.FLUSH: State.SPEAKING,
        Event.MARK: State.SPEAKING,
        Event.END: State.DRAINING,
        Event.CANCEL: State.CANCELLED,
        Event.AUDIO: State.SPEAKING,
        Event.FAIL: State.FAILED,
    },
    State.DRAINING: {
        Event.CANCEL: State.CANCELLED,
        Event.AUDIO: State.DRAINING,
        Event.FINISH: State.DONE,
        Event.FAIL: State.FAILED,
    },
    State.DONE: {},
    State.CANCELLED: {},
    State.FAILED: {},
}

FINAL = frozenset(state for state, events in TRANSITIONS.items() if not events)


class IllegalEvent(RtvoiceError):
    """An event that an utterance's state does not allow.

    Attributes:
        event: what happened.
        state: where the utterance stood, and stands.
        role: whose fault it is.
    """

    code: ClassVar[str] = "protocol_violation"
    scope: ClassVar[Scope] = "message"

    def __init__(self, event: Event, state: State) -> None:
        self.event = event
        self.state = state
        self.role = ROLES[event]
        super().__init__(f"The {self.role.value} may not send {event.value!r} to an utterance that is {state.value}.")


class Utterance:
    """One utterance: its state, and what arrived and was sent of it. Times are seconds on any steady clock.

    Attributes:
        number: chosen by the client.
        state: where it stands.
        characters: of text that arrived.
        samples: of audio that was sent, at the model's rate.
        marks: that the client has set.
        queue_ms, compute_ms, cold_start_ms: what it took, as the server tells before it ends; see `messages.Done`.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.state = State.OPEN
        self.characters = 0
        self.samples = 0
        self.marks = 0
        self.queue_ms = self.compute_ms = self.cold_start_ms = 0
        self._first_text: float | None = None
        self._first_audio: float | None = None
        # Where in the audio characters begin to be heard: rising samples, and the character behind each.
        self._mark_samples: list[int] = []
        self._mark_ends: list[int] = []

    @property
    def ended(self) -> bool:
        """Whether its terminal message has been made."""
        return self.state in FINAL

    @property
    def takes_text(self) -> bool:
        """Whether more text may come."""
        return Event.TEXT in TRANSITIONS[self.state]

    @property
    def audio_ms(self) -> int:
        """Audio sent, in whole milliseconds."""
        return self.samples * 1000 // SAMPLE_RATE

    @property
    def first_audio_ms(self) -> int | None:
        """From the first text to the first audio, in whole milliseconds; None before that."""
        if self._first_text is None or self._first_audio is None:
            return None
        return round((self._first_audio - self._first_text) * 1000)

    def apply(self, event: Event) -> None:
        """Move along the table.

        Raises:
            IllegalEvent: the table has no such step; nothing has changed.
        """
        try:
            self.state = TRANSITIONS[self.state][event]
        except KeyError:
            raise IllegalEvent(event, self.state) from None

    def receive_text(self, characters: int, now: float) -> None:
        """Count text that arrived."""
        self.apply(Event.TEXT)
        self.characters += characters
        if characters and self._first_text is None:
            self._first_text = now

    def send_audio(self, samples: int, now: float) -> None:
        """Count audio that is sent, one sample or more."""
        self.apply(Event.AUDIO)
        self.samples += samples
        if self._first_audio is None:
            self._first_audio = now

    def mark(self, sample: int, end: int) -> None:
        """Note that whoever has heard this sample has begun to hear the text up to before character `end`."""
        if self._mark_samples:
            sample = max(sample, self._mark_samples[-1])
            end = max(end, self._mark_ends[-1])
        self._mark_samples.append(sample)
        self._mark_ends.append(end)

    def spoken(self, samples: int) -> int:
        """How many characters whoever heard the first `samples` has heard, the word that has begun included."""
        heard = bisect_left(self._mark_samples, samples)
        return self._mark_ends[heard - 1] if heard else 0
