"""What the server does at this moment, for those who look on: `GET /status`."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rtvoice.serving.memory import measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtvoice.serving.memory import Usage

_FRESH_S = 1.0
"""Age of a measurement up to which it is told again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What the server does at this moment.

    Attributes:
        state: where the engine stands: a value of `lifecycle.State`.
        since_s: how long it has stood there, in seconds.
        memory_bytes: memory of all processes (PSS), a second old at most.
        sessions: open connections.
        streams: sentences that are synthesised at once at most.
        queue: utterances whose listeners have nothing to hear now.
        utterances: that were opened and have not ended.
    """

    state: str
    since_s: float
    memory_bytes: int
    sessions: int
    streams: int
    queue: int
    utterances: int

    def encode(self) -> bytes:
        """Write it as a JSON object."""
        return json.dumps(asdict(self) | {"since_s": round(self.since_s, 3)}, separators=(",", ":")).encode()


class MemoryGauge:
    """How much memory all processes hold. One measurement serves all who ask within a second.

    Args:
        measure: asks the kernel; called in a thread, since it takes some milliseconds.
        clock: a steady clock, in seconds.
    """

    def __init__(self, measure: Callable[[], Usage] = measure, clock: Callable[[], float] = time.monotonic) -> None:
        self._measure = measure
        self._now = clock
        self._one_at_a_time = asyncio.Lock()
        self._last: tuple[float, int] | None = None

    async def read(self) -> int:
        """Bytes, PSS. Safe to cancel."""
        async with self._one_at_a_time:
            if self._last is None or self._now() - self._last[0] >= _FRESH_S:
                usage = await asyncio.to_thread(self._measure)
                self._last = self._now(), usage.memory_bytes
            return self._last[1]
