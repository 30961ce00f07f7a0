"""How much one client may use: connections at once, utterances and characters a minute. Sans-I/O."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rtvoice.errors import Overloaded
from rtvoice.speech.turn import Account

if TYPE_CHECKING:
    from rtvoice.config import ClientLimits

_MINUTE_S = 60.0
_MOST_CLIENTS = 10_000  # remembered; those who have not been here for long are forgotten first


class Bucket:
    """What may be taken: as much as a minute holds at once, and again as time goes by.

    Args:
        per_minute: how much that is; None for no limit.
    """

    def __init__(self, per_minute: int | None) -> None:
        self._most = per_minute
        self._left = float(per_minute or 0)
        self._as_of = -math.inf

    def take(self, amount: int, now: float) -> float | None:
        """Take an amount; returns None, or the seconds to wait until it could be taken.

        More than a minute holds can be taken from a full bucket, which is then empty for longer.
        """
        if self._most is None:
            return None
        self._left = min(self._most, self._left + min(_MINUTE_S, now - self._as_of) * self._most / _MINUTE_S)
        self._as_of = now
        missing = min(amount, self._most) - self._left
        if missing > 1e-9:
            return missing * _MINUTE_S / self._most
        self._left -= amount
        return None


class Client:
    """One who connects: the holder of a key, or an address.

    Args:
        limits: what it may use.

    Attributes:
        account: what its work in the engine is charged to, whichever its sessions.
        connections: that are open.
    """

    def __init__(self, limits: ClientLimits) -> None:
        self.account = Account()
        self.connections = 0
        self._utterances = Bucket(limits.utterances_per_minute)
        self._characters = Bucket(limits.characters_per_minute)

    def take_utterance(self, now: float) -> None:
        """Count an utterance.

        Raises:
            Overloaded: there were too many of late.
        """
        _refuse(self._utterances.take(1, now), "utterances")

    def take_text(self, characters: int, now: float) -> None:
        """Count text.

        Raises:
            Overloaded: there was too much of late.
        """
        _refuse(self._characters.take(characters, now), "characters")


class Clients:
    """Everybody who connects, by name.

    Args:
        limits: of each.
    """

    def __init__(self, limits: ClientLimits) -> None:
        self._limits = limits
        self._clients: dict[str, Client] = {}

    def has_room(self, name: str) -> bool:
        """Whether a client may open another connection."""
        most, client = self._limits.connections, self._clients.get(name)
        return most is None or client is None or client.connections < most

    def open(self, name: str) -> Client:
        """Count a connection; give it back by `close`."""
        client = self._clients.pop(name, None) or Client(self._limits)
        self._clients[name] = client  # the last that was here
        client.connections += 1
        return client

    def close(self, client: Client) -> None:
        """Give a connection back."""
        client.connections -= 1
        while len(self._clients) > _MOST_CLIENTS:
            gone = next((name for name, known in self._clients.items() if not known.connections), None)
            if gone is None:
                return
            del self._clients[gone]


def _refuse(wait_s: float | None, what: str) -> None:
    if wait_s is not None:
        raise Overloaded(f"This client has used its {what} for now.", retry_after_ms=math.ceil(wait_s * 1000))
