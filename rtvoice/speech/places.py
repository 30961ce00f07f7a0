"""Places to run in, and who gets one."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Places:
    """So many may run at once; the others wait, the earliest deadline first, then in the order they came.

    A place that becomes free is given away a moment later: who had it may want it again for what comes next, and if
    theirs is the earliest deadline, theirs is the place. Else those who came first would be heard as late as the last.

    Of some of what runs there may be fewer than places. Whoever wants that waits for both, it and a place, and holds
    neither meanwhile: others who come later may pass.

    Args:
        count: how many may run at once.
        fewer: how many of some kinds may, at least 1.
    """

    def __init__(self, count: int, fewer: Mapping[str, int] = MappingProxyType({})) -> None:
        self._count = self._free = count
        self._left = dict(fewer)  # of what there is less of
        self._giving = False  # a place is free, and is about to be given away
        self._waiting: list[tuple[float, int, asyncio.Future[None], str]] = []
        self._order = itertools.count()
        self._all_free = asyncio.Event()
        self._all_free.set()

    @property
    def count(self) -> int:
        """How many may run at once."""
        return self._count

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(not place.done() for _, _, place, _ in self._waiting)

    async def take(self, deadline: float = math.inf, kind: str = "") -> None:
        """Wait for a place and hold it until `leave`.

        Args:
            deadline: by when the result is needed; on any clock, as long as it is the same one for all.
            kind: of what runs in it; one of which there may be fewer than places, or any other.

        May be cancelled: then no place is held.
        """
        if self._free > 0 and not self._giving and self._left.get(kind, 1) > 0:
            self._give(kind)
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (deadline, next(self._order), place, kind))
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():  # it came in the very moment of cancelling: pass it on
                self.leave(kind)
            raise

    def leave(self, kind: str = "") -> None:
        """Give a place back. `kind`: that was taken with it."""
        self._free += 1
        if kind in self._left:
            self._left[kind] += 1
        if not self._waiting:
            self._hand_out()
        elif not self._giving:
            self._giving = True
            loop = asyncio.get_running_loop()
            # whoever had the place is woken in the next turn of the loop, and may ask in that
            loop.call_soon(loop.call_soon, self._hand_out)

    def resize(self, count: int) -> None:
        """Change how many may run at once, at least 1. Whoever runs goes on; fewer places are given away from then."""
        self._free += count - self._count
        self._count = count
        self._hand_out()

    def _give(self, kind: str) -> None:
        self._free -= 1
        self._all_free.clear()
        if kind in self._left:
            self._left[kind] -= 1

    def _hand_out(self) -> None:
        self._giving = False
        passed = []  # their turn has come, but there is nothing left of what they need
        while self._free > 0 and self._waiting:
            first = heapq.heappop(self._waiting)
            _, _, place, kind = first
            if place.done():
                continue
            if self._left.get(kind, 1) <= 0:
                passed.append(first)
                continue
            place.set_result(None)
            self._give(kind)
        for one in passed:
            heapq.heappush(self._waiting, one)
        if self._free == self._count:
            self._all_free.set()

    async def all_left(self) -> None:
        """Wait until nobody holds a place."""
        await self._all_free.wait()
