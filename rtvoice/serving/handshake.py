"""Whether a connection is accepted, in whose name, and what is spoken on it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rtvoice.errors import InvalidInput
from rtvoice.protocol.routes import find_dialect
from rtvoice.serving.access import TOKEN_LIFETIME_S
from rtvoice.serving.http import Answer, as_json, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtvoice.protocol.dialect import MakeDialect
    from rtvoice.protocol.messages import Ready
    from rtvoice.serving.access import Gate

    Headers = Sequence[tuple[str, str]]

TOKEN_PATH = "/token"  # noqa: S105  # where tokens are given out


@dataclass(frozen=True, slots=True)
class Accepted:
    """A connection that may be opened.

    Attributes:
        dialect: makes what is spoken on it.
        client: whose it is: the name of a key, or an address.
    """

    dialect: MakeDialect
    client: str


class Handshake:
    """Decides about connections by what they ask for.

    Args:
        ready: what the server offers.
        origins: of pages that may connect, beside the server's own.
        gate: who may connect; None lets everybody in.
        clock: time of day, in seconds since 1970.
    """

    def __init__(
        self, ready: Ready, origins: Sequence[str], gate: Gate | None, clock: Callable[[], float] = time.time
    ) -> None:
        self._ready = ready
        self._origins = origins
        self._gate = gate
        self._now = clock

    def decide(self, target: str, headers: Headers, remote: str) -> Accepted | Answer:
        """Accept a connection, or say why not.

        Args:
            target: path and query, as sent.
            headers: of the request, names as sent.
            remote: the peer's address.
        """
        address = urlsplit(target)
        client = self.admit(address.query, headers, remote)
        if isinstance(client, Answer):
            return client
        try:
            dialect = find_dialect(address.path, address.query, self._ready)
        except InvalidInput as error:
            return plain(HTTPStatus.BAD_REQUEST, _refusal(error))
        if dialect is None:
            return plain(HTTPStatus.NOT_FOUND, "There is no socket at this address; rtvoice's own is at the root.")
        return Accepted(dialect, client)

    def admit(self, query: str, headers: Headers, remote: str) -> str | Answer:
        """Whose request it is, or why it is refused: it needs a key where there are keys, and a page a good origin.

        Args:
            query: of the request's address.
            headers: of the request, names as sent.
            remote: the peer's address.
        """
        client = remote
        if self._gate is not None:
            name = self._gate.identify(headers, query, self._now())
            if name is None:
                return _unauthorized()
            client = name
        host = "".join(_values(headers, "host")[:1])
        if any(not self._is_allowed(origin, host) for origin in _values(headers, "origin")):
            return plain(HTTPStatus.FORBIDDEN, "Pages of this origin may not connect.")
        return client

    def token(self, headers: Headers) -> Answer | None:
        """Give out a token to the holder of a key; None if there are no keys, and so no need of tokens."""
        if self._gate is None:
            return None
        name = self._gate.key_holder(headers)
        if name is None:
            return _unauthorized()
        body = json.dumps({"token": self._gate.issue(name, self._now()), "expires_in_s": TOKEN_LIFETIME_S})
        return as_json(body.encode())

    def _is_allowed(self, origin: str, host: str) -> bool:
        return origin in self._origins or urlsplit(origin).netloc.lower() == host.lower()


def _values(headers: Headers, wanted: str) -> list[str]:
    return [value for name, value in headers if name.lower() == wanted]


def _unauthorized() -> Answer:
    answer = plain(HTTPStatus.UNAUTHORIZED, "An API key is needed, or the one that was sent is none.")
    return Answer(answer.status, answer.headers | {"WWW-Authenticate": "Bearer"}, answer.body)


def _refusal(error: InvalidInput) -> str:
    allowed = ", ".join(error.allowed) if isinstance(error.allowed, tuple) else error.allowed
    return f"{error} Allowed: {allowed}." if allowed else str(error)
