"""Pipecat's ElevenLabs and Deepgram services, as they are on the index, against a live server."""

import subprocess
import sys
import wave
from itertools import pairwise

import pytest

pytest.importorskip("pipecat")

from pipecat.frames.frames import (
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
)
from pipecat.pipeline.worker import PipelineParams
from pipecat.services.deepgram.tts import DeepgramTTSService
from pipecat.services.elevenlabs.tts import ElevenLabsTTSService
from pipecat.tests.utils import SleepFrame, run_test

from tests.agents.conftest import ROOT, assert_sounds_as

pytestmark = pytest.mark.agents

RATE = 16_000
TEXT = "One two three four five. Six seven eight nine ten."
LONG = " ".join(["Many words are spoken here, one behind the other."] * 12)


def elevenlabs(server):
    return ElevenLabsTTSService(
        api_key="any",
        url=f"ws://127.0.0.1:{server.port}",
        settings=ElevenLabsTTSService.Settings(voice="af_heart", model="eleven_flash_v2_5"),
    )


def deepgram(server):
    return DeepgramTTSService(
        api_key="any",
        base_url=f"ws://127.0.0.1:{server.port}",
        settings=DeepgramTTSService.Settings(voice="aura-2-thalia-en"),
    )


def turn(text):
    """What a language model's answer is in a pipeline."""
    deltas = [LLMTextFrame(text[start : start + 7]) for start in range(0, len(text), 7)]
    return [LLMFullResponseStartFrame(), *deltas, LLMFullResponseEndFrame()]


async def run(service, *frames):
    """Send frames through a pipeline; returns what came out, parted where it was interrupted."""
    params = PipelineParams(audio_out_sample_rate=RATE)
    heard, _ = await run_test(service, frames_to_send=frames, pipeline_params=params, start_timeout=10.0)
    parts = [[]]
    for frame in heard:
        if isinstance(frame, InterruptionFrame):
            parts.append([])
        parts[-1].append(frame)
    return parts


def audio(frames):
    return b"".join(frame.audio for frame in frames if isinstance(frame, TTSAudioRawFrame))


def words(frames):
    return [frame.text.strip() for frame in frames if isinstance(frame, TTSTextFrame)]


@pytest.mark.parametrize("service", [elevenlabs, deepgram])
async def test_speaks_is_interrupted_and_speaks_again(server, service):
    before, after = await run(
        service(server),
        *turn(LONG),
        SleepFrame(1.0),
        InterruptionFrame(),
        SleepFrame(0.5),
        *turn(TEXT),
        SleepFrame(2.5),
    )
    assert 0 < len(audio(before)) < 12 * RATE * 2
    assert_sounds_as(audio(after), TEXT + (" " if service is deepgram else ""), RATE)
    assert len(server.sockets) == 1
    if service is elevenlabs:
        assert words(after) == TEXT.split()
        starts = [frame.pts for frame in after if isinstance(frame, TTSTextFrame)]
        gaps = [(later - sooner) / 1e9 for sooner, later in pairwise(starts)]
        assert gaps == pytest.approx([0.2] * len(gaps), abs=0.02)


async def test_no_byte_of_what_was_cleared(server):
    await run(deepgram(server), *turn(LONG), SleepFrame(1.0), InterruptionFrame(), SleepFrame(1.0))
    lines = server.sent()
    (cleared,) = [number for number, line in enumerate(lines) if line.get("message", {}).get("type") == "Cleared"]
    assert [line for line in lines[:cleared] if "audio" in line]
    assert not [line for line in lines[cleared:] if "audio" in line]


async def test_no_byte_of_a_context_that_was_closed(server):
    await run(elevenlabs(server), *turn(LONG), SleepFrame(1.0), InterruptionFrame(), SleepFrame(1.0))
    lines = server.sent()
    (final,) = [number for number, line in enumerate(lines) if line.get("message", {}).get("isFinal")]
    assert [line for line in lines[:final] if "audio" in line]
    assert not [line for line in lines[final:] if "audio" in line]


def test_the_example(server, tmp_path):
    example, output = ROOT / "examples" / "pipecat_bot.py", tmp_path / "hello.wav"
    command = [sys.executable, str(example), "Hello there.", "-o", str(output)]
    subprocess.run([*command, "--server", f"ws://127.0.0.1:{server.port}"], check=True, timeout=60)
    with wave.open(str(output)) as file:
        assert_sounds_as(file.readframes(file.getnframes()), "Hello there.")
