"""ElevenLabs' sockets: every trap that its two plugins hold."""

import base64
import json

import pytest

from rtvoice.config import AudioFormat
from rtvoice.errors import InvalidInput, SynthesisFailed
from rtvoice.protocol.conversation import Opened
from rtvoice.protocol.elevenlabs import read_output_format
from rtvoice.protocol.messages import Cancel, End, Flush, Speak
from rtvoice.protocol.routes import find_dialect
from tests.protocol.conversing import READY, Conversing

MULTI = "/v1/text-to-speech/af_heart/multi-stream-input?model_id=x&output_format=pcm_16000"
SYNC = MULTI + "&sync_alignment=true&auto_mode=true"
SINGLE = "/v1/text-to-speech/af_heart/stream-input?output_format=pcm_24000"


def init(context="c1", **more):
    return {"text": " ", "context_id": context, "voice_settings": {"stability": 0.5}, **more}


def words_of(messages):
    """What Pipecat makes of the messages: words as finished by spaces, times by a running offset."""
    found, word, begins, offset = [], "", 0.0, 0.0
    for message in messages:
        alignment = message.get("alignment")
        if not alignment:
            continue
        starts, lengths = alignment["charStartTimesMs"], alignment["charDurationsMs"]
        for letter, start in zip(alignment["chars"], starts, strict=True):
            if letter == " ":
                if word:
                    found.append((word, begins))
                word = ""
            else:
                begins = begins if word else offset + start / 1000
                word += letter
        offset += (starts[-1] + lengths[-1]) / 1000
    return found


class TestContexts:
    def test_a_context_opens_with_a_space_that_is_no_text(self):
        socket = Conversing(MULTI)
        socket.hear(init())
        (options,) = socket.opened()
        assert (options.voice, options.format, options.sample_rate, options.speed) == (
            "af_heart",
            "pcm_s16le",
            16_000,
            None,
        )
        assert socket.hear({"text": "Hello there. ", "context_id": "c1"}) == [Speak(text="Hello there. ", utterance=1)]
        assert socket.take() == []

    def test_speed(self):
        socket = Conversing(MULTI)
        socket.hear(init(voice_settings={"speed": 1.2}))
        assert socket.opened()[0].speed == 1.2
        socket.hear(init("c2", voice_settings={"speed": 9}))
        assert "speed" in socket.take()[0]["message"]
        socket.hear({"text": "Hello. ", "context_id": "c2"})  # the refused one was none
        assert socket.opened()[-1].voice == "af_heart"

    def test_flush_with_text_and_alone(self):
        socket = Conversing(MULTI)
        socket.hear(init())
        assert socket.hear({"text": "Bye. ", "context_id": "c1", "flush": True}) == [
            Speak(text="Bye. ", utterance=1),
            Flush(utterance=1),
        ]
        socket.hear({"text": "And ", "context_id": "c1"})
        assert socket.hear({"context_id": "c1", "flush": True}) == [Flush(utterance=1)]
        assert socket.hear({"context_id": "nobody", "flush": True}) == []

    @pytest.mark.parametrize(
        "message", [{"text": ""}, {"text": "", "context_id": "c1"}, {"text": "", "context_id": "x"}]
    )
    def test_keep_alives_are_silent(self, message):
        socket = Conversing(MULTI)
        socket.hear(init())
        assert socket.hear(message) == []
        assert not socket.closes
        assert socket.take() == []

    @pytest.mark.parametrize(("mode", "space"), [("", ""), ("&auto_mode=true", " "), ("&auto_mode=false", "")])
    def test_whole_sentences_are_parted(self, mode, space):
        socket = Conversing(MULTI + mode)
        socket.hear(init())
        for text in ("One.", "Two."):
            assert socket.hear({"text": text, "context_id": "c1"}) == [Speak(text=text + space, utterance=1)]

    def test_two_contexts_at_once(self):
        socket = Conversing(MULTI)
        for name in ("c1", "c2"):
            socket.hear(init(name))
            socket.hear({"text": "Hi. ", "context_id": name})
        socket.say(2, 0, 4, [("Hi", 0, 2, 0.0, 0.2)])
        socket.say(1, 0, 4, [("Hi", 0, 2, 0.0, 0.2)])
        assert [message["contextId"] for message in socket.take()] == ["c2", "c1"]

    def test_a_context_may_be_opened_again(self):
        socket = Conversing(MULTI)
        for number in (1, 2, 3):
            socket.hear(init())
            socket.hear({"text": "Hi. ", "context_id": "c1"})
            assert socket.hear({"context_id": "c1", "close_context": True}) == [Cancel(utterance=number)]
        assert [message["isFinal"] for message in socket.take()] == [True] * 3

    def test_text_behind_the_end_is_an_error(self):
        socket = Conversing(MULTI)
        socket.hear(init())
        socket.hear({"text": "Hi. ", "context_id": "c1"})
        socket.hear({"context_id": "c1", "flush": True})
        socket.hear({"context_id": "c1", "close_context": True})
        socket.hear({"text": "More. ", "context_id": "c1"})
        assert "closed" in socket.take()[0]["message"]

    def test_contexts_left_behind_are_given_up_before_there_is_no_room(self):
        socket = Conversing(MULTI)
        for number in range(1, 20):
            socket.hear(init(f"c{number}"))
        assert len(socket.conversation.living) <= 4
        finals = [message["contextId"] for message in socket.take()]
        assert finals == [f"c{number}" for number in range(1, 17)]

    def test_idle_contexts_are_given_up(self):
        socket = Conversing(MULTI + "&inactivity_timeout=5")
        socket.hear(init(), now=0.0)
        socket.hear(init("c2"), now=4.0)
        socket.hear({"text": ""}, now=6.0)
        assert [message["contextId"] for message in socket.take()] == ["c1"]


