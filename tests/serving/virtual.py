"""A loop whose time stands still while anything can be done and jumps when nothing can, and a peer without a socket."""

from __future__ import annotations

import asyncio
import selectors

from rtvoice.serving.peer import PeerGone


class VirtualLoop(asyncio.SelectorEventLoop):
    """Time is exact and takes none: the same calls at the same times on every machine."""

    def __init__(self):
        self.now = 1_000.0
        super().__init__(_Jumping(self))

    def time(self):
        return self.now


class _Jumping(selectors.DefaultSelector):
    def __init__(self, loop):
        super().__init__()
        self._loop = loop

    def select(self, timeout=None):
        events = super().select(0)
        if not events:
            assert timeout is not None, "everybody waits, and nothing will come"
            self._loop.now += max(0.0, timeout)
        return events


class MemoryPeer:
    """The other end of a connection in the same loop. What it is sent is kept with its time.

    Args:
        stops_after: how many messages it reads before it reads no more, until `resume`.
    """

    def __init__(self, stops_after=None):
        self.heard = []
        self.closed = None
        self._incoming = asyncio.Queue()
        self._stops_after = stops_after
        self._resumed = asyncio.Event()

    def say(self, data):
        self._incoming.put_nowait(data)

    def leave(self):
        self.closed = (1006, "")
        self._incoming.put_nowait(None)

    async def receive(self):
        return await self._incoming.get()

    async def send(self, data):
        if self.closed:
            raise PeerGone
        self.heard.append((asyncio.get_running_loop().time(), data))
        await asyncio.sleep(0)
        if self._stops_after is not None and len(self.heard) >= self._stops_after:
            await self._resumed.wait()

    def resume(self):
        self._resumed.set()

    async def close(self, code, reason):
        self.closed = (code, reason)
        self._incoming.put_nowait(None)
