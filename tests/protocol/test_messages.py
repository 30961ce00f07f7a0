"""Every message there is, there and back."""

import dataclasses
import inspect
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.config import AUDIO_FORMATS, SAMPLE_RATES
from rtvoice.protocol import messages
from rtvoice.protocol.codec import decode_client, decode_server, encode
from rtvoice.protocol.messages import Audio, ClientMessage, Error, ServerMessage

CLIENT = typing.get_args(ClientMessage)
SERVER = typing.get_args(ServerMessage)
PARTS = (messages.Voice, messages.SessionLimits, messages.Phoneme, messages.Word)

_text = st.text(st.characters(codec="utf-8"), max_size=40)
_count = st.integers(0, 2**53)
_number = st.integers(1, 2**32 - 1)
_seconds = st.floats(0, 1e6)

# A value for each name of a field: the same name means the same thing in every message.
_FIELDS = {
    "allowed": _text | st.lists(_text, max_size=3).map(tuple),
    "data": st.binary(min_size=2, max_size=20),
    "end_s": _seconds,
    "formats": st.just(AUDIO_FORMATS),
    "languages": st.lists(_text, max_size=3).map(tuple),
    "limits": st.deferred(lambda: instances(messages.SessionLimits)),
    "max_speed": _seconds,
    "min_speed": _seconds,
    "phoneme_times": st.booleans(),
    "phonemes": st.deferred(lambda: st.lists(instances(messages.Phoneme), max_size=3).map(tuple)),
    "protocol": _count,
    "pause_ms": st.integers(0, 10_000),
    "sample_rate": st.sampled_from(SAMPLE_RATES),
    "sample_rates": st.lists(st.integers(1, 2**32 - 1), max_size=3).map(tuple),
    "sample": st.integers(0, 2**32 - 1),
    "seed": st.integers(0, 2**32 - 1),
    "speed": st.floats(0.5, 2.0),
    "markups": st.lists(_text, max_size=3).map(tuple),
    "markup": st.sampled_from(messages.MARKUPS),
    "control": st.booleans(),
    "any_blend": st.booleans(),
    "lexicon": st.dictionaries(_text, _text, max_size=3),
    "start_s": _seconds,
    "utterance": _number,
    "voices": st.deferred(lambda: st.lists(instances(messages.Voice), max_size=3).map(tuple)),
    "words": st.deferred(lambda: st.lists(instances(messages.Word), max_size=3).map(tuple)),
}


def instances(kind):
    """Messages of a kind, with every field that may be None sometimes None."""
    hints = typing.get_type_hints(kind)

    def values(field):
        by_type = _text if "str" in str(hints[field.name]) else _count
        strategy = _FIELDS.get(field.name, by_type)
        return st.none() | strategy if type(None) in typing.get_args(hints[field.name]) else strategy

    def is_possible(message):
        # An error's figures come together or not at all.
        return kind is not Error or message.first_audio_ms is None or message.characters is not None

    return st.builds(kind, **{field.name: values(field) for field in dataclasses.fields(kind)}).filter(is_possible)


def test_every_dataclass_of_the_module_is_a_message_or_a_part_of_one():
    found = {kind for _, kind in inspect.getmembers(messages, dataclasses.is_dataclass)}
    assert found == {*CLIENT, *SERVER, *PARTS}


@pytest.mark.parametrize("kind", [*CLIENT, *SERVER, *PARTS])
def test_messages_are_frozen(kind):
    assert kind.__dataclass_params__.frozen
    assert kind.__slots__


@pytest.mark.parametrize("kind", CLIENT)
@given(data=st.data())
def test_client_messages_there_and_back(kind, data):
    message = data.draw(instances(kind))
    wire = encode(message)
    assert isinstance(wire, str)
    assert decode_client(wire) == message


@pytest.mark.parametrize("kind", SERVER)
@given(data=st.data())
def test_server_messages_there_and_back(kind, data):
    message = data.draw(instances(kind))
    wire = encode(message)
    assert isinstance(wire, bytes if kind is Audio else str)
    assert decode_server(wire) == message
