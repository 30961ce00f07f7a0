"""The server's life: start, listen, speak, drain, stop."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from contextlib import AsyncExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

import structlog

from rtvoice.errors import SetupError
from rtvoice.serving.endpoint import Endpoint
from rtvoice.serving.lexicon import FollowedLexicon
from rtvoice.serving.lifecycle import Lifecycle
from rtvoice.serving.memory import give_back, measure
from rtvoice.serving.metrics import Metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator
    from pathlib import Path

    from rtvoice.config import ServerConfig
    from rtvoice.speech.synthesizer import Synthesizer

_T = TypeVar("_T")

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # what to open in a browser when we listen on all


_MEASURE_S = 10.0
"""Seconds between two looks at what the processes use."""

_START_S = 1.0
"""Seconds that threads may take to start."""


async def serve(
    config: ServerConfig,
    synthesizer: Synthesizer,
    *,
    listening: Callable[[str], None] | None = None,
    files: Callable[[], Iterable[Path]] = tuple,
) -> None:
    """Serve until SIGTERM or SIGINT, then let speech under way finish and return.

    A second signal does not wait for the speech. Call it in the main thread, where signals arrive.

    Args:
        config: where to listen and what peers may ask for.
        synthesizer: not entered yet. It is entered before the first connection is accepted, or for the first speech if
            the configuration says so; left when it has been quiet for long enough, and entered again.
        listening: called once, when connections are accepted, with the address of the page (`http://127.0.0.1:8765/`).
        files: those that the synthesizer reads when it is entered; the kernel may forget them while it is not. Asked
            in a thread.

    Raises:
        SetupError: the address is taken or not ours, or the synthesizer lacks something.
    """
    log = structlog.get_logger("rtvoice.server")
    stop, hurry = asyncio.Event(), asyncio.Event()

    def told(number: int) -> None:
        log.info("told to stop", signal=signal.Signals(number).name)  # whoever stops while loading says nothing else
        (hurry if stop.is_set() else stop).set()

    with _on_signals(told):
        log.info("starting")
        _check_address(config)
        await _start_threads()
        metrics = Metrics(config.prices)
        lifecycle = Lifecycle(
            synthesizer,
            idle_s=config.idle_release_s,
            preload=not config.start_cold,
            give_back=lambda: give_back(files()),
            changed=metrics.state_changed,
        )
        async with AsyncExitStack() as stack:
            watch = asyncio.create_task(_account(metrics), name="accounting")
            stack.push_async_callback(_end, watch)
            if await _unless(stop, stack.enter_async_context(lifecycle)) is None:
                return
            lexicon = FollowedLexicon(config.lexicon)
            stack.push_async_callback(_end, asyncio.create_task(lexicon.follow(), name="lexicon"))
            endpoint = await stack.enter_async_context(
                Endpoint(config, lifecycle, metrics, lexicon, lambda: (lifecycle.state, lifecycle.since_s))
            )
            url = _url(*endpoint.address, "https" if config.certificate else "http")
            log.info("listening", url=url)
            if listening is not None:
                listening(url)
            await stop.wait()
            log.info("draining", deadline_s=config.drain_s)
            if not await _unless(hurry, endpoint.drain(config.drain_s)):
                log.warning("speech was cut short")
            await endpoint.abort()
        log.info("stopped")


def _check_address(config: ServerConfig) -> None:
    """Find out that a port is taken before the engine is loaded rather than after.

    Raises:
        SetupError: it is.
    """
    if not config.port:
        return
    try:
        family = socket.getaddrinfo(config.host, config.port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((config.host, config.port))
    except OSError as error:
        raise SetupError(
            f"Cannot listen on {config.host} port {config.port}: {error.strerror or error}. Choose another port."
        ) from error


async def _account(metrics: Metrics) -> None:
    """Enter what the processes use, now and then, for ever."""
    loop = asyncio.get_running_loop()
    last = loop.time()
    while True:
        usage, now = await asyncio.to_thread(measure), loop.time()
        metrics.used(usage, now - last)
        last = now
        await asyncio.sleep(_MEASURE_S)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


@contextmanager
def _on_signals(callback: Callable[[int], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, callback, number)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


async def _unless(event: asyncio.Event, work: Coroutine[None, None, _T]) -> _T | None:
    """Do some work, unless the event comes first: then the work is cancelled and None returned."""
    task, interruption = asyncio.create_task(work), asyncio.create_task(event.wait())
    try:
        await asyncio.wait([task, interruption], return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        task.cancel()
        interruption.cancel()
        await asyncio.wait([task, interruption])


def _url(host: str, port: int, scheme: str) -> str:
    host = _ANY_ADDRESS.get(host, host)
    return f"{scheme}://[{host}]:{port}/" if ":" in host else f"{scheme}://{host}:{port}/"


async def _start_threads() -> None:
    """Start the threads that loading runs in, while there is memory for them.

    One that is started where there is none never begins, and `threading.Thread.start` waits for that in the event
    loop, for good.
    """
    count = min(32, (os.cpu_count() or 1) + 4)  # as many as the loop's executor has by default
    all_here = threading.Barrier(count)

    def wait_for_all() -> None:
        with suppress(threading.BrokenBarrierError):  # somebody gave the loop an executor of fewer
            all_here.wait(_START_S)

    await asyncio.gather(*(asyncio.to_thread(wait_for_all) for _ in range(count)))
