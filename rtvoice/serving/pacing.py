"""Where the listener is: the clock that bounds how far synthesis runs ahead."""

from __future__ import annotations


class PlaybackClock:
    """A listener who plays what was sent in real time, from the first frame on, and waits when there is none.

    Times are seconds on any steady clock and are passed in; they never fall.
    """

    def __init__(self) -> None:
        self._dry_at = float("-inf")

    @property
    def dry_at(self) -> float:
        """When the listener has, or had, heard all that was sent; minus infinity before the first."""
        return self._dry_at

    def ahead(self, now: float) -> float:
        """Seconds of audio that were sent and are not heard yet."""
        return max(0.0, self._dry_at - now)

    def sent(self, seconds: float, now: float) -> None:
        """Take note of audio sent."""
        self._dry_at = max(self._dry_at, now) + seconds

    def interrupt(self, seconds: float, now: float) -> float:
        """The listener throws away what it has not heard of the audio sent last.

        Args:
            seconds: length of the audio that is stopped, the newest.
            now: when.

        Returns:
            How much of it was not heard, in seconds.
        """
        unheard = min(seconds, self.ahead(now))
        self._dry_at -= unheard
        return unheard
