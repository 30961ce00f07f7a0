"""Whether an utterance is taken: only if those who came before let it be heard soon enough.

What an utterance takes until its first audio is measured on those before it, as the time that its inferences held a
place; before the first it is what the engine predicts of itself. Whoever comes now waits for the load, if there is one,
for those who have nothing to hear yet and came before, and for its own work. Listeners with audio in hand do not count:
they are served later. Who has heard something and waits for more is held to account for what it was given
(`rtvoice.speech.turn`), so it is little ahead of a new one.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from rtvoice.errors import Overloaded

if TYPE_CHECKING:
    from collections.abc import Callable

_WEIGHT = 0.1
"""Of the newest measurement in the average."""

_LEFT = 0.75
"""Of the work until their first audio, what those who came before have still to do: some have begun."""

_MORE = 0.1
"""Of as much work, what somebody who waits for more takes before a new one is heard: a slice now and then."""

_LEAST_RETRY_S, _MOST_RETRY_S = 0.1, 60.0


class Waiting:
    """An utterance that is being spoken, or is about to be. Made by `Admission.begin`."""

    def __init__(self, admission: Admission, dry_at: Callable[[], float]) -> None:
        self._admission = admission
        self._dry_at = dry_at
        self._heard = False

    @property
    def was_heard(self) -> bool:
        """Whether there was audio of it."""
        return self._heard

    def is_hungry(self, now: float) -> bool:
        """Whether its listener has nothing to hear, though there is something to say."""
        return self._dry_at() < (now if self._heard else math.inf)

    def heard(self, work_s: float) -> None:
        """Tell of its first audio; later calls change nothing.

        Args:
            work_s: how long its inferences held places until then.
        """
        if not self._heard:
            self._heard = True
            self._admission.learn(work_s)

    def over(self) -> None:
        """Tell that it has ended; later calls change nothing."""
        self._admission.forget(self)


class Admission:
    """Predicts how long an utterance that came now would wait for its first audio.

    Args:
        most_s: the longest wait that is still admitted, in seconds; None admits everybody.
        places: how many pieces of work run at once.
        loading_s: how long the engine takes until it is there.
        work_s: what an utterance takes until its first audio, as the engine predicts; None if it does not.
        clock: a steady clock, in seconds.
    """

    def __init__(
        self,
        *,
        most_s: float | None,
        places: Callable[[], int],
        loading_s: Callable[[], float] = lambda: 0.0,
        work_s: Callable[[], float | None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most_s = most_s
        self._places = places
        self._loading_s = loading_s
        self._predicted_work_s = work_s
        self._now = clock
        self._measured_s: float | None = None
        self._measured = 0
        self._waiting: set[Waiting] = set()

    @property
    def hungry(self) -> int:
        """How many utterances have nothing to hear now."""
        now = self._now()
        return sum(waiting.is_hungry(now) for waiting in self._waiting)

    @property
    def predicted_s(self) -> float:
        """Seconds until an utterance that came now would be heard."""
        return self._loading_s() + self._work_s * (1 + self._queue)

    @property
    def _queue(self) -> float:
        """How many times its own work an utterance that came now would wait for others."""
        now = self._now()
        hungry = [waiting for waiting in self._waiting if waiting.is_hungry(now)]
        return sum(_MORE if waiting.was_heard else _LEFT for waiting in hungry) / self._places()

    @property
    def retry_after_s(self) -> float | None:
        """How long to wait until an utterance would be taken; None if it would be now.

        Only those who wait already are a reason to refuse. What the load takes, and the utterance itself, it would
        take later as well; and who would find out that it takes less, if all were refused?
        """
        queue = self._queue
        if self._most_s is None or not queue:
            return None
        excess = self._work_s * (1 + queue) - self._most_s
        if excess <= 0:
            return None
        return min(max(excess, _LEAST_RETRY_S), _MOST_RETRY_S)

    def check(self) -> None:
        """Refuse an utterance that would not be heard soon enough.

        Raises:
            Overloaded: it would wait too long; says how long to stay away.
        """
        if (retry_after_s := self.retry_after_s) is not None:
            raise Overloaded(
                f"The server is busy: speech would begin in about {self.predicted_s:.0f} s.",
                retry_after_ms=math.ceil(retry_after_s * 1000),
            )

    def begin(self, dry_at: Callable[[], float]) -> Waiting:
        """Enter an utterance that there is text for.

        Args:
            dry_at: tells when its listener has nothing left to hear; infinity while there is nothing to say.
        """
        waiting = Waiting(self, dry_at)
        self._waiting.add(waiting)
        return waiting

    def learn(self, work_s: float) -> None:
        """Take what an utterance took until its first audio into the average. The first few count for more."""
        known_s = self._work_s or work_s
        self._measured += 1
        weight = max(_WEIGHT, 1 / (1 + self._measured))
        self._measured_s = known_s + weight * (work_s - known_s)

    @property
    def _work_s(self) -> float:
        return self._measured_s if self._measured_s is not None else self._predicted_work_s() or 0.0

    def forget(self, waiting: Waiting) -> None:
        """See `Waiting.over`."""
        self._waiting.discard(waiting)
