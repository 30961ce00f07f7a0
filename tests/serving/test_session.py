"""Sessions over real sockets: speaking, refusing, interrupting, waiting."""

import asyncio
import json
from contextlib import suppress

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect as connect_blocking

from rtvoice.config import Limits
from rtvoice.errors import SetupError, SynthesisFailed
from rtvoice.protocol.messages import Audio, Cancelled, Done, Error, Segment, Words
from tests.scripted import WORD_S, ScriptedSynthesizer
from tests.serving.conftest import quiet, serving, talking

WORD_BYTES = round(WORD_S * 24_000) * 2
LONG = "word " * 300  # a minute of it


class TestSpeaking:
    async def test_text_in_pieces_ends_in_done(self, talk):
        await talk.say({"type": "speak", "utterance": 1, "text": "Hello the"})
        await talk.say({"type": "speak", "utterance": 1, "text": "re. How are you?"})
        await talk.say({"type": "end", "utterance": 1})
        done = (await talk.hear_terminals(1))[1]
        assert isinstance(done, Done)
        assert (done.characters, done.spoken_characters, done.audio_ms) == (25, 25, 1000)
        assert done.first_audio_ms < 1000
        assert len(talk.audio(1)) == 5 * WORD_BYTES

    async def test_a_segment_and_its_words_come_before_their_audio(self, talk):
        text = "One two three.\n\nFour five.\n\nSix."
        await talk.say({"type": "speak", "text": text})
        await talk.say({"type": "end"})
        await talk.hear_terminals(1)
        samples, announced, words = 0, [], []
        for message in talk.heard:
            match message:
                case Segment():
                    assert message.sample == samples
                    announced.append((message.start, message.end))
                case Words():
                    for word in message.words:
                        assert word.start_s * 24_000 >= samples - 1
                        assert text[word.start : word.end] == word.text
                        words.append(word.text)
                case Audio():
                    assert announced
                    samples += len(message.data) // 2
        assert announced[0][0] == 0
        assert [end for _, end in announced[:-1]] == [start for start, _ in announced[1:]]
        assert announced[-1][1] == len(text)
        assert words == ["One", "two", "three", "Four", "five", "Six"]

    async def test_utterances_are_spoken_in_the_order_they_were_opened(self, talk):
        for number in (3, 5, 9):
            await talk.say({"type": "speak", "utterance": number, "text": f"This is {number}"})
        for number in (9, 5, 3):
            await talk.say({"type": "end", "utterance": number})
        await talk.hear_terminals(3, 5, 9)
        order = [message.utterance for message in talk.heard if isinstance(message, Audio | Done)]
        assert order == sorted(order)

    async def test_flush_speaks_what_waits_for_its_sentence_to_end(self, talk):
        await talk.say({"type": "speak", "text": "One"})
        await talk.silence(0.1)
        await talk.say({"type": "flush"})
        assert await talk.hear_until(Audio)
        await talk.say({"type": "end"})
        await talk.hear_terminals(1)

    @pytest.mark.parametrize("text", ["", " ", "\n\n"])
    async def test_nothing_to_say_is_done(self, talk, text):
        await talk.say({"type": "speak", "text": text})
        await talk.say({"type": "end"})
        done = (await talk.hear_terminals(1))[1]
        assert isinstance(done, Done)
        assert (done.audio_ms, done.first_audio_ms) == (0, None)

    async def test_formats(self, talk):
        await talk.say({"type": "speak", "text": "One.", "format": "pcm_f32le"})
        await talk.say({"type": "end"})
        await talk.hear_terminals(1)
        assert sum(len(message.data) for message in talk.heard if isinstance(message, Audio)) == 2 * WORD_BYTES

    async def test_frames_hold_at_most_100_ms(self, synthesizer):
        synthesizer.slice_s = 1.0
        async with serving(synthesizer) as endpoint, talking(endpoint) as talk:
            await talk.say({"type": "speak", "text": "One two three four."})
            await talk.say({"type": "end"})
            await talk.hear_terminals(1)
            lengths = [len(message.data) for message in talk.heard if isinstance(message, Audio)]
            assert max(lengths) == 4800
            assert sum(lengths) == 4 * WORD_BYTES

    async def test_however_text_is_cut_the_bytes_are_the_same(self, talk):
        text = "It is 5 o'clock. Who's there? Nobody, it seems… Well then."
        for number, size in enumerate((1, 3, 100), start=1):
            for start in range(0, len(text), size):
                await talk.say({"type": "speak", "utterance": number, "text": text[start : start + size]})
            await talk.say({"type": "end", "utterance": number})
        await talk.hear_terminals(1, 2, 3)
        assert talk.audio(1) == talk.audio(2) == talk.audio(3) != b""


