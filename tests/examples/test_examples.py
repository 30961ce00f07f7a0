"""The examples that need nothing but rtvoice, run as they are."""

import asyncio
import json
import sys
import wave
from pathlib import Path

from tests.scripted import ScriptedSynthesizer
from tests.serving.conftest import serving

EXAMPLES = Path(__file__).parents[2] / "examples"


async def run(name, *arguments):
    """Run an example in its own process; returns what it wrote."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(EXAMPLES / name), *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": str(EXAMPLES.parent), "PYTHONWARNINGS": "error"},
    )
    written, complaints = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 0, complaints.decode()
    assert not complaints
    return written.decode()


def url_of(endpoint):
    return "ws://{}:{}".format(*endpoint.address)


def seconds_of(path):
    with wave.open(str(path)) as file:
        return file.getnframes() / file.getframerate()


async def test_llm_stream_with_its_stand_in(tmp_path):
    async with serving(ScriptedSynthesizer()) as endpoint:
        written = await run("llm_stream.py", "Why?", "--server", url_of(endpoint), "-o", str(tmp_path / "a.wav"))
    assert "Sunlight holds all colours" in written
    assert abs(seconds_of(tmp_path / "a.wav") - 26 * 0.2) < 0.3


async def test_llm_stream_with_a_server_of_completions(tmp_path):
    async def answer(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split()[0])
        asked = json.loads(await reader.readexactly(length))
        assert asked["stream"] is True
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        for piece in ("One t", "wo. Thr", "ee."):
            event = {"choices": [{"delta": {"content": piece}}]}
            writer.write(f"data: {json.dumps(event)}\n\n".encode())
            await writer.drain()
        writer.write(b"data: [DONE]\n\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as llm, serving(ScriptedSynthesizer()) as endpoint:
        base = f"http://127.0.0.1:{llm.sockets[0].getsockname()[1]}/v1"
        arguments = ["Why?", "--llm", base, "--server", url_of(endpoint), "-o", str(tmp_path / "a.wav")]
        written = await run("llm_stream.py", *arguments)
    assert "One two Three" in written
    assert abs(seconds_of(tmp_path / "a.wav") - 0.6) < 0.001


async def test_barge_in():
    async with serving(ScriptedSynthesizer(delay_s=0.1)) as endpoint:
        written = await run("barge_in.py", "--server", url_of(endpoint), "--after", "0.5")
    assert "heard:   Once upon a\n" in written
    assert "then 0.8 s of another answer" in written
