"""The asyncio client and servers that are killed, stopped, and come back at the same address."""

import asyncio
import signal
import time

import pytest

import rtvoice
from rtvoice.config import Limits
from rtvoice.errors import ConnectionLost, ConnectionRefused, ServerStopping
from rtvoice.protocol.messages import Done
from rtvoice.serving.access import make_key
from tests.scripted import ScriptedSynthesizer
from tests.serving.conftest import serving
from tests.serving.test_server import address, server

TEXT = "One two three four five six seven eight nine ten eleven twelve. And so on and on."
WORD_BYTES = 4_800 * 2


async def heard_of(utterance):
    """Frames of an utterance until it ends or fails, and the failure."""
    frames = []
    try:
        async for frame in utterance:
            frames.append(frame)
    except ConnectionLost as error:
        return frames, error
    return frames, None


async def killed_meanwhile(process, session, **options):
    """Speak until something was heard, kill the server, and hear to the end."""
    utterance = session.speak(TEXT, **options)
    iterator = aiter(utterance)
    first = await anext(iterator)
    await asyncio.sleep(0.35)
    process.kill()
    await process.wait()
    frames, error = await heard_of(iterator)
    return [first, *frames], error, utterance


async def test_killed_in_the_middle_and_back_again(unused_tcp_port):
    async with server(port=unused_tcp_port, delay_s=0.1) as process:
        url = await address(process)
        async with rtvoice.connect(url, patience_s=60) as session:
            frames, error, utterance = await killed_meanwhile(process, session)
            heard_bytes = sum(len(frame.samples) for frame in frames)
            begun = -(-heard_bytes // WORD_BYTES)
            spoken = " ".join(TEXT.split()[:begun]).rstrip(".")
            assert 2 <= begun < 10
            assert error.spoken_characters == len(spoken)
            assert error.audio_ms == heard_bytes // 48
            assert f"The first {len(spoken)} characters" in str(error)
            assert utterance.result is None
            assert not session.is_connected
            late = asyncio.create_task(heard_of(session.speak("Begun while nobody was there.")))
            await asyncio.sleep(0.3)
            assert not late.done()
            async with server(port=unused_tcp_port) as again:
                await address(again)
                frames, error = await late
                assert error is None
                assert sum(len(frame.samples) for frame in frames) == 5 * WORD_BYTES
                rest = session.speak(TEXT[len(spoken) :])  # what the listener has not heard
                frames, error = await heard_of(rest)
                assert error is None
                assert isinstance(rest.result, Done)
                assert session.is_connected
                assert rest.number == 3  # numbers go on: nobody mistakes a frame


async def test_nothing_was_spoken_and_formats_that_tell_no_time(unused_tcp_port):
    async with (
        server(port=unused_tcp_port, delay_s=0.1) as process,
        rtvoice.connect(await address(process), patience_s=0.2) as session,
    ):
        waiting = asyncio.create_task(heard_of(session.speak("Behind the first.")))
        frames, error, _ = await killed_meanwhile(process, session, format="wav")
        assert error.audio_ms is None
        assert error.spoken_characters >= 3
        frames, error = await waiting
        assert (frames, error.spoken_characters, error.audio_ms) == ([], 0, 0)


async def test_one_that_does_not_come_back_is_waited_for_no_longer_than_said(unused_tcp_port):
    async with (
        server(port=unused_tcp_port, delay_s=0.1) as process,
        rtvoice.connect(await address(process), patience_s=0.4) as session,
    ):
        await killed_meanwhile(process, session)
        began = time.monotonic()
        _, error = await heard_of(session.speak("Anyone?"))
        assert "not come back" in str(error)
        assert error.spoken_characters is None
        assert 0.3 < time.monotonic() - began < 2


async def test_speech_ends_before_a_server_that_is_replaced_goes(unused_tcp_port):
    async with server(port=unused_tcp_port) as process, rtvoice.connect(await address(process)) as session:
        iterator = aiter(session.speak(TEXT))
        frames = [await anext(iterator)]
        process.send_signal(signal.SIGTERM)
        frames += [frame async for frame in iterator]
        assert sum(len(frame.samples) for frame in frames) == 17 * WORD_BYTES
        await process.wait()
        async with server(port=unused_tcp_port) as again:
            await address(again)
            assert (await heard_of(session.speak("Hello.")))[1] is None


async def test_begun_while_the_server_stops_is_refused_and_later_is_not(unused_tcp_port):
    async with server(port=unused_tcp_port, delay_s=0.1) as process, rtvoice.connect(await address(process)) as session:
        iterator = aiter(session.speak(TEXT))
        await anext(iterator)
        process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.2)
        with pytest.raises(ServerStopping):
            await heard_of(session.speak("Too late."))
        await heard_of(iterator)


async def test_a_server_that_comes_back_and_wants_a_key_is_not_asked_again(unused_tcp_port, tmp_path):
    (tmp_path / "keys").write_text(make_key("alice")[1])
    async with (
        server(port=unused_tcp_port, delay_s=0.1) as process,
        rtvoice.connect(await address(process), patience_s=60) as session,
    ):
        await killed_meanwhile(process, session)
        async with server(port=unused_tcp_port, keys=tmp_path / "keys") as again:
            await address(again)
            began = time.monotonic()
            _, error = await heard_of(session.speak("Let me in."))
            assert isinstance(error, ConnectionRefused)
            assert "API key" in str(error)
            assert time.monotonic() - began < 30


async def test_leaving_while_the_server_is_gone(unused_tcp_port):
    async with server(port=unused_tcp_port, delay_s=0.1) as process, rtvoice.connect(await address(process)) as session:
        await killed_meanwhile(process, session)
        hearing = asyncio.create_task(heard_of(session.speak("Anyone?")))
        await asyncio.sleep(0.1)
    _, error = await hearing
    assert "closed" in str(error)


async def test_a_full_server_is_asked_again_when_it_says():
    async with serving(ScriptedSynthesizer(), limits=Limits(connections=1)) as endpoint:
        url = "ws://{}:{}".format(*endpoint.address)
        async with rtvoice.connect(url, patience_s=60) as session:
            await endpoint.abort()
            async with asyncio.timeout(10):
                while session.is_connected:  # noqa: ASYNC110  # as seen from outside
                    await asyncio.sleep(0.001)
            async with rtvoice.connect(url):  # somebody else was quicker
                waiting = asyncio.create_task(heard_of(session.speak("Hello.")))
                await asyncio.sleep(0.5)
                assert not waiting.done()
            assert (await waiting)[1] is None
