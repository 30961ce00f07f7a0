"""Whether a connection is accepted, in whose name, and what is spoken on it."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from rtvoice.errors import InvalidInput
from rtvoice.protocol.routes import find_dialect
from rtvoice.serving.access import TOKEN_LIFETIME_S, Holder
from rtvoice.serving.http import Answer, as_json, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtvoice.protocol.dialect import MakeDialect
    from rtvoice.protocol.messages import Ready
    from rtvoice.serving.access import Gate

    Headers = Sequence[tuple[str, str]]

_ORIGIN = re.compile(r"https?://([a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?")


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
        check: refuses a voice in a language, or in its own, that an address asks for; see `find_dialect`.
        clock: time of day, in seconds since 1970.
    """

    def __init__(
        self,
        ready: Ready,
        origins: Sequence[str],
        gate: Gate | None,
        check: Callable[[str, str | None], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ready = ready
        self._origins = origins
        self._gate = gate
        self._check = check
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
            dialect = find_dialect(address.path, address.query, self._ready, self._check)
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
        holder = Holder(remote)
        if self._gate is not None:
            found = self._gate.identify(headers, query, self._now())
            if found is None:
                return _unauthorized()
            holder = found
        host = "".join(_values(headers, "host")[:1])
        if any(not self._is_allowed(origin, host, holder) for origin in _values(headers, "origin")):
            return plain(HTTPStatus.FORBIDDEN, "Pages of this origin may not connect.")
        return holder.name

    def refuse_metrics(self, query: str, headers: Headers) -> Answer | None:
        """Refuse to tell what was counted, to those without a key where there are keys; None tells it."""
        if self._gate is None or self._gate.identify(headers, query, self._now()) is not None:
            return None
        return _unauthorized()

    def token(self, query: str, headers: Headers) -> Answer | None:
        """Give out a token to the holder of a key; None if there are no keys, and so no need of tokens.

        Args:
            query: of the request's address; its `origin` says which pages the token is for.
            headers: of the request.
        """
        if self._gate is None:
            return None
        name = self._gate.key_holder(headers)
        if name is None:
            return _unauthorized()
        origin = dict(parse_qsl(query, keep_blank_values=True)).get("origin")
        if origin is not None:
            origin = origin.lower()
            if not _ORIGIN.fullmatch(origin):
                return plain(HTTPStatus.BAD_REQUEST, "origin must be that of a page, as https://example.org.")
        token = self._gate.issue(name, self._now(), origin)
        return as_json(json.dumps({"token": token, "expires_in_s": TOKEN_LIFETIME_S}).encode())

    def _is_allowed(self, origin: str, host: str, holder: Holder) -> bool:
        if holder.origin is not None:
            return origin == holder.origin
        return origin in self._origins or urlsplit(origin).netloc.lower() == host.lower()


def _values(headers: Headers, wanted: str) -> list[str]:
    return [value for name, value in headers if name.lower() == wanted]


def _unauthorized() -> Answer:
    answer = plain(HTTPStatus.UNAUTHORIZED, "An API key is needed, or the one that was sent is none.")
    return Answer(answer.status, answer.headers | {"WWW-Authenticate": "Bearer"}, answer.body)


def _refusal(error: InvalidInput) -> str:
    allowed = ", ".join(error.allowed) if isinstance(error.allowed, tuple) else error.allowed
    return f"{error} Allowed: {allowed}." if allowed else str(error)