class TestBadInput:
    @pytest.mark.parametrize(
        ("message", "field"),
        [
            ({"type": "sing"}, "type"),
            ({}, "type"),
            ({"type": "speak", "text": "a", "voice": "nobody"}, "voice"),
            ({"type": "speak", "text": "a", "language": "xx"}, "language"),
            ({"type": "speak", "text": "a", "format": "flac"}, "format"),
            ({"type": "speak", "text": "a", "speed": True}, "speed"),
            ({"type": "speak", "text": "a", "speed": 2.5}, "speed"),
            ({"type": "speak", "text": "a", "speed": float("nan")}, "speed"),
            ({"type": "speak", "text": "a", "speed": float("-inf")}, "speed"),
            ({"type": "speak", "text": 1}, "text"),
            ({"type": "speak"}, "text"),
            ({"type": "speak", "text": "a" * 20_001}, "text"),
            ({"type": "speak", "text": "\ud83d"}, "text"),
            ({"type": "speak", "text": "a", "pitch": 1}, "pitch"),
            ({"type": "end", "utterance": "1"}, "utterance"),
            ("not json", None),
            ("[]", None),
            ("[" * 100_000, None),
            (b"\x00\x01\x02", None),
            ("", None),
            (b"", None),
        ],
        ids=range(21),
    )
    async def test_an_error_that_says_what_is_wrong_and_the_session_lives(self, talk, message, field):
        await talk.say(message)
        error = await talk.hear()
        assert isinstance(error, Error)
        assert error.field == field
        assert error.message
        if field in {"type", "voice", "language", "format", "speed"}:
            assert error.allowed
        is_speak = isinstance(message, dict) and message.get("type") == "speak"
        assert error.utterance == (1 if is_speak else None)
        await talk.say({"type": "speak", "utterance": 2, "text": "Still here."})
        await talk.say({"type": "end", "utterance": 2})
        assert isinstance((await talk.hear_terminals(2))[2], Done)

    @pytest.mark.parametrize("characters", [300_000, 10_000_000])
    async def test_a_message_that_is_too_big_closes_and_says_why(self, synthesizer, characters):
        def send(url):  # from a thread: masking 10 MB would hold the loop that is watched
            with connect_blocking(url, compression=None, proxy=None) as socket:
                assert "ready" in socket.recv()
                with suppress(ConnectionClosed):
                    socket.send(json.dumps({"type": "speak", "text": "a" * characters}))
                with pytest.raises(ConnectionClosed):
                    socket.recv(timeout=5)
                return socket.close_code, socket.close_reason

        async with serving(synthesizer) as endpoint:
            code, reason = await asyncio.to_thread(send, "ws://{}:{}/".format(*endpoint.address))
        assert code == 1009
        assert "262144" in reason

    async def test_text_that_is_not_utf_8_closes(self, talk):
        await talk.socket.send(b"\xff\xfe{}", text=True)
        await asyncio.wait_for(talk.socket.wait_closed(), 5)
        assert talk.socket.close_code == 1007

    async def test_others_notice_nothing(self, synthesizer):
        synthesizer.delay_s = 0.005
        async with serving(synthesizer) as endpoint, talking(endpoint) as good, talking(endpoint) as bad:
            await good.say({"type": "speak", "text": "word " * 20})
            await good.say({"type": "end"})
            for message in ("[", {"type": "speak", "text": "a", "voice": "x"}, b"\x00", "x" * 1_000_000):
                await bad.say(message)
            assert isinstance((await good.hear_terminals(1))[1], Done)
            assert len(good.audio(1)) == 20 * WORD_BYTES

    async def test_a_client_who_errs_and_does_not_read_stops_only_itself(self, synthesizer):
        async with serving(synthesizer) as endpoint, talking(endpoint, max_queue=1) as bad, talking(endpoint) as good:

            async def err():
                while True:
                    await bad.say({"type": "x" * 1000})
                    await asyncio.sleep(0)  # it shares the loop with the server, which is watched

            erring = asyncio.create_task(err())
            await asyncio.sleep(0.5)
            await good.say({"type": "speak", "text": "Hello."})
            await good.say({"type": "end"})
            assert isinstance((await good.hear_terminals(1))[1], Done)
            erring.cancel()
            await asyncio.wait([erring])
            bad.socket.transport.abort()


