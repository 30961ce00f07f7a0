"""A synthesizer that is loaded when there is something to say, and gives its memory back when there has been nothing.

::

    COLD ---load---> LOADING ---loaded---> READY ---release---> RELEASING ---released---> RELEASED
      ^                |   ^                                                                 |
      +-----failed-----+   +-----------------------------load--------------------------------+

Whoever wants to speak counts from that moment on, and a release begins only while nobody counts, so no work is lost or
refused for it: who comes during a release waits for its end and then for the load. One load serves all who wait. One
that fails fails for all of them; the next who comes makes it be tried again.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing, suppress
from enum import Enum
from typing import TYPE_CHECKING, Self

import structlog

from rtvoice.errors import LoadFailed, RtvoiceError
from rtvoice.serving.logs import trace
from rtvoice.speech.synthesizer import AudioSlice, SpeechOptions, Synthesizer, VoiceInfo

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from structlog.typing import FilteringBoundLogger

    from rtvoice.speech.turn import Turn
    from rtvoice.text.segment import Script

_HEARTBEAT_S = 1.0


class State(Enum):
    """Where the engine stands."""

    COLD = "cold"
    LOADING = "loading"
    READY = "ready"
    RELEASING = "releasing"
    RELEASED = "released"


class Event(Enum):
    """What happens to it."""

    LOAD = "load"
    LOADED = "loaded"
    FAILED = "failed"
    RELEASE = "release"
    RELEASED = "released"


TRANSITIONS: dict[State, dict[Event, State]] = {
    State.COLD: {Event.LOAD: State.LOADING},
    State.LOADING: {Event.LOADED: State.READY, Event.FAILED: State.COLD},
    State.READY: {Event.RELEASE: State.RELEASING},
    State.RELEASING: {Event.RELEASED: State.RELEASED},
    State.RELEASED: {Event.LOAD: State.LOADING},
}


class Lifecycle(Synthesizer):
    """Loads a synthesizer when it is needed and releases it when it is not. An async context manager.

    Args:
        synthesizer: not entered; it is entered and left as often as needed, and never twice at once.
        idle_s: seconds without speech after which it is released; None never does.
        preload: whether entering loads it, and fails if that fails.
        give_back: called in a thread when it has been released and nobody waits for it: returns memory to the kernel.
        changed: called at each transition with the state that was left, the seconds spent in it, and the new one.
        clock: a steady clock, in seconds.

    Raises:
        SetupError: (on entering, with `preload`) as the synthesizer.
    """

    def __init__(
        self,
        synthesizer: Synthesizer,
        *,
        idle_s: float | None = None,
        preload: bool = False,
        give_back: Callable[[], None] | None = None,
        changed: Callable[[State, float, State], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._synthesizer = synthesizer
        self._idle_s = idle_s
        self._preload = preload
        self._give_back = give_back
        self._changed = changed
        self._now = clock
        self._state = State.COLD
        self._since = clock()
        self._load_s: float | None = None  # how long the last load took
        self._users = 0
        self._used_at = clock()
        self._quiet = asyncio.Event()  # something the idle timer waits for may have come
        self._load: asyncio.Task[Exception | None] | None = None
        self._release: asyncio.Task[None] | None = None
        self._timer: asyncio.Task[None] | None = None
        self._closed = False
        self._log: FilteringBoundLogger = structlog.get_logger("rtvoice.lifecycle")

    @property
    def state(self) -> State:
        """Where it stands."""
        return self._state

    @property
    def since_s(self) -> float:
        """How long it has stood there, in seconds."""
        return self._now() - self._since

    @property
    def loading_s(self) -> float:
        """How long a segment that came now would wait for the engine, as far as is known: 0 if it is ready."""
        if self._state is State.READY:
            return 0.0
        whole = self._load_s or 0.0
        return max(0.0, whole - (self._now() - self._since)) if self._state is State.LOADING else whole

    @property
    def voices(self) -> tuple[VoiceInfo, ...]:
        """See `Synthesizer.voices`."""
        return self._synthesizer.voices

    @property
    def languages(self) -> tuple[str, ...]:
        """See `Synthesizer.languages`."""
        return self._synthesizer.languages

    @property
    def any_blend(self) -> bool:
        """See `Synthesizer.any_blend`."""
        return self._synthesizer.any_blend

    @property
    def places(self) -> int:
        """See `Synthesizer.places`."""
        return self._synthesizer.places

    @property
    def first_audio_s(self) -> float | None:
        """See `Synthesizer.first_audio_s`."""
        return self._synthesizer.first_audio_s

    def check(self, options: SpeechOptions) -> None:
        """See `Synthesizer.check`. Does not load."""
        self._synthesizer.check(options)

    def wake(self) -> None:
        """See `Synthesizer.wake`: load if that is needed, and begin the quiet period anew."""
        self._used_at = self._now()
        if self._state is not State.READY and not self._closed:
            self._loading()

    async def speak(
        self, script: Script, options: SpeechOptions, *, ordinal: int, turn: Turn | None = None
    ) -> AsyncGenerator[AudioSlice, None]:
        """Speak a segment, once the engine is there; see `Synthesizer.speak`.

        Raises:
            LoadFailed: it could not be loaded.
        """
        self._users += 1
        try:
            await self._readiness(turn)
            async with aclosing(self._synthesizer.speak(script, options, ordinal=ordinal, turn=turn)) as slices:
                async for piece in slices:
                    yield piece
        finally:
            self._users -= 1
            self._used_at = self._now()
            self._quiet.set()

    async def __aenter__(self) -> Self:
        self._closed = False
        if self._preload:
            try:
                error = await asyncio.shield(self._loading())
            except asyncio.CancelledError:
                await self._cancel_load()
                raise
            if error is not None:
                raise error
        if self._idle_s is not None:
            self._timer = asyncio.create_task(self._release_when_idle(self._idle_s), name="rtvoice idle timer")
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            await asyncio.wait([self._timer])
        await self._cancel_load()
        if self._release is not None:
            await asyncio.wait([self._release])
        if self._state is State.READY:
            self._apply(Event.RELEASE)
            try:
                await self._synthesizer.__aexit__(*exc_info)
            finally:
                self._apply(Event.RELEASED)

    # Loading

    async def _readiness(self, turn: Turn | None) -> None:
        began = self._now()
        while self._state is not State.READY:
            load = self._loading()
            while not load.done():
                if turn is not None and turn.loading is not None:
                    turn.loading(self._now() - began, self._load_s)
                await asyncio.wait([load], timeout=_HEARTBEAT_S)
            if turn is not None:
                turn.loading_s = self._now() - began
            error = LoadFailed("The engine was closed.") if load.cancelled() else load.result()
            if error is not None:
                raise LoadFailed(f"The engine could not be loaded: {error}") from error

    def _loading(self) -> asyncio.Task[Exception | None]:
        """The load that is under way, or a new one."""
        if self._closed:
            raise LoadFailed("The engine was closed.")
        if self._load is None or self._load.done():
            self._load = asyncio.create_task(self._load_all(), name="rtvoice load")
        return self._load

    async def _load_all(self) -> Exception | None:
        """Load; returns what went wrong, for all who wait to raise."""
        if self._release is not None:
            await asyncio.wait([self._release])
        self._apply(Event.LOAD)
        try:
            await self._synthesizer.__aenter__()
        except Exception as error:
            self._apply(Event.FAILED)
            self._log.error("loading failed", error=trace(error))  # see trace
            if isinstance(error, RtvoiceError):
                return error
            failure = LoadFailed(f"{type(error).__name__}; the server's log says more.")
            failure.__cause__ = error
            return failure
        except BaseException:
            self._apply(Event.FAILED)
            raise
        self._load_s = self._now() - self._since
        self._used_at = self._now()
        self._apply(Event.LOADED)
        self._quiet.set()
        return None

    async def _cancel_load(self) -> None:
        if self._load is not None:
            self._load.cancel()
            await asyncio.wait([self._load])

    # Releasing

    async def _release_when_idle(self, idle_s: float) -> None:
        while True:
            self._quiet.clear()
            left = None
            if self._state is State.READY and not self._users:
                left = self._used_at + idle_s - self._now()
                if left <= 0:
                    # A task of its own: whoever closes us meanwhile waits for its end.
                    self._apply(Event.RELEASE)
                    self._release = asyncio.create_task(self._release_all(), name="rtvoice release")
                    await asyncio.wait([self._release])
                    continue
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._quiet.wait()

    async def _release_all(self) -> None:
        try:
            await self._synthesizer.__aexit__(None, None, None)
        except Exception as error:
            # It has let go of what it could; the next load shows whether that was enough.
            self._log.error("releasing failed", error=trace(error))  # see trace
        try:
            if self._give_back is not None and not self._users:  # else it would be taken again at once
                await asyncio.to_thread(self._give_back)
        finally:
            self._apply(Event.RELEASED)

    def _apply(self, event: Event) -> None:
        before, now = self._state, self._now()
        self._state = TRANSITIONS[before][event]
        spent_s, self._since = now - self._since, now
        self._log.info("engine " + self._state.value, before=before.value, seconds=round(spent_s, 3))
        if self._changed is not None:
            self._changed(before, spent_s, self._state)
