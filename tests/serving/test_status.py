"""What `/status` tells, to whom, and what it leaves alone."""

import asyncio
import json

from rtvoice.config import ServerConfig
from rtvoice.protocol.messages import Audio
from rtvoice.serving.access import make_key
from rtvoice.serving.endpoint import Endpoint
from rtvoice.serving.lifecycle import Lifecycle
from rtvoice.serving.memory import Usage
from rtvoice.serving.status import MemoryGauge
from tests.scripted import ScriptedSynthesizer
from tests.serving.conftest import serving, talking
from tests.serving.test_endpoint import get


async def status_of(endpoint, *headers):
    status, headers, body = await get(endpoint, "/status?from=page", *headers)
    assert (status, headers["Content-Type"], headers["Cache-Control"]) == (200, "application/json", "no-store")
    return json.loads(body)


async def test_what_goes_on(synthesizer):
    async with serving(synthesizer) as endpoint:
        quiet = await status_of(endpoint)
        assert list(quiet) == ["state", "since_s", "memory_bytes", "sessions", "streams", "queue", "utterances"]
        assert (quiet["state"], quiet["sessions"], quiet["queue"], quiet["utterances"]) == ("ready", 0, 0, 0)
        assert 10 << 20 < quiet["memory_bytes"] < 10 << 30
        async with talking(endpoint) as one, talking(endpoint):
            await one.say({"type": "speak", "utterance": 1, "text": "One two three. "})
            await one.say({"type": "speak", "utterance": 2, "text": "Waits."})
            await one.hear_until(Audio)
            busy = await status_of(endpoint)
            assert (busy["sessions"], busy["streams"], busy["utterances"]) == (2, 1, 2)


async def test_those_who_have_nothing_to_hear_are_the_queue(synthesizer):
    synthesizer.gate = asyncio.Event()
    async with serving(synthesizer) as endpoint, talking(endpoint) as one, talking(endpoint) as other:
        for talk in (one, other):
            await talk.say({"type": "speak", "text": "Waits for the gate."})
            await talk.say({"type": "end"})
        await asyncio.sleep(0.05)
        assert (await status_of(endpoint))["queue"] == 2


async def test_looking_on_does_not_load():
    inner = ScriptedSynthesizer()
    async with (
        Lifecycle(inner) as lifecycle,
        Endpoint(ServerConfig(port=0), lifecycle, standing=lambda: (lifecycle.state, lifecycle.since_s)) as endpoint,
    ):
        first = await status_of(endpoint)
        await asyncio.sleep(0.02)
        second = await status_of(endpoint)
        assert (first["state"], second["state"], inner.entered) == ("cold", "cold", 0)
        assert second["since_s"] > first["since_s"]
        lifecycle.wake()
        await asyncio.sleep(0.02)
        assert (await status_of(endpoint))["state"] == "ready"
        await endpoint.abort()


async def test_who_may_look_on(synthesizer, tmp_path):
    key, line = make_key("alice")
    (tmp_path / "keys").write_text(line)
    async with serving(synthesizer, keys=tmp_path / "keys", origins=("https://friend.example",)) as endpoint:
        assert (await get(endpoint, "/status"))[0] == 401
        mine = f"Authorization: Bearer {key}"
        assert (await status_of(endpoint, mine))["state"] == "ready"
        assert (await get(endpoint, "/status", mine, "Origin: https://evil.example"))[0] == 403
        status, headers, _ = await get(endpoint, "/status", mine, "Origin: https://friend.example")
        assert (status, headers["Access-Control-Allow-Origin"], headers["Vary"]) == (
            200,
            "https://friend.example",
            "Origin",
        )


async def test_memory_is_measured_once_for_all_who_ask_within_a_second():
    now, measured = 100.0, []

    def measure():
        measured.append(now)
        return Usage(memory_bytes=len(measured), cpu_s=0.0)

    gauge = MemoryGauge(measure, lambda: now)
    assert await asyncio.gather(*(gauge.read() for _ in range(20))) == [1] * 20
    now = 100.9
    assert await gauge.read() == 1
    now = 101.0
    assert await gauge.read() == 2
