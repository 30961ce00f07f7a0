"""LiveKit's ElevenLabs plugin, as it is on the index, against a live server."""

import asyncio

import pytest

pytest.importorskip("livekit.plugins.elevenlabs")

import aiohttp
from livekit.plugins import elevenlabs

from tests.agents.conftest import ROOT, assert_sounds_as, assert_times

pytestmark = pytest.mark.agents

TEXT = "One two three four five. Six seven eight nine ten. Eleven twelve thirteen fourteen fifteen."
LONG = " ".join(["Many words are spoken here, one behind the other."] * 12)


@pytest.fixture
async def tts(server):
    async with aiohttp.ClientSession() as http:
        tts = elevenlabs.TTS(
            base_url=f"http://127.0.0.1:{server.port}/v1",
            api_key="any",
            voice_id="af_heart",
            encoding="pcm_24000",
            http_session=http,
        )
        yield tts
        await tts.aclose()


async def speak(tts, text, until=None):
    """Speak as an agent does; returns audio and words. Stops when it has heard so many seconds."""
    stream = tts.stream()
    for start in range(0, len(text), 7):
        stream.push_text(text[start : start + 7])
    stream.end_input()
    data, words = b"", []
    async for event in stream:
        data += bytes(event.frame.data)
        words += [(str(word), word.start_time) for word in event.frame.userdata.get("lk.timed_transcripts", [])]
        if until is not None and len(data) > until * 48_000:
            break
    await stream.aclose()
    return data, words


async def test_speaks_is_interrupted_and_speaks_again(server, tts):
    data, words = await speak(tts, TEXT)
    assert_sounds_as(data, TEXT)
    assert_times(words, TEXT)

    cut, _ = await speak(tts, LONG, until=1.0)
    assert len(cut) < 10 * 48_000

    data, words = await speak(tts, "Back again.")
    assert_sounds_as(data, "Back again.")
    assert_times(words, "Back again.")
    assert len(server.sockets) == 1


async def test_interrupted_while_the_text_still_comes(server, tts):
    stream = tts.stream()
    stream.push_text(LONG)
    data = b""
    async for event in stream:
        data += bytes(event.frame.data)
        if len(data) > 48_000:
            break
    await stream.aclose()
    await asyncio.to_thread(server.quiet)
    lines = server.sent()
    (final,) = [number for number, line in enumerate(lines) if line.get("message", {}).get("isFinal")]
    context = lines[final]["message"]["contextId"]
    assert not [line for line in lines[final + 1 :] if line.get("message", {}).get("contextId") == context]
    assert server.audio_bytes(context) < 20 * 48_000
    data, _ = await speak(tts, "Back again.")
    assert_sounds_as(data, "Back again.")
    assert len(server.sockets) == 1


async def test_the_example(server):
    import sys

    sys.path.insert(0, str(ROOT / "examples"))
    import livekit_agent

    async with aiohttp.ClientSession() as http:
        tts = livekit_agent.voice(f"http://127.0.0.1:{server.port}", http_session=http)
        data, _ = await speak(tts, "Hello there.")
        assert_sounds_as(data, "Hello there.")
        await tts.aclose()
