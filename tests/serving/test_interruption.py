"""Interrupted every 10 ms of an utterance's life, in every protocol: one end, nothing behind it, the place free."""

import asyncio
import json

import pytest
import structlog

from rtvoice.config import ServerConfig
from rtvoice.protocol.codec import decode_server
from rtvoice.protocol.messages import Audio, Cancelled, Done, Error, Marked, Ready, Segment, Words
from rtvoice.protocol.messages import Loading as LoadingMessage
from rtvoice.protocol.routes import find_dialect
from rtvoice.serving.admission import Admission
from rtvoice.serving.lifecycle import Lifecycle
from rtvoice.serving.offer import Offer
from rtvoice.serving.session import Session
from tests.scripted import ScriptedSynthesizer
from tests.serving.virtual import MemoryPeer, VirtualLoop

TEXT = "One two three. Four five six. Seven."
LIFE_MS = 600  # seven slices of 50 ms, text until 200 ms, and some more
MOMENTS = range(0, LIFE_MS, 10)

NATIVE = [
    (0, {"type": "speak", "utterance": 1, "text": TEXT[:10]}),
    (70, {"type": "mark", "utterance": 1, "name": "early"}),
    (100, {"type": "speak", "utterance": 1, "text": TEXT[10:]}),
    (150, {"type": "flush", "utterance": 1}),
    (200, {"type": "end", "utterance": 1}),
]
ELEVENLABS = [
    (0, {"text": " ", "context_id": "c1"}),
    (0, {"text": TEXT[:15], "context_id": "c1"}),
    (100, {"text": TEXT[15:], "context_id": "c1"}),
    (150, {"flush": True, "context_id": "c1"}),
    (200, {"close_context": True, "context_id": "c1"}),
]
DEEPGRAM = [
    (0, {"type": "Speak", "text": TEXT[:15]}),
    (100, {"type": "Speak", "text": TEXT[15:]}),
    (200, {"type": "Flush"}),
]
ADDRESS = "/v1/text-to-speech/af_heart/multi-stream-input?output_format=pcm_24000"


class Loading(ScriptedSynthesizer):
    """Takes a while to enter."""

    async def __aenter__(self):
        await asyncio.sleep(0.3)
        return await super().__aenter__()


class Scene:
    """A session in virtual time: a script of messages, and something at one moment.

    With a synthesizer that loads, the engine is cold at first, as behind `rtvoice serve --cold`.
    """

    def __init__(self, address="/", synthesizer=None):
        self.address = address
        self.synthesizer = synthesizer or ScriptedSynthesizer(delay_s=0.05)

    def play(self, script, at_ms, act, then=(), *, pauses=False):
        """Play a script until `at_ms`, call `act` with the peer, go on with `then` after a second; returns the peer.

        With `pauses` the peer reads nothing from the moment on at which it has heard of the utterance.
        """
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(self._play(script, at_ms, act, then, pauses))

    async def _play(self, script, at_ms, act, then, pauses):
        if isinstance(self.synthesizer, Loading):
            async with Lifecycle(self.synthesizer, clock=asyncio.get_running_loop().time) as lifecycle:
                return await self._play_on(lifecycle, script, at_ms, act, then, pauses)
        return await self._play_on(self.synthesizer, script, at_ms, act, then, pauses)

    async def _play_on(self, synthesizer, script, at_ms, act, then, pauses):
        peer, config = MemoryPeer(stops_after=3 if pauses else None), ServerConfig()
        path, _, query = self.address.partition("?")
        dialect = find_dialect(path, query, Offer(synthesizer, config.limits).ready())
        clock = asyncio.get_running_loop().time
        admission = Admission(most_s=None, places=lambda: 1, clock=clock)
        session = Session(
            peer, synthesizer, config, structlog.get_logger(), dialect=dialect, admission=admission, clock=clock
        )
        begins = clock()
        task = asyncio.create_task(session.run())
        for due_ms, message in [line for line in script if line[0] <= at_ms]:
            await asyncio.sleep(max(0.0, begins + due_ms / 1000 - clock()))
            peer.say(json.dumps(message))
        await asyncio.sleep(max(0.0, begins + at_ms / 1000 - clock()))
        act(peer)
        await asyncio.sleep(1.0)
        assert self.synthesizer.running == 0, "the work goes on"
        assert admission.hungry == 0, "it counts as waiting"
        for message in then:
            peer.say(json.dumps(message))
        await asyncio.sleep(20.0)
        if not peer.closed:
            peer.leave()
        await task
        left = {task.get_name() for task in asyncio.all_tasks() - {asyncio.current_task()}}
        assert left <= {"rtvoice load"}  # which is the engine's, and ends with it
        assert self.synthesizer.running == 0
        return peer


