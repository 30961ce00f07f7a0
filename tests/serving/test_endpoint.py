"""The port: handshakes, plain requests, many sessions, the end."""

import asyncio

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from rtvoice.config import Limits, ServerConfig
from rtvoice.errors import SetupError
from rtvoice.protocol.messages import Done, Error
from rtvoice.serving.endpoint import Endpoint
from tests.scripted import ScriptedSynthesizer
from tests.serving.conftest import quiet, serving, talking


async def get(endpoint, path, *headers):
    """A plain GET request; returns status, headers and body."""
    reader, writer = await asyncio.open_connection(*endpoint.address)
    writer.write("\r\n".join([f"GET {path} HTTP/1.1", "Host: test", *headers, "", ""]).encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    status, *lines = head.decode().split("\r\n")
    return int(status.split()[1]), dict(line.split(": ", 1) for line in lines), body


async def handshake_status(endpoint, path="/", **options):
    host, port = endpoint.address
    with pytest.raises(InvalidStatus) as caught:
        await connect(f"ws://{host}:{port}{path}", proxy=None, **options)
    return caught.value.response.status_code


async def test_the_page_and_the_checks_are_on_the_same_port(synthesizer, tmp_path):
    (tmp_path / "index.html").write_text("a page")
    async with serving(synthesizer, web=tmp_path) as endpoint:
        status, headers, body = await get(endpoint, "/?from=somewhere")
        assert (status, body, headers["Content-Length"]) == (200, b"a page", "6")
        assert "Content-Security-Policy" in headers
        assert (await get(endpoint, "/", f"If-None-Match: {headers['ETag']}"))[0] == 304
        assert (await get(endpoint, "/healthz"))[0] == 200
        assert (await get(endpoint, "/readyz"))[0] == 200
        assert (await get(endpoint, "/../../etc/passwd"))[0] == 404


async def test_the_socket_is_at_the_root(synthesizer):
    async with serving(synthesizer) as endpoint:
        assert await handshake_status(endpoint, "/elsewhere") == 404
        async with talking(endpoint):
            pass


async def test_origins(synthesizer):
    async with serving(synthesizer, origins=("https://friend.example",)) as endpoint:
        host, port = endpoint.address
        for origin in (f"http://{host}:{port}", f"https://{host}:{port}", "https://friend.example"):
            async with talking(endpoint, origin=origin):
                pass
        for origin in ("https://evil.example", "null", f"http://{host}:1", "https://friend.example.evil.example"):
            assert await handshake_status(endpoint, origin=origin) == 403


async def test_connections_are_limited(synthesizer):
    async with serving(synthesizer, limits=Limits(connections=2)) as endpoint:
        async with talking(endpoint), talking(endpoint):
            assert (await get(endpoint, "/readyz"))[0] == 503
            assert await handshake_status(endpoint) == 503
        await quiet(endpoint)
        assert (await get(endpoint, "/readyz"))[0] == 200
        async with talking(endpoint):
            pass


async def test_what_is_no_http_is_survived(synthesizer):
    async with serving(synthesizer) as endpoint:
        for junk in (b"\x16\x03\x01\x02\x00", b"POST / HTTP/1.1\r\n\r\n", b"\r\n\r\n", b""):
            reader, writer = await asyncio.open_connection(*endpoint.address)
            writer.write(junk)
            writer.write_eof()
            await reader.read()
            writer.close()
        async with talking(endpoint):
            pass


async def test_two_hundred_that_are_idle(synthesizer):
    async with serving(synthesizer) as endpoint:
        idle = [talking(endpoint) for _ in range(200)]
        for session in idle:
            await session.__aenter__()
        async with talking(endpoint) as talk:
            await talk.say({"type": "speak", "text": "Hello."})
            await talk.say({"type": "end"})
            assert isinstance((await talk.hear_terminals(1))[1], Done)
        for session in idle:
            await session.__aexit__(None, None, None)
        await quiet(endpoint)


async def test_an_address_that_is_taken(synthesizer):
    async with serving(synthesizer) as endpoint:
        host, port = endpoint.address
        with pytest.raises(SetupError, match=str(port)):
            await Endpoint(ServerConfig(host=host, port=port), synthesizer).__aenter__()


class TestDrain:
    async def test_speech_under_way_ends_and_new_speech_is_refused(self):
        synthesizer = ScriptedSynthesizer(delay_s=0.02)
        async with serving(synthesizer) as endpoint, talking(endpoint) as talk, talking(endpoint) as idle:
            await talk.say({"type": "speak", "utterance": 1, "text": "word " * 20})
            await talk.say({"type": "end", "utterance": 1})
            await asyncio.sleep(0.05)
            draining = asyncio.create_task(endpoint.drain(5.0))
            await asyncio.sleep(0.05)
            await talk.say({"type": "speak", "utterance": 2, "text": "Too late."})
            ends = await talk.hear_terminals(1, 2)
            assert isinstance(ends[1], Done)
            assert ends[2].code == "stopping"
            for socket in (talk.socket, idle.socket):
                await asyncio.wait_for(socket.wait_closed(), 2)
                assert socket.close_code == 1001
            assert await draining is True
            with pytest.raises(OSError):  # noqa: PT011  # nobody listens any more
                await asyncio.open_connection(*endpoint_address(talk))

    async def test_what_is_not_done_by_the_deadline_ends_in_an_error(self):
        synthesizer = ScriptedSynthesizer(gate=asyncio.Event())
        async with serving(synthesizer) as endpoint, talking(endpoint) as talk:
            await talk.say({"type": "speak", "text": "Hello."})
            await asyncio.sleep(0.02)
            assert await endpoint.drain(0.1) is False
            await endpoint.abort()
            error = await talk.hear()
            assert isinstance(error, Error)
            assert (error.utterance, error.code) == (1, "stopping")
            with pytest.raises(ConnectionClosed):
                await talk.hear()
            assert talk.socket.close_code == 1001

    async def test_one_who_does_not_read_does_not_hold_it_up(self, synthesizer, monkeypatch):
        monkeypatch.setattr("rtvoice.serving.endpoint._CLOSE_TIMEOUT_S", 0.2)
        async with serving(synthesizer) as endpoint, talking(endpoint, max_queue=1) as talk:
            await talk.say({"type": "speak", "text": "word " * 300, "format": "pcm_f32le"})
            talk.socket.transport.pause_reading()
            await asyncio.sleep(0.3)
            assert await endpoint.drain(0.1) is False
            async with asyncio.timeout(2):
                await endpoint.abort()
            assert endpoint.is_quiet
            talk.socket.transport.abort()


def endpoint_address(talk):
    return talk.socket.remote_address[:2]