class TestCloseContext:
    """It means the end of the text, or stop; which one, is told by what came before it."""

    @pytest.mark.parametrize(
        ("address", "before", "step"),
        [
            (MULTI, [], Cancel),
            (MULTI, [{"text": "Hi. "}], Cancel),
            (MULTI, [{"text": "Hi. "}, {"flush": True}], End),
            (MULTI, [{"text": "Hi. ", "flush": True}], End),
            (MULTI, [{"text": "Hi. "}, {"flush": True}, {"text": "You. "}], Cancel),
            (SYNC, [{"text": "Hi. ", "flush": True}], Cancel),
            (SYNC, [{"text": "Hi. ", "flush": True}, {"text": "", "flush": True}], End),
        ],
    )
    def test_by_what_came_before(self, address, before, step):
        socket = Conversing(address)
        socket.hear(init())
        for message in before:
            socket.hear({**message, "context_id": "c1"})
        assert socket.hear({"context_id": "c1", "close_context": True}) == [step(utterance=1)]

    def test_twice_is_stop(self):
        socket = Conversing(MULTI)
        socket.hear(init())
        socket.hear({"text": "Hi. ", "context_id": "c1"})
        socket.hear({"context_id": "c1", "flush": True})
        socket.hear({"context_id": "c1", "close_context": True})
        assert socket.hear({"context_id": "c1", "close_context": True}) == [Cancel(utterance=1)]
        assert socket.hear({"context_id": "c1", "close_context": True}) == []
        assert [message["isFinal"] for message in socket.take()] == [True]

    def test_close_socket_drains(self):
        socket = Conversing(MULTI)
        socket.hear(init())
        socket.hear({"text": "Hi. ", "context_id": "c1"})
        assert End(utterance=1) in socket.hear({"close_socket": True})
        assert socket.closes


