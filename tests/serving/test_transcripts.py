"""The transcripts of the protocol, replayed against a session, a live server, and the Python client."""

import asyncio
import json

import pytest
import structlog
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve

import rtvoice
from rtvoice.config import ServerConfig
from rtvoice.protocol.codec import encode
from rtvoice.protocol.messages import Audio
from rtvoice.serving.offer import Offer
from rtvoice.serving.session import Session
from tests.protocol.replay import NAMES, lines_of, replay
from tests.scripted import ScriptedSynthesizer
from tests.serving.conftest import serving
from tests.serving.virtual import MemoryPeer, VirtualLoop

OF_ONE = [name for name in NAMES if {what.get("utterance") for d, what in lines_of(name) if d == ">"} == {1}]


def test_there_are_transcripts():
    assert len(NAMES) >= 13
    assert len(OF_ONE) >= 5


@pytest.mark.parametrize("name", NAMES)
def test_a_session_in_virtual_time(name):
    async def play():
        peer = MemoryPeer()
        clock = asyncio.get_running_loop().time
        session = Session(peer, ScriptedSynthesizer(), ServerConfig(), structlog.get_logger(), clock=clock)
        task = asyncio.create_task(session.run())
        heard = 0

        async def send(text):
            peer.say(text)

        async def receive():
            nonlocal heard
            for _ in range(1_000):
                if len(peer.heard) > heard:
                    heard += 1
                    return peer.heard[heard - 1][1]
                await asyncio.sleep(0.01)
            raise AssertionError("nothing comes")

        await replay(name, send, receive)
        await asyncio.sleep(10)
        assert len(peer.heard) == heard, "something comes behind the end"
        peer.leave()
        await task

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(play())


@pytest.mark.parametrize("name", NAMES)
async def test_a_live_server(name):
    async with (
        asyncio.timeout(10),
        serving(ScriptedSynthesizer()) as endpoint,
        connect("ws://{}:{}/".format(*endpoint.address), proxy=None, compression=None) as socket,
    ):
        await replay(name, socket.send, socket.recv)


@pytest.mark.parametrize("name", OF_ONE)
async def test_the_python_client(name):
    """The client speaks the transcript's text; a server that only reads the transcript out answers."""
    text = "".join(what.get("text", "") for direction, what in lines_of(name) if direction == ">")
    answers = [what for direction, what in lines_of(name) if direction == "<"]

    async def read_out(socket):
        await socket.send(encode(Offer(ScriptedSynthesizer(), ServerConfig().limits).ready()))
        while json.loads(await socket.recv())["type"] != "end":
            pass
        for what in answers:
            if isinstance(what, tuple):
                _, number, at, end = what
                await socket.send(encode(Audio(utterance=number, sample=at, data=b"\x00\x00" * (end - at))))
            elif what["type"] not in {"segment", "words"}:  # told in part only
                figures = {"characters": 0, "spoken_characters": 0, "audio_ms": 0, "first_audio_ms": None}
                await socket.send(json.dumps(figures | what))
        await socket.wait_closed()

    async with serve(read_out, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with rtvoice.connect(f"ws://127.0.0.1:{port}/") as session:
            utterance = session.speak(text)
            frames = [frame async for frame in utterance]
    audio = [what for what in answers if isinstance(what, tuple)]
    assert [(frame.index, frame.index + len(frame.samples) // 2) for frame in frames] == [what[2:] for what in audio]
    told = json.loads(encode(utterance.result))
    assert told["type"] == answers[-1]["type"]
    assert all(told[field] == value for field, value in answers[-1].items())
