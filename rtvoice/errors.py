"""Every error rtvoice raises, under one root.

::

    RtvoiceError
    ├── InvalidInput            a value the caller gave is not one that is allowed
    │   └── TextTooLong         more text than an utterance may hold
    ├── ProtocolViolation       the peer sent what is no message at all
    ├── Overloaded              refused for now; says how long to wait
    ├── SynthesisFailed         a segment could not be spoken
    ├── LoadFailed              the engine could not be loaded for this utterance
    ├── ServerStopping          the server is going away
    ├── SetupError              something on this machine is missing or damaged; says what to run
    └── ConnectionLost          the other end of a client's connection went away
        └── ConnectionRefused   it does not want the connection, and would not the next time

An error has a wire code (`code`) and a scope: what it ends. Errors of scope *message* end nothing: one message
had no effect. Errors of scope *utterance* end their utterance, errors of scope *session* the connection.
"""

from __future__ import annotations

from typing import ClassVar, Literal

Scope = Literal["message", "utterance", "session"]


class RtvoiceError(Exception):
    """The root. `str(error)` is one sentence fit for the person who can act on it."""

    code: ClassVar[str] = "internal"
    scope: ClassVar[Scope] = "utterance"


class InvalidInput(RtvoiceError, ValueError):
    """A value is not one that is allowed. Says which field, and what is.

    Args:
        message: what is wrong and what to do about it.
        field: the field's name as the caller wrote it, if there is one.
        allowed: the allowed values, or a sentence that describes them.
    """

    code: ClassVar[str] = "invalid_input"
    scope: ClassVar[Scope] = "message"

    def __init__(self, message: str, *, field: str | None = None, allowed: tuple[str, ...] | str | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.allowed = allowed


class TextTooLong(InvalidInput):
    """An utterance's text would pass its limit. What had arrived before is complete, this text is not part of it."""

    code: ClassVar[str] = "text_too_long"
    scope: ClassVar[Scope] = "utterance"


class ProtocolViolation(RtvoiceError):
    """The peer sent something that is no message of the protocol: not JSON, not an object, binary, of no known type."""

    code: ClassVar[str] = "protocol_violation"
    scope: ClassVar[Scope] = "message"


class Overloaded(RtvoiceError):
    """There is no room now. Nothing of the request was spoken.

    Args:
        message: what is full.
        retry_after_ms: how long to wait before trying again, in milliseconds.
    """

    code: ClassVar[str] = "overloaded"

    def __init__(self, message: str, *, retry_after_ms: int) -> None:
        super().__init__(message)
        self.retry_after_ms = retry_after_ms


class SynthesisFailed(RtvoiceError):
    """A segment could not be spoken. The utterance ends here; what had been spoken stands."""

    code: ClassVar[str] = "synthesis_failed"


class LoadFailed(RtvoiceError):
    """The engine was released, or never loaded, and could not be loaded now. The next utterance tries again."""

    code: ClassVar[str] = "load_failed"


class ServerStopping(RtvoiceError):
    """The server is going away and speaks no more. Another one, or a later attempt, may."""

    code: ClassVar[str] = "stopping"


class SetupError(RtvoiceError):
    """Weights, voices, the cache or a program is missing or damaged. One sentence says what to run."""

    code: ClassVar[str] = "setup"
    scope: ClassVar[Scope] = "session"


class ConnectionLost(RtvoiceError):
    """A client's connection ended before its utterance did, or there is none.

    Args:
        message: what happened.
        spoken_characters: how many of the utterance's characters the audio that arrived speaks; what follows them may
            be spoken anew. None if it concerns no utterance that had begun.
        audio_ms: length of that audio, in milliseconds; None likewise, and in formats that do not tell it.
    """

    code: ClassVar[str] = "connection_lost"
    scope: ClassVar[Scope] = "session"

    def __init__(self, message: str, *, spoken_characters: int | None = None, audio_ms: int | None = None) -> None:
        super().__init__(message)
        self.spoken_characters = spoken_characters
        self.audio_ms = audio_ms


class ConnectionRefused(ConnectionLost):
    """The server wants another key, origin, address or version of the protocol; trying again changes nothing."""

    code: ClassVar[str] = "connection_refused"
