"""The server as a process: it starts, serves, and on SIGTERM lets speech finish."""

import asyncio
import contextlib
import json
import signal
import sys
from pathlib import Path

import pytest

import rtvoice
from rtvoice.errors import ConnectionLost, ServerStopping

SERVER = """
import asyncio, sys, uvloop
from pathlib import Path
sys.path.insert(0, {root!r})
from rtvoice.config import ServerConfig
from rtvoice.serving.logs import configure_logging
from rtvoice.serving.server import serve
from tests.scripted import ScriptedSynthesizer

class Slow(ScriptedSynthesizer):
    async def __aenter__(self):
        await asyncio.sleep({load_s})
        return await super().__aenter__()

configure_logging("json")
config = ServerConfig(port={port}, drain_s={drain_s}, keys={keys!r} and Path({keys!r}))
synthesizer = Slow(delay_s={delay_s})
with asyncio.Runner(loop_factory={loop}.new_event_loop) as runner:
    runner.run(serve(config, synthesizer, listening=lambda url: print(url, flush=True)))
"""


@contextlib.asynccontextmanager
async def server(*, delay_s=0.02, drain_s=5.0, load_s=0.0, port=0, keys=None):
    """A server in a process of its own, on a loop of the kind that the test runs on."""
    loop = type(asyncio.get_running_loop()).__module__.partition(".")[0]
    root = str(Path(rtvoice.__file__).parent.parent)
    code = SERVER.format(
        root=root, loop=loop, delay_s=delay_s, drain_s=drain_s, load_s=load_s, port=port, keys=keys and str(keys)
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def address(process):
    async with asyncio.timeout(20):
        return (await process.stdout.readline()).decode().strip().replace("http", "ws")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_lets_speech_finish_and_the_exit_is_clean(number):
    async with server() as process, rtvoice.connect(await address(process)) as session:
        iterator = aiter(session.speak("word " * 20))
        await anext(iterator)
        process.send_signal(number)
        frames = [frame async for frame in iterator]
        assert frames[-1].index > 19 * 4800
        _, logs = await asyncio.wait_for(process.communicate(), 10)
        assert process.returncode == 0
        events = [json.loads(line)["event"] for line in logs.splitlines()]
        assert events[0] == "starting"
        assert events[-1] == "stopped"
        assert "speech was cut short" not in events


async def test_the_deadline_cuts_speech_short():
    async with server(delay_s=0.2, drain_s=0.3) as process, rtvoice.connect(await address(process)) as session:
        iterator = aiter(session.speak("word " * 100))
        await anext(iterator)
        process.send_signal(signal.SIGTERM)
        with pytest.raises((ServerStopping, ConnectionLost)):
            [frame async for frame in iterator]
        assert await asyncio.wait_for(process.wait(), 10) == 0


async def test_a_second_signal_does_not_wait():
    async with server(delay_s=0.2, drain_s=60) as process, rtvoice.connect(await address(process)) as session:
        iterator = aiter(session.speak("word " * 100))
        await anext(iterator)
        process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        with pytest.raises(ServerStopping):
            [frame async for frame in iterator]
        assert await asyncio.wait_for(process.wait(), 10) == 0


async def test_a_signal_while_loading_stops_at_once():
    async with server(load_s=60) as process:
        line = await asyncio.wait_for(process.stderr.readline(), 20)
        assert json.loads(line)["event"] == "starting"
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 10) == 0