class TestAnswers:
    def test_both_spellings(self):
        socket = Conversing(MULTI)
        socket.hear(init())
        socket.hear({"text": "Hi. ", "context_id": "c1"})
        socket.say(1, 0, 4, [("Hi", 0, 2, 0.1, 0.3)])
        (message,) = socket.take()
        assert message["contextId"] == message["context_id"] == "c1"
        assert base64.b64decode(message["audio"]) == b"\x01\x00" * 240
        assert message["alignment"] == message["normalizedAlignment"]
        assert message["alignment"]["charDurationsMs"] == message["alignment"]["charsDurationsMs"]
        assert message["isFinal"] is None
        socket.hear({"context_id": "c1", "flush": True})
        socket.hear({"context_id": "c1", "close_context": True})
        socket.finish(1)
        (final,) = socket.take()
        assert final["isFinal"] is True
        assert final["is_final"] is True
        assert final["contextId"] == "c1"

    def test_times_from_the_message_before_or_from_the_start(self):
        text = "One two. Three."
        for address, is_absolute in ((MULTI, False), (SYNC, True)):
            socket = Conversing(address)
            socket.hear(init())
            socket.hear({"text": text, "context_id": "c1"})
            socket.say(1, 0, 9, [("One", 0, 3, 0.1, 0.3), ("two", 4, 7, 0.4, 0.6)])
            socket.say(1, 9, 15, [("Three", 9, 14, 1.0, 1.5)])
            socket.hear({"context_id": "c1", "flush": True})
            socket.hear({"context_id": "c1", "close_context": True})
            socket.finish(1)
            messages = [message for message in socket.take() if message.get("alignment")]
            joined = "".join(letter for message in messages for letter in message["alignment"]["chars"])
            assert joined == text + " "  # the space that ends the last word for those who wait for one
            if is_absolute:
                second = messages[1]["alignment"]
                assert second["chars"][0] == "T"
                assert second["charStartTimesMs"][0] == 1_000
            else:
                assert words_of(messages) == [("One", 0.1), ("two.", 0.4), ("Three.", 1.0)]

    def test_words_that_come_one_by_one(self):
        socket = Conversing(MULTI)
        text = "A well-known one: $5, (yes)! "
        socket.hear(init())
        socket.hear({"text": text, "context_id": "c1"})
        for word, start_s in (
            ("A", 0.0),
            ("well", 0.2),
            ("known", 0.4),
            ("one", 0.6),
            ("5", 0.8),
            ("$", 0.9),
            ("yes", 1.2),
        ):
            at = text.index(word)
            socket.say(1, 0, len(text), [(word, at, at + len(word), start_s, start_s + 0.15)])
        socket.hear({"context_id": "c1", "flush": True})
        socket.hear({"context_id": "c1", "close_context": True})
        socket.finish(1)
        messages = socket.take()
        assert [word for word, _ in words_of(messages)] == ["A", "well-known", "one:", "$5,", "(yes)!"]
        assert dict(words_of(messages))["well-known"] == pytest.approx(0.2)
        times = [
            start
            for message in messages
            if message.get("alignment")
            for start in message["alignment"]["charDurationsMs"]
        ]
        assert min(times) >= 0

    def test_an_error_names_its_context_and_ends_it(self):
        socket = Conversing(MULTI)
        socket.hear(init())
        socket.hear({"text": "Hi. ", "context_id": "c1"})
        socket.fail(1, SynthesisFailed("It could not be spoken."))
        error, final = socket.take()
        assert error["error"] == "synthesis_failed"
        assert error["contextId"] == final["contextId"] == "c1"
        assert final["isFinal"] is True

    def test_text_past_the_limit_ends_the_context(self):
        socket = Conversing(MULTI)
        socket.hear(init())
        socket.hear({"text": "a" * 101, "context_id": "c1"})
        assert [message.get("error") for message in socket.take()] == ["text_too_long", None]

    @pytest.mark.parametrize(
        "junk", ["", "[]", "{", b"\x00", '{"text":5}', '{"text":"\\ud83d"}', '{"text":"a","context_id":7}']
    )
    def test_junk_is_answered(self, junk):
        socket = Conversing(MULTI)
        socket.hear(junk)
        (answer,) = socket.take()
        assert answer["error"]
        assert answer["message"]


