"""Deepgram's speaking socket."""

import pytest

from rtvoice.errors import InvalidInput, SynthesisFailed
from rtvoice.protocol.messages import Cancel, End, Loading, Speak
from tests.protocol.conversing import Conversing

ADDRESS = "/v1/speak?model=aura-2-thalia-en&encoding=linear16&sample_rate=16000&speed=1.1"
FLUSH = {"type": "Flush"}


@pytest.fixture
def socket():
    socket = Conversing(ADDRESS)
    socket.take()
    return socket


def speak(text):
    return {"type": "Speak", "text": text}


def test_metadata_comes_first():
    (metadata,) = Conversing(ADDRESS).take()
    assert metadata["type"] == "Metadata"
    assert metadata["model_name"] == "af_heart"
    assert len(metadata["request_id"]) == 36


def test_words_one_by_one_are_one_utterance(socket):
    for word in ("Hello ", "there. "):
        assert socket.hear(speak(word))[-1] == Speak(text=word, utterance=1)
    assert socket.hear(FLUSH) == [End(utterance=1)]
    (options,) = socket.opened()
    assert (options.voice, options.format, options.sample_rate, options.speed) == ("af_heart", "pcm_s16le", 16_000, 1.1)
    socket.say(1, 0, 13, [("Hello", 0, 5, 0.0, 0.2)])
    socket.finish(1)
    audio, flushed = socket.take()
    assert audio == b"\x01\x00" * 240
    assert flushed == {"type": "Flushed", "sequence_id": 0}


@pytest.mark.parametrize(
    ("encoding", "name", "rate"),
    [("mulaw", "mulaw", 8_000), ("alaw", "alaw", 8_000), ("linear16", "pcm_s16le", 24_000)],
)
def test_encodings_have_their_own_rates(encoding, name, rate):
    socket = Conversing(f"/v1/speak?encoding={encoding}")
    socket.hear(speak("Hi."))
    assert (socket.opened()[0].format, socket.opened()[0].sample_rate) == (name, rate)


def test_each_flush_has_its_answer_in_order(socket):
    socket.hear(FLUSH)
    socket.hear(speak("Hi."))
    socket.hear(FLUSH)
    socket.finish(1)
    socket.finish(2)
    assert [message["sequence_id"] for message in socket.take()] == [0, 1]


def test_clear_stops_all_and_is_answered_once(socket):
    socket.hear(speak("One. "))
    socket.hear(FLUSH)
    socket.hear(speak("Two. "))
    cancels = socket.hear({"type": "Clear"})[:-1]
    assert cancels == [Cancel(utterance=1), Cancel(utterance=2)]
    assert socket.take() == [{"type": "Cleared", "sequence_id": 0}]
    assert socket.conversation.living == ()
    socket.hear(speak("Three. "))
    assert socket.conversation.living == (3,)


def test_clear_of_nothing_is_answered(socket):
    socket.hear({"type": "Clear"})
    assert socket.take() == [{"type": "Cleared", "sequence_id": 0}]


def test_close_drains(socket):
    socket.hear(speak("One. "))
    assert socket.hear({"type": "Close"})[0] == End(utterance=1)
    assert socket.closes


def test_while_the_model_loads_there_is_a_sign_of_life(socket):
    socket.hear(speak("Hi. "))
    socket._write(Loading(utterance=1, elapsed_ms=1_000, expected_ms=None))
    assert [message["type"] for message in socket.take()] == ["Metadata"]


@pytest.mark.parametrize(
    "junk", ["", "[]", b"\x00", '{"type":"Sing"}', '{"type":"Speak"}', '{"type":"Speak","text":"\\ud83d"}']
)
def test_junk_is_a_warning(socket, junk):
    socket.hear(junk)
    (warning,) = socket.take()
    assert warning["type"] == "Warning"
    assert warning["description"]


def test_a_failure_is_an_error_and_the_flush_is_answered(socket):
    socket.hear(speak("One. "))
    socket.fail(1, SynthesisFailed("No."))
    assert [message["type"] for message in socket.take()] == ["Error"]
    socket.hear(FLUSH)
    assert [message["type"] for message in socket.take()] == ["Flushed"]
    socket.hear(speak("Two. "))
    socket.hear(FLUSH)
    socket.fail(2, SynthesisFailed("No."))
    assert [message["type"] for message in socket.take()] == ["Error", "Flushed"]


def test_what_is_refused_when_it_opens():
    def check(options):
        raise InvalidInput("There is no such voice.", field="voice")

    socket = Conversing(ADDRESS, check)
    socket.take()
    socket.hear(speak("One. "))
    socket.hear(speak("Two. "))
    socket.hear(FLUSH)
    assert [message["type"] for message in socket.take()] == ["Error", "Flushed"]


@pytest.mark.parametrize("plus", ["%2B", "+", " "])
def test_a_blend_in_the_address(plus):
    socket = Conversing(f"/v1/speak?model=af_heart(2){plus}bm_lewis(1)")
    socket.hear({"type": "Speak", "text": "Hi."})
    assert socket.opened()[0].voice == "af_heart(2)+bm_lewis(1)"
