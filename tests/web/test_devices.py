"""The player when its audio device goes, changes or sleeps, and when its page is busy."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.web.conftest import PLAYER, TEXT, samples_of, spoken_by, without_silence

pytestmark = pytest.mark.asyncio(loop_scope="session")

GONE = {
    "closed": "contexts[0].close()",
    "failed": "contexts[0].dispatchEvent(new Event('error'))",  # what browsers do when the device is unplugged
}


@pytest.mark.parametrize("gone", GONE.values(), ids=GONE)
async def test_it_goes_on_when_the_device_is_gone(library, gone):
    """The audio device goes in the middle: what had not been played is played on a new one."""
    result = await library.evaluate(
        """async (text) => {
            const contexts = [];
            window.player = new rtvoice.Player({
                context: () => contexts[contexts.push(new AudioContext({ sampleRate: 24000 })) - 1],
            });
            await player.open();
            const resumed = new Promise((resolve) => player.on("resume", resolve));
            const finished = new Promise((resolve) => player.on("finish", resolve));
            const utterance = voice.speak(text);
            player.play(utterance);
            const began = await capture.soundAfter(capture.end);
            await capture.until(began + 12000);
            GONE;
            const at = (await resumed).seconds;
            const end = (await finished).seconds;
            const { audioS } = await utterance.finished;
            return { contexts: contexts.length, at, end, audioS };
        }""".replace("GONE", gone),
        TEXT,
    )
    assert result["contexts"] == 2
    assert 0.4 < result["at"] < 0.8
    assert result["end"] == pytest.approx(result["audioS"], abs=0.001)


async def test_it_goes_on_when_the_output_is_changed(library):
    """The context is moved to another output while it speaks: on it, or on a new one, all of it is played."""
    result = await library.evaluate(
        """async (text) => {
            window.player = new rtvoice.Player();
            await player.open();
            const finished = new Promise((resolve) => player.on("finish", resolve));
            const utterance = voice.speak(text);
            player.play(utterance);
            await capture.soundAfter(capture.end);
            await capture.context.setSinkId({ type: "none" }).catch(() => {}); // it may give up the context instead
            const { seconds } = await finished;
            return { seconds, ...(await utterance.finished), state: player.state };
        }""",
        TEXT,
    )
    assert result["seconds"] == pytest.approx(result["audioS"], abs=0.001)
    assert result["state"] == "running"


async def test_a_suspended_device_loses_nothing(library, server):
    await library.evaluate(f"() => {{ {PLAYER} }}")
    heard = await samples_of(
        library,
        """(async () => {
            await player.open();
            const finished = new Promise((resolve) => player.on("finish", resolve));
            const suspended = new Promise((resolve) =>
                player.on("state", (state) => state === "suspended" && resolve()));
            player.play(voice.speak(TEXT));
            const began = await capture.soundAfter(capture.end);
            await capture.until(began + 12000);
            await capture.context.suspend();
            await suspended;
            await new Promise((resolve) => setTimeout(resolve, 300));
            await player.open();
            await finished;
            await capture.until(capture.end + 1024);
            return capture.sound();
        })()""".replace("TEXT", json.dumps(TEXT)),
    )
    assert np.array_equal(heard, without_silence(await spoken_by(server, TEXT)))


async def test_a_busy_page_plays_on(library, server):
    """The page's thread is held for two seconds; the audio thread has enough to play."""
    await library.evaluate(f"() => {{ {PLAYER} }}")
    heard = await samples_of(
        library,
        """(async () => {
            await player.open();
            const finished = new Promise((resolve) => player.on("finish", resolve));
            const utterance = voice.speak(TEXT);
            player.play(utterance);
            await utterance.finished;
            await capture.soundAfter(0);
            for (const until = performance.now() + 2000; performance.now() < until; );
            await finished;
            await capture.until(capture.end + 2048);
            return capture.sound();
        })()""".replace("TEXT", json.dumps(TEXT)),
    )
    assert np.array_equal(heard, without_silence(await spoken_by(server, TEXT)))
    assert await library.evaluate("() => player.underruns") == 0
