"""A client's way to its server, which is opened anew when it breaks."""

from __future__ import annotations

import asyncio
import random
from contextlib import AsyncExitStack
from itertools import count
from typing import TYPE_CHECKING, Self

from rtvoice.dial import Address, dial
from rtvoice.errors import ConnectionLost, ConnectionRefused, Overloaded

if TYPE_CHECKING:
    from rtvoice.errors import RtvoiceError
    from rtvoice.link import Link
    from rtvoice.protocol.messages import Ready

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 8.0
"""Before the first attempt to connect again, doubled for each further one, and its limit."""


class Line:
    """Holds a link to a server, and dials again when it is lost. An async context manager.

    Utterances under way when a link is lost fail; new ones wait for the next link. A server that is full is left alone
    for as long as it asks for.

    Args:
        address: of the server.
        patience_s: how long somebody who wants a link waits for it, in seconds; at 0 a lost link stays lost.

    Raises:
        RtvoiceError: (on entering) as `dial`.
    """

    def __init__(self, address: Address, patience_s: float) -> None:
        self._address = address
        self._patience_s = patience_s
        self._numbers = count(1)
        self._link: Link | None = None
        self._ready: Ready | None = None
        self._failure: RtvoiceError | None = None
        self._changed = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self._resources = AsyncExitStack()

    @property
    def ready(self) -> Ready:
        """What the server offers; after a new link, what it offers now."""
        if self._ready is None:
            raise RuntimeError("the line is not entered")
        return self._ready

    @property
    def is_open(self) -> bool:
        """Whether there is a link."""
        return self._link is not None and not self._link.is_lost.is_set()

    async def __aenter__(self) -> Self:
        await self._open()
        self._keeper = asyncio.create_task(self._keep(), name="rtvoice line")
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._fail(ConnectionLost("The session is closed."))
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
        await self._resources.aclose()

    async def link(self) -> Link:
        """The link, or the next one. Safe to cancel.

        Raises:
            ConnectionLost: there was none in time.
            RtvoiceError: there will be none.
        """
        try:
            async with asyncio.timeout(self._patience_s):
                while self._failure is None:
                    if self._link is not None and not self._link.is_lost.is_set():
                        return self._link
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise ConnectionLost(f"The server at {self._address.url} has not come back yet.") from None
        raise self._failure

    async def _open(self) -> None:
        link = await dial(self._address, self._numbers)
        self._link = await self._resources.enter_async_context(link)
        self._ready = link.ready
        self._changed.set()

    async def _keep(self) -> None:
        while self._link is not None:
            await self._link.is_lost.wait()
            self._link = None
            await self._resources.aclose()
            if not self._patience_s:
                self._fail(ConnectionLost("The connection to the server has ended."))
                return
            await self._reopen()

    async def _reopen(self) -> None:
        pause_s, asked_s = _FIRST_PAUSE_S, 0.0
        while self._link is None:
            # A little by chance, so that a server that comes back is not met by everybody at once.
            await asyncio.sleep(max(pause_s, asked_s) * random.uniform(1.0, 1.5))  # noqa: S311
            pause_s, asked_s = min(2 * pause_s, _LONGEST_PAUSE_S), 0.0
            try:
                await self._open()
            except Overloaded as error:
                asked_s = error.retry_after_ms / 1000
            except ConnectionRefused as error:
                self._fail(error)
                return
            except ConnectionLost:
                continue

    def _fail(self, error: RtvoiceError) -> None:
        """There is no link any more, and there will be none."""
        if self._failure is None:
            self._failure = error
        self._changed.set()
