"""What the server counts, for Prometheus: how soon it is heard, what it costs, and where the engine stands."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from rtvoice.protocol.messages import Cancelled, Error
from rtvoice.serving.lifecycle import State

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtvoice.config import Prices
    from rtvoice.protocol.messages import Terminal
    from rtvoice.serving.memory import Usage

_GIB = 1 << 30
_SOON = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 13, 30)
_QUICK = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)
_FACTORS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3)
_AHEAD = (0, 0.1, 0.25, 0.5, 1, 2, 4, 6, 8, 12)


class Metrics:
    """Counters and the text that tells them. One for a server; nothing is global.

    Args:
        prices: what the running cost is reckoned with.
        clock: a steady clock, in seconds.
    """

    def __init__(self, prices: Prices, clock: Callable[[], float] = time.monotonic) -> None:
        self._prices = prices
        self._now = clock
        self._registry = registry = CollectorRegistry()
        self._first_audio = _histogram(
            registry, "first_audio_seconds", "From an utterance's first text to its first audio.", _SOON
        )
        self._factor = _histogram(
            registry, "real_time_factor", "Seconds of inference for a second of an utterance's audio.", _FACTORS
        )
        self._queue = _histogram(registry, "queue_seconds", "Time an utterance's work waited for a place.", _SOON)
        self._cold_start = _histogram(registry, "cold_start_seconds", "How long loading the engine took.", _SOON)
        self._cancel = _histogram(registry, "cancel_seconds", "From a cancel's arrival to its answer.", _QUICK)
        self._ahead = _histogram(
            registry, "audio_ahead_seconds", "Audio in the listener's hand when more of it is made.", _AHEAD
        )
        self._utterances = Counter(
            "rtvoice_utterances", "Utterances that ended, by how.", ["outcome"], registry=registry
        )
        self._refusals = Counter("rtvoice_refusals", "What was not taken, by why.", ["reason"], registry=registry)
        self._loads = Counter(
            "rtvoice_loads", "Loads of the engine, by how they ended.", ["outcome"], registry=registry
        )
        self._state = Gauge("rtvoice_state", "1 for the state the engine is in.", ["state"], registry=registry)
        self._state_seconds = Counter(
            "rtvoice_state_seconds", "Time the engine has been in each state.", ["state"], registry=registry
        )
        self._memory = Gauge(
            "rtvoice_memory_bytes",
            "Memory of all processes (PSS), as last measured in each state.",
            ["state"],
            registry=registry,
        )
        self._memory_seconds = Counter(
            "rtvoice_memory_gib_seconds", "Memory of all processes over time, in GiB times seconds.", registry=registry
        )
        self._cpu = Counter("rtvoice_cpu_seconds", "CPU time of all processes.", registry=registry)
        self._audio = Counter("rtvoice_audio_seconds", "Audio that was sent.", registry=registry)
        self._cost = Counter(
            "rtvoice_cost", "What CPU time and memory have cost, in the currency of the prices.", registry=registry
        )
        self._sessions = Gauge("rtvoice_sessions", "Open sessions.", registry=registry)
        self._hungry = Gauge(
            "rtvoice_hungry_utterances", "Utterances whose listeners have nothing to hear.", registry=registry
        )
        self._predicted = Gauge(
            "rtvoice_predicted_first_audio_seconds",
            "When an utterance that came now would be heard.",
            registry=registry,
        )
        self._cpu_told_s = 0.0
        self._in, self._in_since = State.COLD, clock()
        for state in State:
            self._state.labels(state.value).set(state is State.COLD)
            self._state_seconds.labels(state.value)

    def expose(self, *, hungry: int, predicted_s: float, sessions: int) -> bytes:
        """All of it as text, in Prometheus' format, with what is so at this moment."""
        self._count_state()
        self._hungry.set(hungry)
        self._predicted.set(predicted_s)
        self._sessions.set(sessions)
        return generate_latest(self._registry)

    def utterance_ended(self, terminal: Terminal) -> None:
        """Count an utterance by the message that ended it."""
        if isinstance(terminal, Error):
            self._utterances.labels(terminal.code).inc()
            if terminal.code == "overloaded":
                self.refused("utterance")
        else:
            self._utterances.labels("cancelled" if isinstance(terminal, Cancelled) else "done").inc()
        if terminal.first_audio_ms is not None:
            self._first_audio.observe(terminal.first_audio_ms / 1000)
        if terminal.audio_ms:
            self._audio.inc(terminal.audio_ms / 1000)
            if terminal.compute_ms:
                self._factor.observe(terminal.compute_ms / terminal.audio_ms)
                self._queue.observe((terminal.queue_ms or 0) / 1000)

    def refused(self, reason: str) -> None:
        """Count what was not taken: an `utterance`, a `session`."""
        self._refusals.labels(reason).inc()

    def cancelled_in(self, seconds: float) -> None:
        """Note how long a cancel took to be answered."""
        self._cancel.observe(seconds)

    def audio_ahead(self, seconds: float) -> None:
        """Note how much audio a listener had in hand when more was made."""
        self._ahead.observe(seconds)

    def state_changed(self, before: State, seconds: float, after: State) -> None:
        """Count a transition of the engine.

        Args:
            before: the state it left.
            seconds: how long it had been in that.
            after: the state it is in now.
        """
        self._count_state()
        self._in = after
        self._state.labels(before.value).set(0)
        self._state.labels(after.value).set(1)
        if before is State.LOADING:
            if after is State.READY:
                self._cold_start.observe(seconds)
            self._loads.labels("done" if after is State.READY else "failed").inc()

    def _count_state(self) -> None:
        now = self._now()
        self._state_seconds.labels(self._in.value).inc(max(0.0, now - self._in_since))
        self._in_since = now

    def used(self, usage: Usage, seconds: float) -> None:
        """Enter what the processes use.

        Args:
            usage: as measured now.
            seconds: since it was measured last.
        """
        cpu_s = max(0.0, usage.cpu_s - self._cpu_told_s)  # a child that ended may not be in the books yet
        self._cpu_told_s += cpu_s
        gib_s = usage.memory_bytes / _GIB * seconds
        self._memory.labels(self._in.value).set(usage.memory_bytes)
        self._memory_seconds.inc(gib_s)
        self._cpu.inc(cpu_s)
        self._cost.inc(cpu_s * self._prices.cpu_s + gib_s * self._prices.gib_s)


def _histogram(registry: CollectorRegistry, name: str, what: str, buckets: tuple[float, ...]) -> Histogram:
    return Histogram(f"rtvoice_{name}", what, buckets=buckets, registry=registry)
