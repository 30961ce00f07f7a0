"""A client's connection: one task reads it and sorts what comes into a mailbox for each utterance."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Self

from websockets.exceptions import ConnectionClosed

from rtvoice.errors import (
    ConnectionLost,
    InvalidInput,
    LoadFailed,
    Overloaded,
    ProtocolViolation,
    RtvoiceError,
    ServerStopping,
    SetupError,
    SynthesisFailed,
    TextTooLong,
)
from rtvoice.protocol.codec import decode_server, encode
from rtvoice.protocol.messages import Cancelled, Done, Error, Ready

if TYPE_CHECKING:
    from collections.abc import Iterator

    from websockets.asyncio.client import ClientConnection

    from rtvoice.protocol.messages import ClientMessage, ServerMessage

_MAX_WAITING = 256
"""Messages that wait in a mailbox, more than 20 s of audio. Beyond it the connection is not read."""

_CLOSE_TIMEOUT_S = 5.0

_ERRORS = {kind.code: kind for kind in (SynthesisFailed, LoadFailed, ServerStopping, SetupError, ProtocolViolation)}


class Mailbox:
    """What came for one utterance and was not read yet. One task delivers, another reads."""

    def __init__(self) -> None:
        self._waiting: deque[ServerMessage] = deque()
        self._arrived = asyncio.Event()
        self._taken = asyncio.Event()
        self._error: Exception | None = None
        self._closed = False

    async def deliver(self, message: ServerMessage) -> None:
        """Put a message in; waits for room."""
        while len(self._waiting) >= _MAX_WAITING:
            self._taken.clear()
            await self._taken.wait()
        if not self._closed or _is_terminal(message):
            self._waiting.append(message)
            self._arrived.set()

    async def read(self) -> ServerMessage:
        """Wait for the next message.

        Raises:
            Exception: what `fail` was given, when there is no message left.
        """
        while not self._waiting:
            if self._error is not None:
                raise self._error
            self._arrived.clear()
            await self._arrived.wait()
        self._taken.set()
        return self._waiting.popleft()

    def fail(self, error: Exception) -> None:
        """Tell the reader that no more comes, and why."""
        self._error = error
        self._arrived.set()

    def close(self) -> None:
        """Throw away what waits and what comes, except the message that the utterance has ended."""
        self._closed = True
        self._waiting = deque(message for message in self._waiting if _is_terminal(message))
        self._taken.set()


class Link:
    """An open connection. An async context manager: while it is entered, the connection is read.

    It is read as fast as the slowest mailbox.

    Args:
        websocket: open, and greeted by the server.
        ready: what the server offers.
        numbers: gives each utterance its own, greater than those before.

    Attributes:
        ready: as given.
        is_lost: set when it has ended.
    """

    def __init__(self, websocket: ClientConnection, ready: Ready, numbers: Iterator[int]) -> None:
        self.ready = ready
        self.is_lost = asyncio.Event()
        self._websocket = websocket
        self._numbers = numbers
        self._mailboxes: dict[int, Mailbox] = {}
        self._lost: RtvoiceError | None = None
        self._reader: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._reader = asyncio.create_task(self._read(), name="rtvoice client")
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.wait([self._reader])
        self._lose(ConnectionLost("The session is closed."))
        await close(self._websocket)

    def register(self, mailbox: Mailbox) -> int:
        """Take the next utterance's number. What comes for it goes into the mailbox."""
        number = next(self._numbers)
        self._mailboxes[number] = mailbox
        return number

    def forget(self, number: int) -> None:
        """Whatever still comes for this utterance is thrown away."""
        self._mailboxes.pop(number, None)

    async def send(self, message: ClientMessage) -> None:
        """Send a message; returns when the next one may be sent.

        Raises:
            ConnectionLost: the connection has ended.
        """
        if self._lost is not None:
            raise self._lost
        try:
            await self._websocket.send(encode(message))
        except ConnectionClosed as error:
            raise _lost(error) from error

    async def _read(self) -> None:
        try:
            while True:
                await self._deliver(decode_server(await self._websocket.recv()))
        except ConnectionClosed as error:
            self._lose(_lost(error))
        except ProtocolViolation as error:
            self._lose(error)

    async def _deliver(self, message: ServerMessage | None) -> None:
        if message is None or isinstance(message, Ready):
            return
        if isinstance(message, Error) and message.utterance is None:
            # It concerns one message and does not say which; this client sends none that could be refused so.
            for mailbox in self._mailboxes.values():
                mailbox.fail(exception_of(message))
        elif message.utterance in self._mailboxes:
            await self._mailboxes[message.utterance].deliver(message)

    def _lose(self, error: RtvoiceError) -> None:
        self._lost = error
        self.is_lost.set()
        for mailbox in self._mailboxes.values():
            mailbox.fail(error)


def exception_of(error: Error) -> RtvoiceError:
    """What an error message is raised as."""
    match error.code:
        case InvalidInput.code:
            return InvalidInput(error.message, field=error.field, allowed=error.allowed)
        case TextTooLong.code:
            return TextTooLong(error.message, field=error.field, allowed=error.allowed)
        case Overloaded.code:
            return Overloaded(error.message, retry_after_ms=error.retry_after_ms or 0)
        case code:
            return _ERRORS.get(code, RtvoiceError)(error.message)


async def close(websocket: ClientConnection) -> None:
    """Close, also when the server reads no more: then its part of the handshake is not waited for."""
    try:
        async with asyncio.timeout(_CLOSE_TIMEOUT_S):
            await websocket.close()
    except TimeoutError:
        websocket.transport.abort()


def _lost(error: ConnectionClosed) -> ConnectionLost:
    closed = error.rcvd or error.sent
    why = f" with code {closed.code} ({closed.reason})" if closed else ""
    return ConnectionLost(f"The connection to the server ended{why}.")


def _is_terminal(message: ServerMessage) -> bool:
    return isinstance(message, Done | Cancelled | Error)