def heard(peer):
    return [decode_server(data) for _, data in peer.heard]


@pytest.mark.parametrize("at_ms", MOMENTS)
def test_cancel(at_ms):
    then = [{"type": "speak", "utterance": 2, "text": "Again."}, {"type": "end", "utterance": 2}]
    peer = Scene().play(NATIVE, at_ms, lambda peer: peer.say('{"type":"cancel","utterance":1}'), then)
    messages = heard(peer)
    ends = [number for number, message in enumerate(messages) if isinstance(message, Done | Cancelled)]
    assert [messages[number].utterance for number in ends] == [1, 2]
    assert isinstance(messages[ends[1]], Done)
    assert all(message.utterance == 2 for message in messages[ends[0] + 1 :])
    audio = [message for message in messages if isinstance(message, Audio) and message.utterance == 1]
    first = messages[ends[0]]
    assert sum(len(message.data) for message in audio) // 48 == first.audio_ms
    if isinstance(first, Cancelled):
        assert peer.heard[ends[0]][0] - 1_000.0 == pytest.approx(at_ms / 1000, abs=0.001)  # at once
        assert first.spoken_ms <= first.audio_ms
        assert first.spoken_characters <= first.characters <= len(TEXT)


@pytest.mark.parametrize("at_ms", MOMENTS)
def test_the_peer_is_gone(at_ms):
    peer = Scene().play(NATIVE, at_ms, MemoryPeer.leave)
    assert isinstance(heard(peer)[0], Ready)


TWO = [
    *((0, {"type": "speak", "utterance": number, "text": text}) for number, text in ((1, TEXT), (2, "Behind it."))),
    *((0, {"type": "end", "utterance": number}) for number in (1, 2)),
]
THIRD = [{"type": "speak", "utterance": 3, "text": "Again."}, {"type": "end", "utterance": 3}]


def ends_of(messages):
    """Each utterance's terminal message; asserts that nothing of the utterance follows it."""
    ends = {}
    for message in messages:
        number = getattr(message, "utterance", None)
        assert number not in ends, f"{message} behind the end"
        if isinstance(message, Done | Cancelled | Error):
            ends[number] = message
    return ends


@pytest.mark.parametrize("at_ms", range(0, 700, 10))
@pytest.mark.parametrize("number", [1, 2])
def test_cancel_with_another_before_or_behind_it(at_ms, number):
    cancel = json.dumps({"type": "cancel", "utterance": number})
    peer = Scene().play(TWO, at_ms, lambda peer: peer.say(cancel), THIRD)
    messages = heard(peer)
    ends = ends_of(messages)
    assert set(ends) == {1, 2, 3}
    for other in {1, 2, 3} - {number}:
        assert isinstance(ends[other], Done)
        audio = b"".join(
            message.data for message in messages if isinstance(message, Audio) and message.utterance == other
        )
        assert len(audio) == {1: 7, 2: 2, 3: 1}[other] * 9_600  # all of it, whatever became of its neighbour
    assert isinstance(ends[number], Cancelled | Done)


