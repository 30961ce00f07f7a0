"""The seam between the core and what goes over the wire.

The core knows utterances, told of by the native protocol's messages. A dialect is how one peer says so: the native
JSON, or the messages of a speech service that agents speak already. One object a session, without I/O.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from rtvoice.protocol.codec import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtvoice.protocol.conversation import Conversation, Step
    from rtvoice.protocol.messages import Ready, ServerMessage


@dataclass(frozen=True, slots=True)
class Reply:
    """A message of the dialect itself, to be sent behind the answers made so far and before all audio."""

    data: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Close:
    """The peer wants no more than what it has asked for: close when that has been sent."""


class Dialect(ABC):
    """How a peer speaks.

    Attributes:
        is_concurrent: whether utterances are spoken side by side, each to a listener of its own, rather than one after
            the other to one listener.
        silence_ms: silence that is sent for text with nothing to say in it, where a peer takes no audio for a failure.
    """

    is_concurrent: ClassVar[bool] = False
    silence_ms: ClassVar[int] = 0

    @abstractmethod
    def receive(self, data: str | bytes, now: float) -> list[Step | Reply | Close]:
        """Take a WebSocket message of the peer; returns what it leads to, in order.

        Raises nothing: what is wrong with a message is answered.
        """

    @abstractmethod
    def write(self, message: ServerMessage) -> list[str | bytes]:
        """Write a message of the core as the peer's, or as several, or as none."""


class NativeDialect(Dialect):
    """The protocol of docs/protocol.md."""

    def __init__(self, conversation: Conversation, ready: Ready) -> None:
        self._conversation = conversation

    def receive(self, data: str | bytes, now: float) -> list[Step | Reply | Close]:
        """See `Dialect.receive`."""
        return list(self._conversation.receive_data(data, now))

    def write(self, message: ServerMessage) -> list[str | bytes]:
        """See `Dialect.write`."""
        return [encode(message)]


if TYPE_CHECKING:
    MakeDialect = Callable[[Conversation, Ready], Dialect]
    """Makes the dialect of a session over its conversation, with what the server offers."""
