"""Opening a client's connection, and what went wrong where that fails."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI
from websockets.typing import Origin

from rtvoice.errors import ConnectionLost, ConnectionRefused, InvalidInput, Overloaded, ProtocolViolation
from rtvoice.link import Link, close
from rtvoice.protocol.codec import decode_server
from rtvoice.protocol.messages import PROTOCOL_VERSION, Ready

if TYPE_CHECKING:
    from collections.abc import Iterator
    from ssl import SSLContext

    from websockets.asyncio.client import ClientConnection

    from rtvoice.errors import RtvoiceError

_MAX_MESSAGE = 1 << 20
_OPEN_TIMEOUT_S = 10.0
_PING_INTERVAL_S = 20.0
# An answer to a ping waits behind audio that nobody has iterated over yet.
_PING_TIMEOUT_S = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a server is, and how a client presents itself there; see `rtvoice.client.connect`."""

    url: str
    key: str | None = field(default=None, repr=False)
    origin: str | None = None
    ssl: SSLContext | None = None


async def dial(address: Address, numbers: Iterator[int]) -> Link:
    """Connect to a server; returns the link, not entered yet.

    Args:
        address: of the server.
        numbers: for the link's utterances.

    Raises:
        InvalidInput: the URL is none.
        Overloaded: the server takes no more sessions now.
        ConnectionRefused: it wants another key, or is no rtvoice of this protocol version.
        ConnectionLost: there is no server, for now at least.
    """
    url = address.url
    try:
        websocket = await open_websocket(
            url,
            origin=None if address.origin is None else Origin(address.origin),
            additional_headers=None if address.key is None else {"Authorization": f"Bearer {address.key}"},
            ssl=address.ssl if address.ssl is not None or not url.startswith("wss:") else True,
            compression=None,
            max_size=_MAX_MESSAGE,
            open_timeout=_OPEN_TIMEOUT_S,
            ping_interval=_PING_INTERVAL_S,
            ping_timeout=_PING_TIMEOUT_S,
        )
    except InvalidURI as error:
        raise InvalidInput(f"{url!r} is no address of a server.", field="url", allowed="ws://host:port") from error
    except InvalidStatus as error:
        raise _refusal(url, error) from error
    except (OSError, InvalidHandshake) as error:  # a timeout is an OSError
        raise ConnectionLost(f"There is no rtvoice server at {url}: {_why(error)}.") from error
    try:
        return Link(websocket, await _read_ready(websocket), numbers)
    except BaseException:
        await close(websocket)
        raise


def _why(error: OSError | InvalidHandshake) -> str:
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno)
    return str(getattr(error, "strerror", None) or error)


async def _read_ready(websocket: ClientConnection) -> Ready:
    try:
        async with asyncio.timeout(_OPEN_TIMEOUT_S):
            ready = decode_server(await websocket.recv())
    except (ConnectionClosed, TimeoutError) as error:
        raise ConnectionLost("The server does not greet as rtvoice does.") from error
    except ProtocolViolation as error:
        raise ConnectionRefused("The server does not speak rtvoice's protocol.") from error
    if not isinstance(ready, Ready) or ready.protocol != PROTOCOL_VERSION:
        raise ConnectionRefused(f"The server does not speak version {PROTOCOL_VERSION} of rtvoice's protocol.")
    return ready


def _refusal(url: str, error: InvalidStatus) -> RtvoiceError:
    response = error.response
    wait_s = response.headers.get("Retry-After", "")
    if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE and wait_s.isdecimal():
        return Overloaded(f"{url} takes no more sessions now.", retry_after_ms=int(wait_s) * 1000)
    if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        return Overloaded(f"{url} takes no more sessions of this client.", retry_after_ms=1000)
    if response.status_code == HTTPStatus.UNAUTHORIZED:
        return ConnectionRefused(f"{url} wants an API key, or another one.")
    kind = ConnectionLost if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR else ConnectionRefused
    return kind(f"{url} refuses the connection with HTTP status {response.status_code}.")
