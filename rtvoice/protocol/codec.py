"""The native protocol's messages as JSON text and binary frames, both ways.

`decode_client` is strict: a field it does not know is an error, since a misspelt option would change the sound
silently. `decode_server` passes over what it does not know, so that version 1 may grow.
"""

from __future__ import annotations

import json
import struct
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from rtvoice.config import MAX_PAUSE_MS, MAX_SPEED, MIN_SPEED, SAMPLE_RATES
from rtvoice.errors import InvalidInput, ProtocolViolation
from rtvoice.protocol.fields import (
    Field,
    array,
    boolean,
    build,
    either,
    nested,
    nullable,
    number,
    one_of,
    one_of_numbers,
    short_string,
    string,
    strings_by_string,
    whole_number,
)
from rtvoice.protocol.messages import (
    MARKUPS,
    OPTIONS,
    Audio,
    Cancel,
    Cancelled,
    ClientMessage,
    Done,
    End,
    Error,
    Flush,
    Loading,
    Mark,
    Marked,
    Phoneme,
    Phonemes,
    Ready,
    Segment,
    ServerMessage,
    SessionLimits,
    Speak,
    Voice,
    Word,
    Words,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MAX_U32 = 2**32 - 1
LEXICON_ENTRIES, LEXICON_CHARACTERS = 256, 256
"""Of an utterance's own lexicon."""
MARK_CHARACTERS = 256
"""The longest name of a mark."""

_DIGITS = 32
"""Of a whole number, beyond all that a field may hold."""

_AUDIO_HEADER = struct.Struct("<II")  # utterance, index of the first sample

_NUMBER = whole_number(1, MAX_U32)
_COUNT = whole_number(0, 2**53)
_SECONDS = number(0, 2**53)
_STRINGS = array(string)

_UTTERANCE = {"utterance": Field(_NUMBER, required=False)}

_CLIENT: dict[str, tuple[type, dict[str, Field]]] = {
    "speak": (
        Speak,
        {
            "text": Field(string),
            **_UTTERANCE,
            "voice": Field(string, required=False),
            "speed": Field(number(MIN_SPEED, MAX_SPEED), required=False),
            "language": Field(string, required=False),
            "format": Field(string, required=False),
            "sample_rate": Field(one_of_numbers(*SAMPLE_RATES), required=False),
            "pause_ms": Field(whole_number(0, MAX_PAUSE_MS), required=False),
            "seed": Field(whole_number(0, MAX_U32), required=False),
            "markup": Field(one_of(*MARKUPS), required=False),
            "control": Field(boolean, required=False),
            "lexicon": Field(strings_by_string(LEXICON_ENTRIES, LEXICON_CHARACTERS), required=False),
            "phoneme_times": Field(boolean, required=False),
        },
    ),
    "flush": (Flush, _UTTERANCE),
    "mark": (Mark, {"name": Field(short_string(MARK_CHARACTERS)), **_UTTERANCE}),
    "end": (End, _UTTERANCE),
    "cancel": (Cancel, {**_UTTERANCE, "played_ms": Field(_COUNT, required=False)}),
}

_FIGURES = {
    "characters": Field(_COUNT),
    "spoken_characters": Field(_COUNT),
    "audio_ms": Field(_COUNT),
    "first_audio_ms": Field(nullable(_COUNT)),
    **{name: Field(_COUNT, required=False) for name in ("queue_ms", "compute_ms", "cold_start_ms")},
}
_VOICE = {name: Field(string) for name in ("name", "language", "gender")}
_RANGE = {"start": Field(_COUNT), "end": Field(_COUNT)}
_WORD = {"text": Field(string), **_RANGE, "start_s": Field(_SECONDS), "end_s": Field(_SECONDS)}
_PHONEME = {"phoneme": Field(string), "start_s": Field(_SECONDS), "end_s": Field(_SECONDS)}
_LIMITS = {
    "text_characters": Field(_COUNT),
    "message_bytes": Field(_COUNT),
    "utterances": Field(_COUNT),
    "min_speed": Field(_SECONDS),
    "max_speed": Field(_SECONDS),
}

_SERVER: dict[str, tuple[type, dict[str, Field]]] = {
    "ready": (
        Ready,
        {
            "protocol": Field(_COUNT),
            "server": Field(string),
            "sample_rate": Field(_COUNT),
            "sample_rates": Field(array(_COUNT)),
            "formats": Field(_STRINGS),
            "voices": Field(array(nested(Voice, _VOICE))),
            "languages": Field(_STRINGS),
            "limits": Field(nested(SessionLimits, _LIMITS)),
            "markups": Field(_STRINGS, required=False),
            "control": Field(boolean, required=False),
            "any_blend": Field(boolean, required=False),
        },
    ),
    "loading": (
        Loading,
        {
            "utterance": Field(_NUMBER),
            "elapsed_ms": Field(_COUNT),
            "expected_ms": Field(_COUNT, required=False),
        },
    ),
    "segment": (Segment, {"utterance": Field(_NUMBER), **_RANGE, "sample": Field(_COUNT)}),
    "words": (Words, {"utterance": Field(_NUMBER), "words": Field(array(nested(Word, _WORD)))}),
    "phonemes": (Phonemes, {"utterance": Field(_NUMBER), "phonemes": Field(array(nested(Phoneme, _PHONEME)))}),
    "mark": (Marked, {"utterance": Field(_NUMBER), "name": Field(string), "sample": Field(_COUNT)}),
    "done": (Done, {"utterance": Field(_NUMBER), **_FIGURES}),
    "cancelled": (Cancelled, {"utterance": Field(_NUMBER), "spoken_ms": Field(_COUNT, required=False), **_FIGURES}),
    "error": (
        Error,
        {
            "utterance": Field(nullable(_NUMBER)),
            "code": Field(string),
            "message": Field(string),
            "field": Field(string, required=False),
            "allowed": Field(either(string, _STRINGS), required=False),
            "retry_after_ms": Field(_COUNT, required=False),
            **{name: Field(field.read, required=False) for name, field in _FIGURES.items()},
        },
    ),
}

_TYPE_OF = {kind: name for table in (_CLIENT, _SERVER) for name, (kind, _) in table.items()}


class FaultySpeak(InvalidInput):
    """A `speak` that cannot be used. Its text will be missing, so its utterance cannot go on.

    Attributes:
        utterance: the number it carried, or None.
        opens: whether it carried options, which only a message that opens an utterance may.
    """

    def __init__(self, cause: InvalidInput, *, utterance: int | None, opens: bool) -> None:
        super().__init__(str(cause), field=cause.field, allowed=cause.allowed)
        self.utterance = utterance
        self.opens = opens


def encode(message: ClientMessage | ServerMessage) -> str | bytes:
    """Write a message: text, or bytes if it is `Audio`.

    Fields that are None are left out, except those that a reader may rely on (`first_audio_ms`, an
    error's `utterance`).
    """
    if isinstance(message, Audio):
        return _AUDIO_HEADER.pack(message.utterance, message.sample) + message.data
    return json.dumps(
        {"type": _TYPE_OF[type(message)], **_to_object(message)}, ensure_ascii=False, separators=(",", ":")
    )


def decode_client(data: str | bytes) -> ClientMessage:
    """Read a client's message.

    Raises:
        ProtocolViolation: it is binary, no JSON, or no object.
        FaultySpeak: a `speak` with a faulty field.
        InvalidInput: any other faulty field; names it and what is allowed.
    """
    if isinstance(data, bytes):
        raise ProtocolViolation("A client sends text messages only; this one is binary.")
    name, value = _load_message(data)
    kind, schema = _CLIENT.get(name, (None, {}))
    if kind is None:
        raise InvalidInput("There is no message of this type.", field="type", allowed=tuple(_CLIENT))
    try:
        message: ClientMessage = build(kind, schema, value, strict=True)
    except InvalidInput as error:
        if kind is Speak:
            utterance: int | None = build(Cancel, _UTTERANCE, value, strict=False).utterance
            raise FaultySpeak(error, utterance=utterance, opens=any(name in value for name in OPTIONS)) from error
        raise
    return message


def decode_server(data: str | bytes) -> ServerMessage | None:
    """Read a server's message; None if it is of a type that this version does not know.

    Raises:
        ProtocolViolation: it is none of this protocol.
    """
    if isinstance(data, bytes):
        if len(data) <= _AUDIO_HEADER.size:
            raise ProtocolViolation(f"An audio frame of {len(data)} bytes has no samples.")
        utterance, sample = _AUDIO_HEADER.unpack_from(data)
        return Audio(utterance=utterance, sample=sample, data=data[_AUDIO_HEADER.size :])
    name, value = _load_message(data)
    kind, schema = _SERVER.get(name, (None, {}))
    if kind is None:
        return None
    try:
        message: ServerMessage = build(kind, schema, value, strict=False)
    except InvalidInput as error:
        raise ProtocolViolation(f"The server sent a faulty {name!r}: {error}") from error
    return message


def _to_object(message: DataclassInstance) -> dict[str, object]:
    values = ((field.name, getattr(message, field.name)) for field in fields(message))
    return {
        name: _to_value(value) for name, value in values if value is not None or _null_says_something(message, name)
    }


def _null_says_something(message: object, name: str) -> bool:
    if name == "first_audio_ms":
        return (
            getattr(message, "characters", None) is not None
        )  # an error that concerns one message has no figures at all
    return name == "utterance" and isinstance(message, Error)


def _to_value(value: object) -> object:
    if isinstance(value, tuple):
        return [_to_value(item) for item in value]
    return _to_object(value) if is_dataclass(value) and not isinstance(value, type) else value


def _load_message(text: str) -> tuple[str, dict[str, object]]:
    """Read a message's type ("" if it has none) and its fields."""
    value = load_object(text)
    name = value.pop("type", None)
    return name if isinstance(name, str) else "", value


def load_object(text: str | bytes) -> dict[str, object]:
    """Read a message that is a JSON object in a text frame.

    Raises:
        ProtocolViolation: it is not.
    """
    if isinstance(text, bytes):
        raise ProtocolViolation("A client sends text messages only; this one is binary.")
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_int=_whole)
    except RecursionError:
        raise ProtocolViolation("The message is nested too deeply; one is a flat JSON object.") from None
    except json.JSONDecodeError as error:
        raise ProtocolViolation(f"The message is not JSON, from character {error.pos} on.") from None
    if not isinstance(value, dict):
        raise ProtocolViolation("The message is JSON, but not an object.")
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ProtocolViolation("A field of the message appears twice.")
    return value


def _whole(digits: str) -> int | float:
    """A whole number; as a float, which is as far out of every range, if it is too long to be one cheaply."""
    return int(digits) if len(digits) <= _DIGITS else float(digits)
