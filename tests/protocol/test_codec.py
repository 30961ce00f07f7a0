"""What the codec writes exactly, and what it refuses."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.config import Limits
from rtvoice.errors import InvalidInput, ProtocolViolation
from rtvoice.protocol.codec import FaultySpeak, decode_client, decode_server, encode
from rtvoice.protocol.messages import Audio, Done, Error, Flush, Segment, Speak


def test_the_header_of_audio():
    frame = encode(Audio(utterance=1, sample=2400, data=b"\x01\x02"))
    assert frame == bytes.fromhex("01000000 60090000 0102")


def test_json_is_compact_and_readable():
    assert (
        encode(Speak(text="“Ä”", utterance=3, speed=1.5)) == '{"type":"speak","text":"“Ä”","utterance":3,"speed":1.5}'
    )
    assert encode(Flush()) == '{"type":"flush"}'


def test_null_is_written_where_it_says_something():
    done = Done(utterance=1, characters=0, spoken_characters=0, audio_ms=0, first_audio_ms=None)
    assert json.loads(encode(done))["first_audio_ms"] is None
    error = json.loads(encode(Error(utterance=None, code="invalid_input", message="No.")))
    assert error == {"type": "error", "utterance": None, "code": "invalid_input", "message": "No."}


@pytest.mark.parametrize(
    ("wire", "says"),
    [
        (b"\x00\x01", "binary"),
        ("", "not JSON"),
        ("hello", "not JSON"),
        ('{"type":"speak"', "not JSON"),
        ('{"type":"end"} {"type":"end"}', "not JSON"),
        ('{"type":"end","type":"end"}', "twice"),
        ("[]", "not an object"),
        ('"speak"', "not an object"),
        ("null", "not an object"),
        ("[" * 50_000, "nested"),
        ('{"type":' * 50_000, "nested"),
    ],
    ids=range(11),
)
def test_what_is_no_message(wire, says):
    with pytest.raises(ProtocolViolation, match=says):
        decode_client(wire)


@pytest.mark.parametrize("wire", ["{}", '{"type":"sing"}', '{"type":null}', '{"type":["end"]}', '{"type":"ready"}'])
def test_types_that_are_none(wire):
    with pytest.raises(InvalidInput) as caught:
        decode_client(wire)
    assert (caught.value.field, caught.value.allowed) == ("type", ("speak", "flush", "mark", "end", "cancel"))


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "text"),
        ({"text": None}, "text"),
        ({"text": 3}, "text"),
        ({"text": ["a"]}, "text"),
        ({"text": "\ud83d"}, "text"),
        ({"text": "", "voice": 1}, "voice"),
        ({"text": "", "voice": None}, "voice"),
        ({"text": "", "speed": "fast"}, "speed"),
        ({"text": "", "speed": True}, "speed"),
        ({"text": "", "speed": 0.49}, "speed"),
        ({"text": "", "speed": 2.01}, "speed"),
        ({"text": "", "speed": float("nan")}, "speed"),
        ({"text": "", "speed": float("inf")}, "speed"),
        ({"text": "", "speed": 10**400}, "speed"),
        ({"text": "", "language": {}}, "language"),
        ({"text": "", "format": False}, "format"),
        ({"text": "", "seed": 1.0}, "seed"),
        ({"text": "", "seed": -1}, "seed"),
        ({"text": "", "seed": 2**32}, "seed"),
        ({"text": "", "sped": 1.0}, "sped"),
        ({"text": "", "x" * 1000: 1}, "x" * 64),
    ],
)
def test_a_faulty_speak_names_the_field_and_its_utterance(fields, field):
    with pytest.raises(FaultySpeak) as caught:
        decode_client(json.dumps({"type": "speak", "utterance": 7, **fields}))
    assert caught.value.field == field
    assert caught.value.utterance == 7
    assert caught.value.opens == any(name in fields for name in ("voice", "speed", "language", "format", "seed"))
    if field in {"speed", "seed", "voice"}:
        assert caught.value.allowed


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("sample_rate", "24000.5", "sample_rate must be one of 8000, 16000, 22050, 24000, 32000, 44100, 48000."),
        ("sample_rate", "11025", "sample_rate must be one of 8000, 16000, 22050, 24000, 32000, 44100, 48000."),
        ("sample_rate", "true", "sample_rate must be one of 8000, 16000, 22050, 24000, 32000, 44100, 48000."),
        ("seed", "9" * 5_000, "seed must be a whole number from 0 to 4294967295."),
        ("seed", "-" + "9" * 5_000, "seed must be a whole number from 0 to 4294967295."),
        ("speed", "9" * 5_000, "speed must be a number from 0.5 to 2.0."),
        ("speed", "1e999999", "speed must be a number from 0.5 to 2.0."),
        ("pause_ms", "0.5", "pause_ms must be a whole number from 0 to 10000."),
        ("lexicon", '{"a":' + "1" * 5_000 + "}", "lexicon must be a string."),
    ],
    ids=range(9),
)
def test_values_that_are_none_are_answered_in_our_words(field, value, says):
    with pytest.raises(FaultySpeak) as caught:
        decode_client(f'{{"type":"speak","text":"","utterance":7,"{field}":{value}}}')
    assert str(caught.value) == says
    assert (caught.value.field, caught.value.utterance) == (field, 7)


@pytest.mark.parametrize("wire", ["{", '{"a":}', "nul", '{"a":"\x01"}', "1" * 5_000 + "x", "[1,]", '"\\q"', "{} {}"])
def test_no_library_speaks_for_us(wire):
    with pytest.raises(ProtocolViolation) as caught:
        decode_client(wire)
    assert re.fullmatch(r"The message is not JSON, from character \d+ on\.", str(caught.value))


@pytest.mark.parametrize("number", [0, -1, 2**32, 1.0, True, "1", None, [1]])
@pytest.mark.parametrize("kind", ["speak", "flush", "end", "cancel"])
def test_utterance_numbers_that_are_none(kind, number):
    # Whatever else is wrong with it, an error that cannot tell its utterance concerns the message alone.
    fields = {"text": "a"} if kind == "speak" else {}
    for more in ({}, {"unknown": 1}):
        with pytest.raises(InvalidInput) as caught:
            decode_client(json.dumps({"type": kind, "utterance": number, **fields, **more}))
        assert not isinstance(caught.value, FaultySpeak)


def test_a_field_of_another_message():
    with pytest.raises(InvalidInput) as caught:
        decode_client('{"type":"end","text":"more"}')
    assert (caught.value.field, caught.value.allowed) == ("text", ("type", "utterance"))


@given(st.text() | st.binary(max_size=50))
def test_nothing_that_arrives_is_a_surprise(data):
    with pytest.raises((ProtocolViolation, InvalidInput)):
        decode_client(data)


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
_names = st.sampled_from(["utterance", "text", "voice", "speed", "language", "format", "seed"]) | st.text()


@given(st.sampled_from(["speak", "flush", "end", "cancel"]), st.dictionaries(_names, _values, max_size=4))
def test_any_fields_are_taken_or_refused_by_name(kind, fields):
    refusal = None
    try:
        decode_client(json.dumps({**fields, "type": kind}))
    except InvalidInput as error:
        refusal = error
    assert refusal is None or refusal.field is not None


def test_a_name_that_is_no_unicode_can_be_told():
    with pytest.raises(InvalidInput) as caught:
        decode_client('{"type":"end","\\ud800":1}')
    assert caught.value.field == "\\ud800"
    encode(Error(utterance=None, code="invalid_input", message=str(caught.value), field=caught.value.field)).encode()


def test_a_message_with_all_of_the_text_escaped_fits_the_limit():
    limits = Limits()
    wire = json.dumps({"type": "speak", "text": "\U0001f600" * limits.text_characters, "voice": "x" * 64})
    assert len(wire) <= limits.message_bytes


def test_the_client_passes_over_what_it_does_not_know():
    assert decode_server('{"type":"later"}') is None
    segment = decode_server('{"type":"segment","utterance":1,"start":0,"end":3,"sample":0,"mood":"good"}')
    assert segment == Segment(utterance=1, start=0, end=3, sample=0)


@pytest.mark.parametrize(
    "wire",
    [
        b"",
        b"\x01\x00\x00\x00\x00\x00\x00\x00",
        "x",
        '{"type":"done","utterance":1}',
        '{"type":"done","utterance":null,"characters":0,"spoken_characters":0,"audio_ms":0,"first_audio_ms":null}',
        '{"type":"words","utterance":1,"words":[3]}',
        '{"type":"words","utterance":1,"words":[{"text":"a"}]}',
        '{"type":"words","utterance":1,"words":3}',
        '{"type":"error","utterance":1,"code":"x","message":"y","allowed":3}',
    ],
    ids=range(9),
)
def test_a_server_that_breaks_the_protocol(wire):
    with pytest.raises(ProtocolViolation):
        decode_server(wire)
