"""A client's connection: one task reads it and sorts what comes into a mailbox for each utterance."""

from __future__ import annotations

import asyncio
from collections import deque
from http import HTTPStatus
from typing import TYPE_CHECKING, Self

from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI
from websockets.typing import Origin

from rtvoice.errors import (
    ConnectionLost,
    InvalidInput,
    Overloaded,
    ProtocolViolation,
    RtvoiceError,
    ServerStopping,
    SetupError,
    SynthesisFailed,
    TextTooLong,
)
from rtvoice.protocol.codec import decode_server, encode
from rtvoice.protocol.messages import PROTOCOL_VERSION, Cancelled, Done, Error, Ready

if TYPE_CHECKING:
    from ssl import SSLContext

    from websockets.asyncio.client import ClientConnection

    from rtvoice.protocol.messages import ClientMessage, ServerMessage

_MAX_WAITING = 256
"""Messages that wait in a mailbox, more than 20 s of audio. Beyond it the connection is not read."""

_MAX_MESSAGE = 1 << 20
_OPEN_TIMEOUT_S = 10.0
_CLOSE_TIMEOUT_S = 5.0

_ERRORS = {kind.code: kind for kind in (SynthesisFailed, ServerStopping, SetupError, ProtocolViolation)}


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
    """

    def __init__(self, websocket: ClientConnection) -> None:
        self._websocket = websocket
        self._mailboxes: dict[int, Mailbox] = {}
        self._last = 0
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
        await _close(self._websocket)

    def register(self, mailbox: Mailbox) -> int:
        """Take the next utterance's number. What comes for it goes into the mailbox."""
        self._last += 1
        self._mailboxes[self._last] = mailbox
        return self._last

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
        for mailbox in self._mailboxes.values():
            mailbox.fail(error)


async def open_link(url: str, *, key: str | None, origin: str | None, ssl: SSLContext | None) -> tuple[Link, Ready]:
    """Connect to a server; returns the link, not entered yet, and what the server offers.

    Raises:
        InvalidInput: the URL is none.
        Overloaded: the server takes no more sessions now.
        ConnectionLost: there is no server, it is no rtvoice of this protocol version, or it wants another key.
    """
    try:
        websocket = await open_websocket(
            url,
            origin=None if origin is None else Origin(origin),
            additional_headers=None if key is None else {"Authorization": f"Bearer {key}"},
            ssl=ssl if ssl is not None or not url.startswith("wss:") else True,
            compression=None,
            max_size=_MAX_MESSAGE,
            open_timeout=_OPEN_TIMEOUT_S,
        )
    except InvalidURI as error:
        raise InvalidInput(f"{url!r} is no address of a server.", field="url", allowed="ws://host:port") from error
    except InvalidStatus as error:
        raise _refusal(url, error) from error
    except (OSError, InvalidHandshake) as error:  # a timeout is an OSError
        raise ConnectionLost(f"There is no rtvoice server at {url}: {error}") from error
    try:
        return Link(websocket), await _read_ready(websocket)
    except BaseException:
        await _close(websocket)
        raise


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


async def _read_ready(websocket: ClientConnection) -> Ready:
    try:
        async with asyncio.timeout(_OPEN_TIMEOUT_S):
            ready = decode_server(await websocket.recv())
    except (ConnectionClosed, TimeoutError, ProtocolViolation) as error:
        raise ConnectionLost("The server does not speak rtvoice's protocol.") from error
    if not isinstance(ready, Ready) or ready.protocol != PROTOCOL_VERSION:
        raise ConnectionLost(f"The server does not speak version {PROTOCOL_VERSION} of rtvoice's protocol.")
    return ready


async def _close(websocket: ClientConnection) -> None:
    """Close, also when the server reads no more: then its part of the handshake is not waited for."""
    try:
        async with asyncio.timeout(_CLOSE_TIMEOUT_S):
            await websocket.close()
    except TimeoutError:
        websocket.transport.abort()


def _refusal(url: str, error: InvalidStatus) -> RtvoiceError:
    response = error.response
    wait_s = response.headers.get("Retry-After", "")
    if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE and wait_s.isdecimal():
        return Overloaded(f"{url} takes no more sessions now.", retry_after_ms=int(wait_s) * 1000)
    if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        return Overloaded(f"{url} takes no more sessions of this client.", retry_after_ms=1000)
    if response.status_code == HTTPStatus.UNAUTHORIZED:
        return ConnectionLost(f"{url} wants an API key, or another one.")
    return ConnectionLost(f"{url} refuses the connection with HTTP status {response.status_code}.")


def _lost(error: ConnectionClosed) -> ConnectionLost:
    closed = error.rcvd or error.sent
    why = f" with code {closed.code} ({closed.reason})" if closed else ""
    return ConnectionLost(f"The connection to the server ended{why}.")


def _is_terminal(message: ServerMessage) -> bool:
    return isinstance(message, Done | Cancelled | Error)
