"""Peers of every bad kind, again and again, at a server in a process of its own: memory is flat and no task is left."""

import asyncio
import contextlib
import json
import sys
from pathlib import Path

import rtvoice

SERVER = """
import asyncio, gc, json, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from rtvoice.config import Limits, ServerConfig
from rtvoice.serving import endpoint
from rtvoice.serving.logs import configure_logging
from tests.scripted import ScriptedSynthesizer

endpoint._PING_INTERVAL_S, endpoint._PING_TIMEOUT_S = 1.0, 4.0
configure_logging("json", level="error")

async def serve():
    synthesizer = ScriptedSynthesizer(delay_s=0.005)
    config = ServerConfig(port=0, limits=Limits(message_bytes=65_536))
    async with synthesizer, endpoint.Endpoint(config, synthesizer) as port:
        print(port.address[1], flush=True)
        while (await asyncio.to_thread(sys.stdin.readline)).strip():
            gc.collect()
            resident = int(Path("/proc/self/statm").read_text().split()[1]) * 4096
            counted = dict(tasks=len(asyncio.all_tasks()), resident=resident, running=synthesizer.running)
            print(json.dumps(counted), flush=True)
        await port.abort()

asyncio.run(serve())
"""

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
LONG = json.dumps({"type": "speak", "utterance": 1, "text": "word " * 300, "format": "pcm_f32le"})
SHORT = json.dumps({"type": "speak", "utterance": 1, "text": "Hello there. "})
END = '{"type":"end","utterance":1}'
CANCEL = '{"type":"cancel","utterance":1}'
TEXT, BINARY, CLOSE, PING = 1, 2, 8, 9


def frame(data, opcode=TEXT, *, fin=True, masked=True, reserved=0, says=None):
    """A frame as a client sends it, masked with zeros, or a faulty one; `says` is a length that it only claims."""
    data = data.encode() if isinstance(data, str) else data
    length = len(data) if says is None else says
    head = bytes([fin << 7 | reserved << 4 | opcode])
    if length < 126:
        head += bytes([masked << 7 | length])
    elif length < 1 << 16:
        head += bytes([masked << 7 | 126]) + length.to_bytes(2)
    else:
        head += bytes([masked << 7 | 127]) + length.to_bytes(8)
    return head + bytes(4 * masked) + data


