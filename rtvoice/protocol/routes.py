"""Which dialect is spoken at which address of the server."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote
from uuid import uuid4

from rtvoice.blends import read_blend
from rtvoice.config import MAX_SPEED, MIN_SPEED
from rtvoice.errors import InvalidInput
from rtvoice.protocol.aliases import find_voice
from rtvoice.protocol.deepgram import DeepgramDialect, SpeakOptions, read_encoding
from rtvoice.protocol.dialect import NativeDialect
from rtvoice.protocol.elevenlabs import ElevenLabsDialect, StreamOptions, read_output_format

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtvoice.protocol.conversation import Conversation
    from rtvoice.protocol.dialect import MakeDialect
    from rtvoice.protocol.messages import Ready

_ELEVENLABS = re.compile(r"/v1/text-to-speech/([^/]+)/(multi-)?stream-input")
_DEEPGRAM = "/v1/speak"


def _any_voice(_voice: str, _language: str | None) -> None:
    """Refuse none."""


def find_dialect(
    path: str, query: str, ready: Ready, check: Callable[[str, str | None], None] = _any_voice
) -> MakeDialect | None:
    """The dialect of an address, or None if there is no socket at it.

    Args:
        path: of the request, still quoted.
        query: what stands behind its question mark.
        ready: what the server offers.
        check: refuses a voice or a blend of those on offer that cannot be spoken all the same, in a language or in its
            own, with `InvalidInput`.

    Raises:
        InvalidInput: the address asks for what there is not; names the parameter and what is allowed.
    """
    if path == "/":
        return NativeDialect
    fields = dict(parse_qsl(query))
    if match := _ELEVENLABS.fullmatch(path):
        voice = find_voice(unquote(match[1]), ready.voices)
        stream = _stream_options(voice, fields, ready, is_multi=bool(match[2]))
        check(voice, stream.language)
        return _over(partial(ElevenLabsDialect, options=stream))
    if path == _DEEPGRAM:
        speak = _speak_options(fields, ready)
        check(speak.voice, None)
        return _over(partial(DeepgramDialect, options=speak))
    return None


def _over(make: Callable[[Conversation], ElevenLabsDialect | DeepgramDialect]) -> MakeDialect:
    return lambda conversation, _ready: make(conversation)


def _stream_options(voice: str, fields: dict[str, str], ready: Ready, *, is_multi: bool) -> StreamOptions:
    return StreamOptions(
        voice=voice,
        audio_format=read_output_format(fields.get("output_format", "mp3_44100_128")),
        language=_language(fields.get("language_code"), voice, ready),
        auto_mode=fields.get("auto_mode") == "true",
        sync_alignment=fields.get("sync_alignment") == "true",
        inactivity_s=_number(fields, "inactivity_timeout", 20.0, 1.0, 3_600.0),
        is_multi=is_multi,
        contexts=ready.limits.utterances,
    )


def _speak_options(fields: dict[str, str], ready: Ready) -> SpeakOptions:
    rate = fields.get("sample_rate", "")
    if rate and not (rate.isdecimal() and len(rate) < 6):  # six figures are no rate of speech
        raise InvalidInput("sample_rate must be a whole number.", field="sample_rate")
    # No name has a blank: one stands where the plus of a blend was not quoted.
    model = fields.get("model", ready.voices[0].name).replace(" ", "+")
    return SpeakOptions(
        voice=find_voice(model, ready.voices, "model"),
        audio_format=read_encoding(fields.get("encoding", "linear16"), int(rate) if rate else None),
        speed=_number(fields, "speed", 1.0, MIN_SPEED, MAX_SPEED),
        request=uuid4(),
    )


def _language(code: str | None, voice: str, ready: Ready) -> str | None:
    """The language that a code of two letters or more means: the voice's own if that fits, else the first that does.

    Raises:
        InvalidInput: none does.
    """
    if not code:
        return None
    code = code.lower()
    languages = {offered.name: offered.language for offered in ready.voices}
    own = languages[read_blend(voice, languages)[0].voice]
    for language in (own, *ready.languages):
        if language == code or language.split("-")[0] == code:
            return language
    raise InvalidInput(f"There is no language {code[:32]!r}.", field="language_code", allowed=ready.languages)


def _number(fields: dict[str, str], name: str, default: float, low: float, high: float) -> float:
    try:
        value = float(fields.get(name, default))
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        allowed = f"a number from {low:g} to {high:g}"
        raise InvalidInput(f"{name} must be {allowed}.", field=name, allowed=allowed)
    return value
