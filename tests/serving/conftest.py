"""Sessions on real sockets, over a scripted synthesizer."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from websockets.asyncio.client import connect
from websockets.protocol import State

from rtvoice.config import ServerConfig
from rtvoice.protocol.codec import decode_server
from rtvoice.protocol.messages import Audio, Cancelled, Done, Error, Ready
from rtvoice.serving.endpoint import Endpoint
from tests.scripted import ScriptedSynthesizer


@pytest.fixture(autouse=True)
async def _watch(watched_loop):
    """Every test here runs under watch."""


@dataclass
class Talk:
    """A raw client: sends what it is told and keeps what it hears."""

    socket: object
    heard: list = field(default_factory=list)

    async def say(self, message):
        """Send a message: a dict as JSON, text and bytes as they are."""
        await self.socket.send(json.dumps(message) if isinstance(message, dict) else message)

    async def hear(self, within=5.0):
        """Wait for the next message."""
        async with asyncio.timeout(within):
            message = decode_server(await self.socket.recv())
        self.heard.append(message)
        return message

    async def hear_until(self, kind, within=5.0):
        """Hear until a message of a kind comes; return it."""
        while not isinstance(message := await self.hear(within), kind):
            pass
        return message

    async def hear_terminals(self, *numbers, within=10.0):
        """Hear until each of these utterances has ended; return their terminal messages by number."""
        missing, found = set(numbers), {}
        while missing:
            message = await self.hear(within)
            if isinstance(message, Done | Cancelled | Error) and message.utterance is not None:
                found[message.utterance] = message
                missing.discard(message.utterance)
        return found

    async def silence(self, seconds=0.3):
        """Assert that nothing more comes for a while."""
        with pytest.raises(TimeoutError):
            await self.hear(seconds)

    def audio(self, utterance):
        """The audio heard of an utterance, joined; asserts that it has no gap."""
        data = b""
        for message in self.heard:
            if isinstance(message, Audio) and message.utterance == utterance:
                assert message.sample * 2 == len(data)
                data += message.data
        return data


@asynccontextmanager
async def serving(synthesizer, **config):
    """An endpoint on a free port."""
    async with synthesizer, Endpoint(ServerConfig(port=0, **config), synthesizer) as endpoint:
        yield endpoint
        await endpoint.abort()


@asynccontextmanager
async def talking(endpoint, **options):
    """A raw client that has heard `ready`."""
    host, port = endpoint.address
    socket = await connect(f"ws://{host}:{port}/", compression=None, proxy=None, **options)
    try:
        talk = Talk(socket)
        assert isinstance(await talk.hear(), Ready)
        yield talk
    finally:
        if socket.state is not State.CLOSED:
            await socket.close()


async def quiet(endpoint, within=2.0):
    """Wait until there is no session."""
    async with asyncio.timeout(within):
        while not endpoint.is_quiet:  # noqa: ASYNC110  # a test looks on; the endpoint has its own event
            await asyncio.sleep(0.01)


@pytest.fixture
async def synthesizer():
    """A quick one."""
    return ScriptedSynthesizer()


@pytest.fixture
async def talk(synthesizer):
    """A client of a server of its own."""
    async with serving(synthesizer) as endpoint, talking(endpoint) as talk:
        yield talk