class TestFailure:
    @pytest.mark.parametrize(
        ("fault", "code"), [(SynthesisFailed("It broke."), "synthesis_failed"), (ZeroDivisionError(), "internal")]
    )
    async def test_a_segment_that_fails_ends_its_utterance_after_what_was_made(self, fault, code):
        synthesizer = ScriptedSynthesizer(fails_on="bad", fault=fault)
        async with serving(synthesizer) as endpoint, talking(endpoint) as talk:
            for text in ("Good one.\n\n", "A bad one.\n\n", "Never."):
                await talk.say({"type": "speak", "utterance": 1, "text": text})
            await talk.say({"type": "speak", "utterance": 2, "text": "Next."})
            await talk.say({"type": "end", "utterance": 2})
            ends = await talk.hear_terminals(1, 2)
            assert (ends[1].code, ends[1].utterance) == (code, 1)
            assert len(talk.audio(1)) == 3 * WORD_BYTES
            assert ends[1].spoken_characters == len("Good one.\n\nA")
            assert isinstance(ends[2], Done)
            await talk.say({"type": "speak", "utterance": 1, "text": "late"})
            await talk.silence(0.1)

    async def test_what_the_operator_can_mend_is_logged(self, capsys):
        synthesizer = ScriptedSynthesizer(fails_on="bad", fault=SetupError("The voice is damaged; run: rtvoice"))
        async with serving(synthesizer) as endpoint, talking(endpoint) as talk:
            await talk.say({"type": "speak", "text": "A bad secret."})
            await talk.say({"type": "end"})
            assert (await talk.hear_terminals(1))[1].code == "setup"
        logged = capsys.readouterr().out
        assert "The voice is damaged; run: rtvoice" in logged
        assert "secret" not in logged

    async def test_the_log_has_no_text(self, capsys):
        synthesizer = ScriptedSynthesizer(fails_on="bad", fault=ZeroDivisionError())
        async with serving(synthesizer) as endpoint, talking(endpoint) as talk:
            await talk.say({"type": "speak", "text": "Secret.\n\nA bad secret.\n\n"})
            await talk.hear_terminals(1)
            await talk.say({"type": "speak", "utterance": 2, "text": "secret", "secret": "secret"})
            await talk.hear_until(Error)
        logged = capsys.readouterr().out
        assert "utterance failed" in logged
        assert "ecret" not in logged


class TestLimits:
    async def test_utterances(self, synthesizer):
        synthesizer.gate = asyncio.Event()
        async with serving(synthesizer, limits=Limits(utterances=2)) as endpoint, talking(endpoint) as talk:
            for number in (1, 2, 3):
                await talk.say({"type": "speak", "utterance": number, "text": "Hello."})
                await talk.say({"type": "end", "utterance": number})
            error = await talk.hear()
            assert (error.utterance, error.code) == (3, "overloaded")
            assert error.retry_after_ms > 0
            synthesizer.gate.set()
            await talk.hear_terminals(1, 2)

    async def test_synthesis_is_bounded_by_the_listener(self, synthesizer):
        async with serving(synthesizer, audio_ahead_s=2.0) as endpoint, talking(endpoint) as talk:
            await talk.say({"type": "speak", "text": LONG})
            await talk.hear_until(Audio)
            async with asyncio.timeout(1.0):
                while sum(len(message.data) for message in talk.heard if isinstance(message, Audio)) < 1.8 * 48_000:
                    await talk.hear()
            loop = asyncio.get_running_loop()
            begins = loop.time()
            while loop.time() < begins + 1.0:
                await talk.hear()
            # One second later one second more: the listener plays in real time from the first frame on.
            sent = sum(len(message.data) for message in talk.heard if isinstance(message, Audio)) / 48_000
            assert sent <= 2.0 + 1.2
            assert sent >= 2.0 + 0.7
            assert synthesizer.seconds_made <= sent + 0.3

    async def test_one_who_does_not_read_stops_its_own_synthesis_only(self, synthesizer):
        async with (
            serving(synthesizer, audio_ahead_s=1.0) as endpoint,
            talking(endpoint, max_queue=1) as slow,
            talking(endpoint) as quick,
        ):
            await slow.say({"type": "speak", "text": LONG, "format": "pcm_f32le"})
            slow.socket.transport.pause_reading()
            await asyncio.sleep(2.5)
            made = synthesizer.seconds_made
            await asyncio.sleep(0.5)
            assert synthesizer.seconds_made == made < 15
            await quick.say({"type": "speak", "text": "word " * 4})
            await quick.say({"type": "end"})
            assert isinstance((await quick.hear_terminals(1))[1], Done)
            slow.socket.transport.abort()


