"""Whether a connection is accepted, and what is spoken on it."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rtvoice.errors import InvalidInput
from rtvoice.protocol.routes import find_dialect
from rtvoice.serving.http import Answer, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtvoice.protocol.dialect import MakeDialect
    from rtvoice.protocol.messages import Ready


@dataclass(frozen=True, slots=True)
class Accepted:
    """A connection that may be opened.

    Attributes:
        dialect: makes what is spoken on it.
    """

    dialect: MakeDialect


class Handshake:
    """Decides about connections by what they ask for.

    Args:
        ready: what the server offers.
        origins: of pages that may connect, beside the server's own.
    """

    def __init__(self, ready: Ready, origins: Sequence[str]) -> None:
        self._ready = ready
        self._origins = origins

    def decide(self, target: str, origins: Sequence[str], host: str) -> Accepted | Answer:
        """Accept a connection, or say why not.

        Args:
            target: path and query, as sent.
            origins: values of its `Origin` headers.
            host: value of its `Host` header.
        """
        address = urlsplit(target)
        try:
            dialect = find_dialect(address.path, address.query, self._ready)
        except InvalidInput as error:
            return plain(HTTPStatus.BAD_REQUEST, _refusal(error))
        if dialect is None:
            return plain(HTTPStatus.NOT_FOUND, "There is no socket at this address; rtvoice's own is at the root.")
        if any(not self._is_allowed(origin, host) for origin in origins):
            return plain(HTTPStatus.FORBIDDEN, "Pages of this origin may not open the socket.")
        return Accepted(dialect)

    def _is_allowed(self, origin: str, host: str) -> bool:
        return origin in self._origins or urlsplit(origin).netloc.lower() == host.lower()


def _refusal(error: InvalidInput) -> str:
    allowed = ", ".join(error.allowed) if isinstance(error.allowed, tuple) else error.allowed
    return f"{error} Allowed: {allowed}." if allowed else str(error)
