"""Peers that are slow, gone, many, or hasty: memory stays, others do not notice, no task is left."""

import asyncio
import gc
import json
import socket
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from rtvoice.protocol.messages import Audio, Cancelled, Done
from tests.scripted import ScriptedSynthesizer
from tests.serving.conftest import quiet, serving, talking

LONG = "word " * 300
PAGE = 4_096


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


async def speak(talk, number=1, text="Hello there."):
    await talk.say({"type": "speak", "utterance": number, "text": text})
    await talk.say({"type": "end", "utterance": number})
    return (await talk.hear_terminals(number))[number]


async def test_one_byte_a_second_holds_up_nobody_else():
    synthesizer = ScriptedSynthesizer()
    async with serving(synthesizer) as endpoint, talking(endpoint, max_queue=1) as slow, talking(endpoint) as quick:
        raw = slow.socket.transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_024)
        await slow.say({"type": "speak", "text": LONG, "format": "pcm_f32le"})
        slow.socket.transport.pause_reading()
        await asyncio.sleep(0.3)
        made = synthesizer.seconds_made
        for number in range(1, 4):
            slow.socket.transport.resume_reading()
            await asyncio.sleep(0)
            slow.socket.transport.pause_reading()
            assert isinstance(await speak(quick, number), Done)
            await asyncio.sleep(0.3)
        assert synthesizer.seconds_made - made < 15  # its own synthesis stands still
        slow.socket.transport.abort()
        assert isinstance(await speak(quick, 4), Done)


async def test_half_open_and_half_a_handshake(synthesizer):
    async with serving(synthesizer) as endpoint:
        halves = []
        for sent in (b"", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET / HT"):
            _, writer = await asyncio.open_connection(*endpoint.address)
            writer.write(sent)
            halves.append(writer)
        async with talking(endpoint) as talk:
            assert isinstance(await speak(talk), Done)
        for writer in halves:
            writer.transport.abort()


async def test_the_other_side_has_shut_down_its_writing(synthesizer):
    async with serving(synthesizer) as endpoint:
        async with talking(endpoint) as talk:
            await talk.say({"type": "speak", "text": LONG})
            await talk.hear_until(Audio)
            talk.socket.transport.write_eof()
            with pytest.raises(ConnectionClosed):
                await talk.hear_terminals(1)
        await quiet(endpoint)
        assert synthesizer.running == 0


async def test_messages_in_fragments(talk):
    message = json.dumps({"type": "speak", "utterance": 1, "text": "Hello there."})
    await talk.socket.send([message[:1], message[1:9], "", message[9:]])
    await talk.socket.send(list(json.dumps({"type": "end", "utterance": 1})))
    done = (await talk.hear_terminals(1))[1]
    assert (done.characters, done.audio_ms) == (12, 400)


async def test_thirty_opens_and_cancels_and_nothing_is_left(synthesizer):
    synthesizer.delay_s = 0.005
    async with serving(synthesizer) as endpoint, talking(endpoint) as talk:
        await speak(talk, 1)
        tasks = len(asyncio.all_tasks())
        for number in range(2, 32):
            await talk.say({"type": "speak", "utterance": number, "text": LONG})
            await talk.hear_until(Audio)
            await talk.say({"type": "cancel", "utterance": number})
            cancelled = await talk.hear_until(Cancelled)
            assert cancelled.utterance == number
        await asyncio.sleep(0.05)
        assert len(asyncio.all_tasks()) == tasks
        assert synthesizer.running == 0
        assert isinstance(await speak(talk, 32), Done)


async def test_memory_does_not_grow(synthesizer):
    gc.freeze()  # of the tests before this one; to look through it all would hold the loop
    async with serving(synthesizer) as endpoint, talking(endpoint) as talk:

        async def use(numbers):
            for number in numbers:
                await talk.say(
                    {"type": "speak", "utterance": number, "text": LONG, "format": "mulaw", "sample_rate": 8_000}
                )
                await talk.hear_until(Audio)
                await talk.say({"type": "cancel", "utterance": number})
                await talk.hear_until(Cancelled)
                talk.heard.clear()

        await use(range(1, 30))
        before = resident_bytes()
        await use(range(30, 130))
        gc.collect()  # which is off while the loop is watched
        assert resident_bytes() - before < 30 << 20  # a hundred times eight seconds of audio are 77 MB
    gc.unfreeze()


async def test_hasty_contexts_leave_nothing_behind(synthesizer):
    from websockets.asyncio.client import connect

    synthesizer.delay_s = 0.005
    async with serving(synthesizer) as endpoint:
        host, port = endpoint.address
        url = f"ws://{host}:{port}/v1/text-to-speech/af_heart/multi-stream-input?output_format=pcm_16000"
        async with connect(url, proxy=None, compression=None) as agent:
            tasks = len(asyncio.all_tasks())
            for number in range(100):  # three in four are left behind, as by agents that are interrupted
                name = f"c{number}"
                await agent.send(json.dumps({"text": " ", "context_id": name}))
                if number % 2:
                    await agent.send(json.dumps({"text": "Some words. ", "context_id": name, "flush": True}))
                if number % 4 == 3:
                    await agent.send(json.dumps({"context_id": name, "close_context": True}))
            await agent.send(json.dumps({"text": "At last. ", "context_id": "last"}))
            await agent.send(json.dumps({"context_id": "last", "flush": True}))
            await agent.send(json.dumps({"context_id": "last", "close_context": True}))
            audio = 0
            async with asyncio.timeout(10):
                async for data in agent:
                    message = json.loads(data)
                    assert "error" not in message
                    if message["contextId"] == "last":
                        audio += bool(message["audio"])
                        if message["isFinal"]:
                            break
            assert audio
            assert len(asyncio.all_tasks()) <= tasks + 32 + 4
        await quiet(endpoint)
        assert synthesizer.running == 0
