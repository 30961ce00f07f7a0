"""The other end of a connection, as a session sees it."""

from __future__ import annotations

from typing import Protocol


class PeerGone(Exception):
    """The connection is closed; nothing more can be sent."""


class Peer(Protocol):
    """The other end of a connection, as a session sees it."""

    async def receive(self) -> str | bytes | None:
        """Wait for a message; None when the connection is closed. Safe to cancel."""

    async def send(self, data: str | bytes) -> None:
        """Send a message; returns when the next one may be sent.

        Raises:
            PeerGone: the connection is closed.
        """

    async def close(self, code: int, reason: str) -> None:
        """Close the connection; returns when it is closed, within a deadline."""