class Server:
    """A server process that tells how many tasks it has and how much memory."""

    def __init__(self, process, port):
        self._process = process
        self.port = port

    @contextlib.asynccontextmanager
    async def peer(self, *, greeted=True):
        """A connection; its end does not say goodbye."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20)
        try:
            if greeted:
                writer.write(HANDSHAKE)
                await reader.readuntil(b"\r\n\r\n")
                await reader.readuntil(b'"type":"ready"')
            yield reader, writer
        finally:
            writer.transport.abort()

    async def count(self):
        self._process.stdin.write(b"count\n")
        async with asyncio.timeout(20):
            return json.loads(await self._process.stdout.readline())

    async def settled(self, tasks):
        """The count, once there are as many tasks as that and nobody speaks."""
        async with asyncio.timeout(30):
            while (counted := await self.count())["tasks"] != tasks or counted["running"]:  # noqa: ASYNC110  # from afar
                await asyncio.sleep(0.1)
        return counted


@contextlib.asynccontextmanager
async def server():
    root = str(Path(rtvoice.__file__).parent.parent)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", SERVER.format(root=root)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield Server(process, int(await process.stdout.readline()))
    finally:
        process.stdin.close()
        await process.wait()


async def closed_with(reader, code):
    """Read until the server closes, and see why."""
    async with asyncio.timeout(10):
        data = await reader.read()
    assert data.endswith(code.to_bytes(2)) or code.to_bytes(2) in data[-128:], data[-128:]


async def slow_reader(server):
    async with server.peer() as (reader, writer):
        writer.write(frame(LONG))
        for _ in range(3):
            await reader.readexactly(1)
            writer.transport.pause_reading()
            await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def dead_peers(server, count):
    """They said something once, and read nothing and answer no ping since."""
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(count):
            _, writer = await stack.enter_async_context(server.peer())
            writer.write(frame(SHORT) + frame(END))
            writer.transport.pause_reading()
        yield


async def half_open(server):
    for sent in (b"", b"GET / HT", HANDSHAKE[:-2]):
        async with server.peer(greeted=False) as (_, writer):
            writer.write(sent)
    async with server.peer() as (_, writer):
        writer.write(frame(LONG))
        writer.write_eof()
        await asyncio.sleep(0.02)


async def gone_at_every_state(server):
    for sent, heard in (
        (b"", b""),
        (frame(SHORT), b""),
        (frame(SHORT)[:20], b""),  # in the middle of a message
        (frame(LONG), b'"type":"segment"'),  # while it speaks
        (frame(SHORT) + frame(END), b'"type":"segment"'),  # while the rest is spoken
        (frame(SHORT) + frame(END), b'"type":"done"'),
        (frame(LONG) + frame(CANCEL), b""),
        (frame(LONG) + frame(CANCEL), b'"type":"cancelled"'),
        (frame(SHORT) + frame((1000).to_bytes(2), CLOSE), b""),
    ):
        async with server.peer() as (reader, writer):
            writer.write(sent)
            if heard:
                async with asyncio.timeout(10):
                    await reader.readuntil(heard)


async def opened_and_cancelled(server):
    async with server.peer() as (reader, writer):
        for number in range(1, 31):
            writer.write(frame(LONG.replace('"utterance": 1', f'"utterance": {number}')))
            writer.write(frame(json.dumps({"type": "cancel", "utterance": number})))
            async with asyncio.timeout(10):
                await reader.readuntil(b'"type":"cancelled"')


async def broken_framing(server):
    for sent, code in (
        (frame(b"x" * 65_537), 1009),
        (frame(b"", says=1 << 62), 1009),
        (frame(b"x" * 40_000, fin=False) + frame(b"x" * 40_000, 0), 1009),  # together too long
        (frame(b'{"type":"\xff"}'), 1007),
        (frame(b"\xc3", fin=False) + frame(b"(", 0), 1007),
        (frame(END, masked=False), 1002),
        (frame(END, reserved=4), 1002),
        (frame(END, 0), 1002),  # goes on with what never began
        (frame(END, 5), 1002),
        (frame(b"x" * 126, PING), 1002),
    ):
        async with server.peer() as (reader, writer):
            writer.write(sent)
            await closed_with(reader, code)


async def fragments(server):
    """Whole messages in single bytes, with pings between them, are messages; those of no sense are answered."""
    async with server.peer() as (reader, writer):
        first, *middle, last = (bytes([byte]) for byte in SHORT.encode())
        writer.write(frame(first, fin=False))
        for byte in middle:
            writer.write(frame(byte, 0, fin=False) + frame(b"", PING))
        writer.write(frame(last, 0) + frame(b"binary", BINARY) + frame("no JSON") + frame(END))
        async with asyncio.timeout(10):
            await reader.readuntil(b"binary")
            await reader.readuntil(b"not JSON")
            await reader.readuntil(b'"type":"done"')


KINDS = [
    slow_reader,
    half_open,
    gone_at_every_state,
    opened_and_cancelled,
    broken_framing,
    fragments,
]


async def speaks(server):
    async with rtvoice.connect(f"ws://127.0.0.1:{server.port}") as session, asyncio.timeout(10):
        assert sum([len(frame.samples) async for frame in session.speak("One two three.")]) == 3 * 9_600


async def test_memory_is_flat_and_no_task_is_left():
    async with server() as running:

        async def everybody():
            async with asyncio.TaskGroup() as group:
                for kind in KINDS:
                    group.create_task(kind(running), name=kind.__name__)
                for _ in range(3):  # others do not notice
                    await speaks(running)

        at_rest = await running.count()
        async with dead_peers(running, 10):
            for _ in range(2):
                await everybody()
            before = await running.settled(at_rest["tasks"])  # nor do the dead have any
            for _ in range(4):
                await everybody()
        after = await running.settled(at_rest["tasks"])
        assert after["resident"] - before["resident"] < 3 << 20


async def test_two_hundred_idle_sockets():
    async with server() as running:
        at_rest = await running.count()
        await speaks(running)
        before = await running.settled(at_rest["tasks"])
        async with contextlib.AsyncExitStack() as stack:
            for _ in range(200):
                await stack.enter_async_context(rtvoice.connect(f"ws://127.0.0.1:{running.port}"))
            full = await running.count()
            assert full["resident"] - before["resident"] < 200 * 100_000
            await speaks(running)
        await running.settled(at_rest["tasks"])