class TestCancel:
    @pytest.mark.parametrize("after_ms", range(0, 240, 10))
    async def test_at_any_time_one_terminal_and_nothing_after_it(self, after_ms):
        synthesizer = ScriptedSynthesizer(delay_s=0.02)
        async with serving(synthesizer, audio_ahead_s=0.6) as endpoint, talking(endpoint) as talk:
            await talk.say({"type": "speak", "utterance": 1, "text": "One two. Three four five."})
            await talk.say({"type": "end", "utterance": 1})
            hearing = asyncio.create_task(talk.hear_terminals(1))
            await asyncio.sleep(after_ms / 1000)
            await talk.say({"type": "cancel", "utterance": 1})
            await talk.say({"type": "cancel", "utterance": 1})
            await talk.say({"type": "speak", "utterance": 1, "text": "late"})
            end = (await hearing)[1]
            assert isinstance(end, Cancelled | Done)
            assert end.audio_ms == len(talk.audio(1)) * 1000 // 48_000
            count = len(talk.heard)
            await talk.say({"type": "speak", "utterance": 2, "text": "Next."})
            await talk.say({"type": "end", "utterance": 2})
            assert isinstance((await talk.hear_terminals(2))[2], Done)
            assert {message.utterance for message in talk.heard[count:]} == {2}
            assert synthesizer.running == 0

    async def test_is_answered_at_once_though_work_is_under_way(self):
        synthesizer = ScriptedSynthesizer(gate=asyncio.Event())
        async with serving(synthesizer) as endpoint, talking(endpoint) as talk:
            await talk.say({"type": "speak", "text": "One two."})
            await talk.say({"type": "end"})
            await asyncio.sleep(0.05)
            assert synthesizer.running == 1
            await talk.say({"type": "cancel"})
            assert isinstance(await talk.hear(0.5), Cancelled)
            await asyncio.sleep(0.01)
            assert synthesizer.running == 0

    async def test_says_what_had_been_heard(self, talk):
        await talk.say({"type": "speak", "text": "one two three four five six seven eight"})
        await talk.say({"type": "flush"})
        await talk.hear_until(Audio)
        await asyncio.sleep(0.5)
        await talk.say({"type": "cancel"})
        cancelled = await talk.hear_until(Cancelled)
        # Half a second is two words and a half; a busy machine may make it more.
        assert cancelled.spoken_characters in {len("one two three"), len("one two three four")}
        assert cancelled.audio_ms == 1600

    async def test_passes_by_the_audio_that_waits(self, synthesizer):
        async with serving(synthesizer) as endpoint, talking(endpoint, max_queue=1) as talk:
            await talk.say({"type": "speak", "text": LONG, "format": "pcm_f32le"})
            talk.socket.transport.pause_reading()
            await asyncio.sleep(1.0)
            await talk.say({"type": "cancel"})
            await asyncio.sleep(0.1)
            talk.socket.transport.resume_reading()
            cancelled = await talk.hear_until(Cancelled)
            assert cancelled.audio_ms < 8_000
            await talk.silence(0.2)

    async def test_without_number_all_that_live(self, synthesizer):
        synthesizer.gate = asyncio.Event()
        async with serving(synthesizer) as endpoint, talking(endpoint) as talk:
            for number in (1, 2, 3):
                await talk.say({"type": "speak", "utterance": number, "text": "Hello."})
            await talk.say({"type": "cancel"})
            ends = await talk.hear_terminals(1, 2, 3)
            assert all(isinstance(end, Cancelled) for end in ends.values())
            assert synthesizer.segments in ([], ["Hello."])

    async def test_opened_and_cancelled_again_and_again(self, synthesizer):
        synthesizer.delay_s = 0.01
        async with serving(synthesizer) as endpoint, talking(endpoint) as talk:
            for number in range(1, 101):
                await talk.say({"type": "speak", "utterance": number, "text": "Some words to say. And more."})
                await talk.say({"type": "cancel", "utterance": number})
            await talk.hear_terminals(*range(1, 101))
            await talk.say({"type": "speak", "text": "At last."})
            await talk.say({"type": "end"})
            assert isinstance((await talk.hear_terminals(101))[101], Done)


class TestDisconnect:
    @pytest.mark.parametrize("after_ms", [0, 5, 20, 50, 100])
    @pytest.mark.parametrize("how", ["close", "abort"])
    async def test_at_any_time_the_work_stops(self, after_ms, how):
        synthesizer = ScriptedSynthesizer(delay_s=0.02)
        async with serving(synthesizer) as endpoint:
            async with talking(endpoint) as talk:
                await talk.say({"type": "speak", "utterance": 1, "text": LONG})
                await talk.say({"type": "speak", "utterance": 2, "text": "Another."})
                await asyncio.sleep(after_ms / 1000)
                if how == "abort":
                    talk.socket.transport.abort()
            await quiet(endpoint)
            assert synthesizer.running == 0
            made = synthesizer.slices_made
            await asyncio.sleep(0.05)
            assert synthesizer.slices_made == made

    async def test_while_the_peer_does_not_read(self, synthesizer):
        async with serving(synthesizer) as endpoint:
            async with talking(endpoint, max_queue=1) as talk:
                await talk.say({"type": "speak", "text": LONG, "format": "pcm_f32le"})
                talk.socket.transport.pause_reading()
                await asyncio.sleep(0.5)
                talk.socket.transport.abort()
            await quiet(endpoint)