@pytest.mark.parametrize("at_ms", range(0, 400, 10))
def test_cancel_while_the_engine_is_loaded(at_ms):
    scene = Scene(synthesizer=Loading(delay_s=0.01))
    peer = scene.play(TWO, at_ms, lambda peer: peer.say('{"type":"cancel"}'), THIRD)
    messages = heard(peer)
    ends = ends_of(messages)
    assert set(ends) == {1, 2, 3}
    assert isinstance(ends[3], Done)
    assert ends[3].cold_start_ms == 0  # the load went on, and there was one
    assert any(isinstance(message, LoadingMessage) for message in messages)
    if at_ms < 300:
        assert isinstance(ends[1], Cancelled)
        assert ends[1].audio_ms == ends[1].spoken_ms == 0


@pytest.mark.parametrize("at_ms", range(0, 400, 10))
def test_the_peer_is_gone_while_the_engine_is_loaded(at_ms):
    Scene(synthesizer=Loading(delay_s=0.01)).play(TWO, at_ms, MemoryPeer.leave)


@pytest.mark.parametrize("at_ms", range(0, 300, 10))
def test_cancel_when_the_engine_fails(at_ms):
    scene = Scene(synthesizer=ScriptedSynthesizer(delay_s=0.05, fails_on="Four"))
    peer = scene.play(TWO, at_ms, lambda peer: peer.say('{"type":"cancel","utterance":1}'), THIRD)
    ends = ends_of(heard(peer))
    assert set(ends) == {1, 2, 3}
    assert isinstance(ends[1], Cancelled | Error)
    assert all(isinstance(ends[number], Done) for number in (2, 3))


@pytest.mark.parametrize("at_ms", range(0, 400, 10))
def test_cancel_while_the_peer_reads_nothing(at_ms):
    """What had left stands; the answer is the next that leaves."""
    peers = []

    def cancel(peer):
        peers.append(len(peer.heard))
        peer.say('{"type":"cancel","utterance":1}')
        asyncio.get_running_loop().call_later(0.5, peer.resume)

    script = [*NATIVE[:1], *NATIVE[2:]]
    peer = Scene().play(script, at_ms, cancel, THIRD, pauses=True)
    messages = heard(peer)
    ends = ends_of(messages)
    assert set(ends) == {1, 3}
    (held,) = peers
    if isinstance(ends[1], Cancelled):
        # one message may have been on its way
        assert messages.index(ends[1]) <= held + 1


@pytest.mark.parametrize("at_ms", MOMENTS)
def test_a_context_is_closed(at_ms):
    def close_twice(peer):
        for _ in range(2):  # whatever it meant the first time, the second one stops it
            peer.say('{"context_id":"c1","close_context":true}')

    then = [
        {"text": " ", "context_id": "c1"},
        {"text": "Again. ", "context_id": "c1"},
        {"context_id": "c1", "flush": True},
        {"context_id": "c1", "close_context": True},
    ]
    peer = Scene(ADDRESS).play(ELEVENLABS, at_ms, close_twice, then)
    messages = [json.loads(data) for _, data in peer.heard]
    finals = [number for number, message in enumerate(messages) if message["isFinal"]]
    assert len(finals) == 2
    again = messages[finals[0] + 1 : finals[1]]
    assert (
        "".join(letter for message in again for letter in (message["alignment"] or {"chars": ""})["chars"]) == "Again. "
    )
    assert finals[1] == len(messages) - 1


@pytest.mark.parametrize("at_ms", MOMENTS)
def test_speech_is_cleared(at_ms):
    then = [{"type": "Speak", "text": "Again."}, {"type": "Flush"}]
    peer = Scene("/v1/speak").play(DEEPGRAM, at_ms, lambda peer: peer.say('{"type":"Clear"}'), then)
    sent = [data if isinstance(data, bytes) else json.loads(data)["type"] for _, data in peer.heard]
    (cleared,) = [number for number, what in enumerate(sent) if what == "Cleared"]
    behind = sent[cleared + 1 :]
    assert behind[-1] == "Flushed"
    assert sum(len(what) for what in behind[:-1]) == 4_800 * 2  # one word, and not a sample of what was cleared