class TestSingle:
    def test_empty_text_is_the_end_and_closes(self):
        socket = Conversing(SINGLE)
        socket.hear({"text": " ", "voice_settings": {}})
        socket.hear({"text": "Hi. ", "try_trigger_generation": True})
        assert socket.hear({"text": ""})[0] == End(utterance=1)
        assert socket.closes
        socket.say(1, 0, 4, [("Hi", 0, 2, 0.0, 0.2)])
        socket.finish(1)
        audio, final = socket.take()
        assert "contextId" not in audio
        assert final["isFinal"] is True

    def test_an_end_without_text(self):
        socket = Conversing(SINGLE)
        steps = socket.hear({"text": ""})
        assert isinstance(steps[0], Opened)
        assert steps[1] == End(utterance=1)


class TestAddress:
    @pytest.mark.parametrize(
        ("name", "audio_format"),
        [
            ("pcm_8000", AudioFormat("pcm_s16le", 8_000)),
            ("mp3_22050_32", AudioFormat("mp3", 22_050)),
            ("ulaw_8000", AudioFormat("mulaw", 8_000)),
            ("opus_48000_64", AudioFormat("opus", 48_000)),
        ],
    )
    def test_formats(self, name, audio_format):
        assert read_output_format(name) == audio_format

    @pytest.mark.parametrize("name", ["pcm", "pcm_", "pcm_24000_", "flac_8000", "mp3_44100_128_x", ""])
    def test_formats_that_are_none(self, name):
        with pytest.raises(InvalidInput):
            read_output_format(name)

    @pytest.mark.parametrize(
        ("voice", "ours"),
        [
            ("af_heart", "af_heart"),
            ("21m00Tcm4TlvDq8ikWAM", "af_heart"),
            ("Adam", "bm_lewis"),
            ("aura-2-thalia-en", "af_heart"),
        ],
    )
    def test_voices_and_their_aliases(self, voice, ours):
        socket = Conversing(MULTI.replace("af_heart", voice))
        socket.hear(init())
        assert socket.opened()[0].voice == ours

    @pytest.mark.parametrize(
        ("address", "field"),
        [
            (MULTI.replace("af_heart", "nobody"), "voice"),
            (MULTI.replace("af_heart", "af_heart+nobody"), "voice"),
            (MULTI + "&language_code=xx", "language_code"),
            (MULTI + "&inactivity_timeout=never", "inactivity_timeout"),
            ("/v1/speak?encoding=mp9", "encoding"),
            ("/v1/speak?sample_rate=-1", "sample_rate"),
            ("/v1/speak?model=nobody", "model"),
            ("/v1/speak?speed=nan", "speed"),
        ],
    )
    def test_what_there_is_not(self, address, field):
        path, _, query = address.partition("?")
        with pytest.raises(InvalidInput) as caught:
            find_dialect(path, query, READY)
        assert caught.value.field == field

    def test_languages(self):
        socket = Conversing(MULTI + "&language_code=en")
        socket.hear(init())
        assert socket.opened()[0].language == "en-us"

    def test_a_blend_has_its_first_voices_language(self):
        socket = Conversing(MULTI.replace("af_heart", "bm_lewis(2)+af_heart") + "&language_code=en")
        socket.hear(init())
        opened = socket.opened()[0]
        assert (opened.voice, opened.language) == ("bm_lewis(2)+af_heart", "en-gb")

    def test_elsewhere(self):
        assert find_dialect("/v1/elsewhere", "", READY) is None


def test_messages_are_small():
    """Readers take messages of up to 1 MiB by default; 100 ms of the most that there is are well below that."""
    socket = Conversing(MULTI)
    socket.hear(init())
    socket.hear({"text": "a" * 100, "context_id": "c1"})
    socket.say(1, 0, 100, [("a" * 100, 0, 100, 0.0, 1.0)], data=b"\x00" * 4 * 4_800)
    assert len(json.dumps(socket.take()[0])) < 100_000


@pytest.mark.parametrize("name", ["af_heart(2)+bm_lewis(1)", "af_heart%282%29%2Bbm_lewis%281%29"])
def test_a_blend_in_the_address(name):
    socket = Conversing(f"/v1/text-to-speech/{name}/multi-stream-input?output_format=pcm_24000")
    socket.hear({"text": "Hi. ", "context_id": "c1"})
    assert socket.opened()[0].voice == "af_heart(2)+bm_lewis(1)"
