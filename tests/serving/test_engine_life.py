"""The engine's life as a client sees it: heartbeats, refusals, failures, and who keeps it warm."""

import asyncio
from itertools import pairwise

import pytest
from prometheus_client.parser import text_string_to_metric_families

from rtvoice.errors import SetupError
from rtvoice.protocol.messages import Audio, Done, Error, Loading
from rtvoice.serving.lifecycle import Lifecycle, State
from tests.scripted import ScriptedSynthesizer
from tests.serving.conftest import serving, talking
from tests.serving.test_endpoint import get
from tests.serving.test_lifecycle import Loadable, reaches


async def speaks(talk, utterance, text="One two three."):
    await talk.say({"type": "speak", "utterance": utterance, "text": text})
    await talk.say({"type": "end", "utterance": utterance})
    return (await talk.hear_terminals(utterance))[utterance]


async def told(endpoint):
    """The metrics, by name and labels."""
    status, _, body = await get(endpoint, "/metrics")
    assert status == 200
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
    }


async def test_who_waits_for_the_engine_is_told_at_once_and_then_every_second():
    async with serving(Lifecycle(Loadable(load_s=2.5))) as endpoint, talking(endpoint) as talk:
        done = await speaks(talk, 1)
        news = [message for message in talk.heard if isinstance(message, Loading)]
        assert len(news) >= 2
        assert news[0].elapsed_ms < 500
        assert all(later.elapsed_ms - earlier.elapsed_ms > 900 for earlier, later in pairwise(news))
        assert all((message.utterance, message.expected_ms) == (1, None) for message in news)
        assert talk.heard.index(news[-1]) < min(
            place for place, message in enumerate(talk.heard) if isinstance(message, Audio)
        )
        assert isinstance(done, Done)
        assert 2000 < done.cold_start_ms < 10_000
        assert (await speaks(talk, 2)).cold_start_ms == 0


async def test_loading_begins_when_an_utterance_is_opened_not_when_it_has_a_sentence():
    synthesizer = Loadable(load_s=0.05)
    async with serving(Lifecycle(synthesizer)) as endpoint, talking(endpoint) as talk:
        assert not synthesizer.loads
        await talk.say({"type": "speak", "utterance": 1, "text": "One"})
        await asyncio.sleep(0.03)
        assert synthesizer.loads == 1


@pytest.mark.parametrize("prewarm", [True, False])
async def test_a_connection_prewarms_it_if_it_may(prewarm):
    synthesizer = Loadable()
    async with serving(Lifecycle(synthesizer), prewarm=prewarm) as endpoint, talking(endpoint):
        await asyncio.sleep(0.05)
        assert synthesizer.loads == prewarm


async def test_a_load_that_fails_ends_the_utterance_and_the_next_tries_again():
    synthesizer = Loadable(failures=[SetupError("No weights; run: rtvoice build")])
    async with serving(Lifecycle(synthesizer)) as endpoint, talking(endpoint) as talk:
        await talk.say({"type": "speak", "utterance": 1, "text": "One."})  # the first load is begun for nobody
        await talk.say({"type": "end", "utterance": 1})
        first = (await talk.hear_terminals(1))[1]
        if isinstance(first, Error):
            assert first.code == "load_failed"
            assert "No weights" in first.message
        assert isinstance(await speaks(talk, 2), Done)


async def test_checks_metrics_and_idle_sessions_do_not_keep_it_warm():
    lifecycle = Lifecycle(Loadable(), idle_s=0.3)
    async with serving(lifecycle) as endpoint, talking(endpoint) as talk:
        await speaks(talk, 1)
        async with asyncio.timeout(3):
            while lifecycle.state is not State.RELEASED:
                for path in ("/healthz", "/readyz", "/metrics"):
                    assert (await get(endpoint, path))[0] == 200
        assert isinstance(await speaks(talk, 2), Done)


async def test_over_the_limit_utterances_and_sessions_are_refused_and_the_checks_say_so():
    gate = asyncio.Event()
    synthesizer = ScriptedSynthesizer(delay_s=0.3, gate=gate)
    gate.set()
    async with (
        serving(synthesizer, wait_s=0.5) as endpoint,
        talking(endpoint) as busy,
        talking(endpoint) as other,
        talking(endpoint) as late,
    ):
        await speaks(busy, 1, "One.")  # what a first slice takes is known now: 0.3 s
        assert (await get(endpoint, "/readyz"))[0] == 200
        gate.clear()
        await busy.say({"type": "speak", "utterance": 2, "text": "Two. "})
        await asyncio.sleep(0.1)
        refused = await speaks(other, 1)
        assert (refused.code, refused.characters) == ("overloaded", 0)
        assert 100 <= refused.retry_after_ms <= 1000
        status, headers, _ = await get(endpoint, "/readyz")
        assert (status, headers["Retry-After"]) == (503, "1")
        found = await told(endpoint)
        assert found["rtvoice_refusals_total", "utterance"] == 1
        assert found["rtvoice_hungry_utterances",] == 1
        gate.set()
        await busy.say({"type": "end", "utterance": 2})
        await busy.hear_terminals(2)
        assert isinstance(await speaks(late, 1), Done)


async def test_what_happened_is_told():
    async with serving(ScriptedSynthesizer(delay_s=0.01)) as endpoint, talking(endpoint) as talk:
        await speaks(talk, 1)
        await talk.say({"type": "speak", "utterance": 2, "text": "word " * 200})
        await talk.hear_until(Audio)
        await talk.say({"type": "cancel", "utterance": 2})
        await talk.hear_terminals(2)
        found = await told(endpoint)
        assert found["rtvoice_utterances_total", "done"] == 1
        assert found["rtvoice_utterances_total", "cancelled"] == 1
        assert found["rtvoice_first_audio_seconds_count",] == 2
        assert found["rtvoice_cancel_seconds_count",] == 1
        assert found["rtvoice_cancel_seconds_sum",] < 0.1
        assert found["rtvoice_audio_ahead_seconds_count",] > 2
        assert found["rtvoice_real_time_factor_count",] == 2
        assert found["rtvoice_sessions",] == 1


async def test_releases_race_with_sessions_and_every_utterance_has_its_end():
    synthesizer = Loadable(load_s=0.002, release_s=0.002, delay_s=0.001)
    lifecycle = Lifecycle(synthesizer, idle_s=0.001)
    async with serving(lifecycle) as endpoint:

        async def client(number):
            async with talking(endpoint) as talk:
                for utterance in range(1, 16):
                    assert isinstance(await speaks(talk, utterance, "One two."), Done)
                    await asyncio.sleep(0.003 * (number % 3))

        await asyncio.gather(*(client(number) for number in range(4)))
        await reaches(lifecycle, State.RELEASED)
    assert synthesizer.releases > 3
