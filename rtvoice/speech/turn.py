"""Whose turn it is: what the pool knows of who waits for a place.

The least deadline goes first. A listener with audio in hand is due when that runs dry. One with nothing in hand is due
when that was first found: those who came first are heard first, rather than all of them late.

That would be enough if nobody asked for more than a fair share. Under more work than the machine can do, every
listener is dry, and whoever asks for the most gets the most: a book more than twenty sentences. So a deadline is put
off by what its account has lately been given. The debt is forgotten in some seconds, which bounds how long anybody is
passed over.

What counts between clients is what each was given over all its sessions, and between a client's sessions what each
was given of that: a session owes what its client owes, and as much more or less as it was given more or less than
the client's others.
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
    """What somebody has used of the pool: a client, one of its sessions, or an utterance of that.

    Args:
        parent: the account that this one is a part of, charged as well.

    Attributes:
        used_s: seconds that places were held, in all.
        waited_s: seconds that places were waited for, in all.
    """

    def __init__(self, parent: Account | None = None) -> None:
        self.used_s = 0.0
        self.waited_s = 0.0
        self._parent = parent
        self._lately_s = 0.0  # used, as far as it is not forgotten
        self._squares = 0.0  # of what the parts used lately, summed
        self._as_of = -math.inf

    def debt(self, now: float) -> float:
        """Seconds that a deadline is put off by."""
        if self._parent is None:
            return self._lately(now)
        own_s = self._lately(now)
        mean_s = self._parent.mean_part(own_s, now)
        return max(0.0, self._parent.debt(now) + own_s - mean_s)

    def charge(self, used_s: float, waited_s: float, now: float) -> None:
        """Enter what a piece of work took.

        Args:
            used_s: how long it held a place.
            waited_s: how long it had waited for it.
            now: when it ended, on `time.monotonic`.
        """
        self.charge_part(used_s, waited_s, now, 0.0)

    def charge_part(self, used_s: float, waited_s: float, now: float, squares: float) -> None:
        """Enter what a piece of work of a part took; see `charge`.

        Args:
            used_s: see there.
            waited_s: see there.
            now: see there.
            squares: what it added to the square of what the part used lately; 0 if it is nobody's but the account's.
        """
        kept = self._kept(now)
        before_s = self._lately_s * kept
        self._lately_s = before_s + used_s
        self._squares = self._squares * kept**2 + squares
        self._as_of = now
        self.used_s += used_s
        self.waited_s += waited_s
        if self._parent is not None:
            self._parent.charge_part(used_s, waited_s, now, self._lately_s**2 - before_s**2)

    def mean_part(self, part_s: float, now: float) -> float:
        """Return what a part used lately on average, of which one used so much. Who did little counts for little."""
        lately_s = self._lately(now)
        if lately_s <= 0:
            return 0.0
        parts = self._lately_s**2 / self._squares if self._squares > 0 else 1.0
        return lately_s / (parts + 1 - min(1.0, part_s / lately_s))

    def _lately(self, now: float) -> float:
        return self._lately_s * self._kept(now)

    def _kept(self, now: float) -> float:
        return math.exp(min(0.0, self._as_of - now) / _MEMORY_S)


class Turn:
    """For whom an utterance, or a segment, is spoken.

    Args:
        account: who it is charged to; None for nobody in particular.
        dry_at: tells when the listener has nothing left to hear, on the clock; in the past if it waits already, None
            before the utterance's first audio. Asked before each inference. Without it the listener is taken to hear
            what is given from then on, in real time.
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
        self._told_dry_at = dry_at
        self._now = clock
        self._given = False
        self._reckoned: float | None = None  # when the listener is dry, if nobody tells
        self._hungry: float | None = None  # the deadline, from its first asking on, while the listener has nothing

    @property
    def in_hand_s(self) -> float:
        """Seconds until the listener has heard all that there is; 0 if it waits."""
        dry_at = self._dry_at()
        return max(0.0, dry_at - self._now()) if dry_at is not None else 0.0

    @property
    def hears(self) -> bool:
        """Whether the listener has heard some of it, or still hears what came before."""
        return self._given or self.in_hand_s > 0

    def give(self, seconds: float) -> None:
        """Note that so much audio goes to the listener."""
        self._given = True
        self._reckoned = max(self._reckoned or -math.inf, self._now()) + seconds

    def _dry_at(self) -> float | None:
        return self._told_dry_at() if self._told_dry_at is not None else self._reckoned

    def deadline(self) -> float:
        """What places are given by, the least first: seconds on the clock."""
        now = self._now()
        dry_at = self._dry_at()
        if dry_at is not None and dry_at > now:
            self._hungry = None
            return dry_at + self.account.debt(now)
        if self._hungry is None:
            self._hungry = now + self.account.debt(now)
        return self._hungry