class TestMarks:
    def test_in_their_place_and_all_before_done(self):
        script = [
            (0, {"type": "speak", "text": "One two. "}),
            (0, {"type": "mark", "name": "a"}),
            (0, {"type": "speak", "text": "Three. Fo"}),
            (0, {"type": "mark", "name": "b"}),
            (0, {"type": "mark", "name": "c"}),
            (0, {"type": "speak", "text": "ur."}),
            (0, {"type": "end"}),
        ]
        messages = heard(Scene().play(script, 700, lambda peer: None))
        marks = [message for message in messages if isinstance(message, Marked)]
        assert [(mark.name, mark.sample) for mark in marks] == [("a", 9_600), ("b", 19_200), ("c", 19_200)]
        before = sum(
            len(message.data) // 2 for message in messages[: messages.index(marks[0])] if isinstance(message, Audio)
        )
        assert before == 9_600
        assert isinstance(messages[-1], Done)

    def test_of_text_that_was_spoken_long_ago(self):
        script = [
            (0, {"type": "speak", "text": "One.\n\n"}),
            (0, {"type": "flush"}),
            (500, {"type": "mark", "name": "late"}),
        ]
        peer = Scene().play(script, 500, lambda peer: None)
        at, mark = next((at, decode_server(data)) for at, data in peer.heard if isinstance(decode_server(data), Marked))
        assert (mark.name, mark.sample) == ("late", 4_800)
        assert at - 1_000.0 == pytest.approx(0.5)

    def test_those_not_reached_do_not_come(self):
        script = [(0, {"type": "speak", "text": TEXT}), (0, {"type": "mark", "name": "end"})]
        messages = heard(Scene().play(script, 100, lambda peer: peer.say('{"type":"cancel"}')))
        assert not [message for message in messages if isinstance(message, Marked)]


class TestOptions:
    def speak(self, **options):
        script = [(0, {"type": "speak", "text": TEXT, **options}), (0, {"type": "end"})]
        return heard(Scene().play(script, 700, lambda peer: None))

    @pytest.mark.parametrize(("name", "size"), [("pcm_s16le", 2), ("pcm_f32le", 4), ("mulaw", 1), ("alaw", 1)])
    @pytest.mark.parametrize("rate", [8_000, 22_050, 24_000, 48_000])
    def test_formats_and_rates(self, name, size, rate):
        messages = self.speak(format=name, sample_rate=rate)
        at = 0
        for message in messages:
            if isinstance(message, Audio):
                assert message.sample == at
                assert len(message.data) % size == 0
                at += len(message.data) // size
        assert at == round(7 * 0.2 * rate)
        assert messages[-1].audio_ms == 1_400
        segments = [message.sample for message in messages if isinstance(message, Segment)]
        assert segments == [0, round(0.6 * rate), round(1.2 * rate)]

    def test_a_pause_between_sentences(self):
        messages = self.speak(pause_ms=250)
        assert messages[-1].audio_ms == 1_400 + 2 * 250
        words = [word for message in messages if isinstance(message, Words) for word in message.words]
        assert [word.start_s for word in words] == pytest.approx([0.0, 0.2, 0.4, 0.85, 1.05, 1.25, 1.7])

    @pytest.mark.parametrize(
        ("options", "field"),
        [
            ({"pause_ms": 20_000}, "pause_ms"),
            ({"sample_rate": 11_025}, "sample_rate"),
            ({"sample_rate": "x"}, "sample_rate"),
        ],
    )
    def test_what_is_not_allowed(self, options, field):
        assert self.speak(**options)[1].field == field


@pytest.mark.parametrize(("played_ms", "spoken"), [(0, 0), (100, 3), (250, 7), (700, 19), (10**9, 36)])
def test_what_was_heard_is_what_the_player_says(played_ms, spoken):
    script = [(0, {"type": "speak", "text": TEXT})]
    cancel = json.dumps({"type": "cancel", "played_ms": played_ms})
    (cancelled,) = [
        message
        for message in heard(Scene().play([*script, (0, {"type": "flush"})], 590, lambda peer: peer.say(cancel)))
        if isinstance(message, Cancelled)
    ]
    assert cancelled.spoken_ms == min(played_ms, cancelled.audio_ms)
    assert abs(cancelled.spoken_characters - spoken) <= 1  # the stop of a sentence is no part of its word
