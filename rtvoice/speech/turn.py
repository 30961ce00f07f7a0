"""Whose turn it is: what the pool knows of who waits for a place.

The least deadline goes first. A listener with audio in hand is due when that runs dry. One with nothing in hand is due
when that was first found: those who came first are heard first, rather than all of them late.

That would be enough if nobody asked for more than a fair share. Under more work than the machine can do, every
listener is dry, and whoever asks for the most gets the most: a book more than twenty sentences. So a deadline is put
off by what its account has lately been given. The debt is forgotten in some seconds, which bounds how long anybody is
passed over.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MEMORY_S = 10.0
"""Time in which a debt falls to a third (1/e)."""


class Account:
    """What somebody has used of the pool: a session, or all sessions of a key.

    Args:
        parent: the account of the key that a session belongs to, charged as well.

    Attributes:
        used_s: seconds that places were held, in all.
        waited_s: seconds that places were waited for, in all.
    """

    def __init__(self, parent: Account | None = None) -> None:
        self.used_s = 0.0
        self.waited_s = 0.0
        self._parent = parent
        self._debt = 0.0
        self._as_of = -math.inf

    def debt(self, now: float) -> float:
        """Seconds that a deadline is put off by: what was used lately, here and by the parent."""
        inherited = self._parent.debt(now) if self._parent is not None else 0.0
        return inherited + self._debt * math.exp(min(0.0, self._as_of - now) / _MEMORY_S)

    def charge(self, used_s: float, waited_s: float, now: float) -> None:
        """Enter what a piece of work took.

        Args:
            used_s: how long it held a place.
            waited_s: how long it had waited for it.
            now: when it ended, on `time.monotonic`.
        """
        self._debt = self._debt * math.exp(min(0.0, self._as_of - now) / _MEMORY_S) + used_s
        self._as_of = now
        self.used_s += used_s
        self.waited_s += waited_s
        if self._parent is not None:
            self._parent.charge(used_s, waited_s, now)


class Turn:
    """For whom an utterance, or a segment, is spoken.

    Args:
        account: who it is charged to; None for nobody in particular.
        dry_at: tells when the listener has nothing left to hear, on the clock; in the past if it waits already, None
            before the utterance's first audio. Asked before each inference.
        loading: called when the work has to wait until the engine is loaded, at once and then every second, with the
            seconds that have passed and those that it is expected to take in all, if that is known.
        clock: a steady clock, in seconds.

    Attributes:
        loading_s: how long the work has waited until the engine was loaded.
    """

    def __init__(
        self,
        account: Account | None = None,
        dry_at: Callable[[], float | None] | None = None,
        loading: Callable[[float, float | None], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.account = account if account is not None else Account()
        self.loading = loading
        self.loading_s = 0.0
        self._dry_at = dry_at
        self._now = clock
        self._hungry: float | None = None  # the deadline, from its first asking on, while the listener has nothing

    def deadline(self) -> float:
        """What places are given by, the least first: seconds on the clock."""
        now = self._now()
        dry_at = self._dry_at() if self._dry_at is not None else None
        if dry_at is not None and dry_at > now:
            self._hungry = None
            return dry_at + self.account.debt(now)
        if self._hungry is None:
            self._hungry = now + self.account.debt(now)
        return self._hungry
