"""ElevenLabs' sockets, `stream-input` and `multi-stream-input`, as a dialect: a context is an utterance.

Where the published description is silent or contradicts itself, the plugins of LiveKit (1.8) and Pipecat (1.14) are
the description:

- Both spellings of a name are sent wherever two are read (`contextId` and `context_id`, `charDurationsMs` and
  `charsDurationsMs`).
- Times of characters count from the context's first sample for those who ask for `sync_alignment`, as LiveKit does,
  and from the message before for all others, as Pipecat reads them.
- `close_context` means both "no more text" and "stop". It is the first behind a message that does nothing but flush,
  the second behind text that was not flushed, or where the context's text had ended before. Behind text that carries
  its own flush it is the first as well, except from those who ask for `sync_alignment`: LiveKit flushes each sentence
  so, and ends with a flush of its own.
- With `auto_mode` a message's text is whole sentences or phrases, and Pipecat sends them without the space that parts
  them: it is added. Without, text may be cut anywhere and is taken as it is.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from rtvoice.config import MAX_SPEED, MIN_SPEED, AudioFormat
from rtvoice.errors import InvalidInput, ProtocolViolation
from rtvoice.protocol.alignment import Aligner, Alignment
from rtvoice.protocol.codec import load_object
from rtvoice.protocol.dialect import Close, Dialect, Reply
from rtvoice.protocol.messages import Audio, Cancel, Cancelled, Done, End, Error, Flush, Segment, Speak, Words

if TYPE_CHECKING:
    from rtvoice.protocol.conversation import Conversation, Step
    from rtvoice.protocol.messages import ClientMessage, ServerMessage

_FORMAT = re.compile(r"(pcm|ulaw|alaw|wav|mp3|opus)_(\d{4,5})(?:_\d{1,3})?")
_ENCODINGS = {"pcm": "pcm_s16le", "ulaw": "mulaw", "alaw": "alaw", "wav": "wav", "mp3": "mp3", "opus": "opus"}
_DEFAULT_CONTEXT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    """What the address of a socket says.

    Attributes:
        voice: a voice that is offered.
        audio_format: as `output_format` names it.
        language: a language that is offered, or None for the voice's own.
        auto_mode: whether each message holds whole sentences or phrases.
        sync_alignment: whether times of characters count from the context's first sample.
        inactivity_s: how long a context may lie idle before it is given up.
        is_multi: whether the socket takes many contexts.
        contexts: how many may live at once. Before that many do, those that wait for text are given up, oldest first:
            clients that are interrupted often leave some behind.
    """

    voice: str
    audio_format: AudioFormat
    language: str | None = None
    auto_mode: bool = False
    sync_alignment: bool = False
    inactivity_s: float = 20.0
    is_multi: bool = True
    contexts: int = 32


def read_output_format(name: str) -> AudioFormat:
    """Read the name of a format, such as `pcm_24000` or `mp3_22050_32`; the bit rate is passed over.

    Raises:
        InvalidInput: it is none.
    """
    match = _FORMAT.fullmatch(name)
    if match is None:
        raise InvalidInput(
            "There is no such output format.",
            field="output_format",
            allowed="pcm, ulaw, alaw, wav, mp3 or opus with a sample rate, as pcm_24000",
        )
    return AudioFormat(_ENCODINGS[match[1]], int(match[2]))


@dataclass(slots=True)
class _Context:
    """A context that has not ended."""

    name: str
    number: int
    aligner: Aligner
    active_at: float
    last: str = "nothing"  # what the client sent last: nothing, text, flushed text, flush, end
    segment_end: int = 0
    alignments: list[Alignment] = field(default_factory=list)  # that wait for audio


class ElevenLabsDialect(Dialect):
    """One socket's contexts.

    Args:
        conversation: of the session.
        options: from the address.
    """

    is_concurrent: ClassVar[bool] = True
    silence_ms: ClassVar[int] = 20

    def __init__(self, conversation: Conversation, options: StreamOptions) -> None:
        self._conversation = conversation
        self._options = options
        self._names: dict[str, _Context] = {}
        self._numbers: dict[int, _Context] = {}
        self._last = 0

    def receive(self, data: str | bytes, now: float) -> list[Step | Reply | Close]:
        """See `Dialect.receive`."""
        steps: list[Step | Reply | Close] = []
        for context in self._idle(now):
            steps += self._tell(Cancel(utterance=context.number), now)
        try:
            message = load_object(data)
            if message.get("close_socket") is True:
                for context in list(self._names.values()):
                    steps += self._end(context, now)
                return [*steps, Close()]
            return steps + self._receive(message, now)
        except (InvalidInput, ProtocolViolation) as error:
            return [*steps, Reply(_json({"error": error.code, "message": str(error), "code": 1008}))]

    def write(self, message: ServerMessage) -> list[str | bytes]:
        """See `Dialect.write`."""
        number = getattr(message, "utterance", None)
        if isinstance(message, Error) and number is None:
            return [_json({"error": message.code, "message": message.message})]
        context = self._numbers.get(number) if number is not None else None
        if context is None:
            return []
        match message:
            case Segment():
                context.segment_end = message.end
            case Words():
                alignment = context.aligner.align(message.words, context.segment_end)
                if alignment is not None:
                    context.alignments.append(alignment)
            case Audio():
                return self._audio(context, message.data)
            case Done():
                rest = context.aligner.rest()
                if rest is not None:
                    context.alignments.append(rest)
                return [*(self._audio(context, b"") if context.alignments else []), self._final(context)]
            case Cancelled():
                return [self._final(context)]
            case Error():
                failure = {"error": message.code, "message": message.message, **self._names_of(context)}
                return [_json(failure), self._final(context)]
        return []

    # What the client says

    def _receive(self, message: dict[str, object], now: float) -> list[Step | Reply | Close]:
        text, name = _string(message, "text"), self._context_name(message)
        flushes = message.get("flush") is True
        context = self._names.get(name)
        if message.get("close_context") is True:
            return [] if context is None else self._close(context, now)
        if context is not None:
            context.active_at = now
        ends = text == "" and not self._options.is_multi and not flushes
        if text is None or (text == "" and not ends):
            # A keep-alive, or a flush alone; of a context that is none, it has nothing to do.
            return [*self._flush(context, "flush", now)] if context is not None and flushes else []
        steps: list[Step | Reply | Close] = []
        if context is None:
            context, opening = self._open(name, message, now)
            steps += opening
        elif context.last == "end":
            raise InvalidInput(f"The context {name[:64]!r} was closed; its text has ended.", field="context_id")
        if ends:
            return [*steps, *self._end(context, now)]
        if text.strip() or context.last != "nothing":  # the space that opens a context is no text of it
            context.last = "text"
            if self._options.auto_mode and not text[-1].isspace():
                text += " "
            # Before the core knows of it: what it answers may need the text.
            context.aligner.push(text)
            steps += self._tell(Speak(text=text, utterance=context.number), now)
        if flushes:
            steps += self._flush(context, "flushed text" if context.last == "text" else "flush", now)
        return steps

    def _context_name(self, message: dict[str, object]) -> str:
        if not self._options.is_multi:
            return _DEFAULT_CONTEXT
        return _string(message, "context_id") or _string(message, "contextId") or _DEFAULT_CONTEXT

    def _open(self, name: str, message: dict[str, object], now: float) -> tuple[_Context, list[Step]]:
        speed = _speed(message)  # which may be none, and then there is no context
        self._last += 1
        context = _Context(name, self._last, Aligner(absolute=self._options.sync_alignment), now)
        self._names[name] = self._numbers[self._last] = context
        opening = Speak(
            text="",
            utterance=self._last,
            voice=self._options.voice,
            language=self._options.language,
            format=self._options.audio_format.encoding,
            sample_rate=self._options.audio_format.sample_rate,
            speed=speed,
        )
        if len(self._numbers) < self._options.contexts:
            return context, self._tell(opening, now)
        waiting = (other for other in self._numbers.values() if other.last not in {"text", "end"})
        oldest = next(waiting)  # the new one, if there is no other
        given_up = [] if oldest is context else self._tell(Cancel(utterance=oldest.number), now)
        return context, [*given_up, *self._tell(opening, now)]

    def _flush(self, context: _Context, what: str, now: float) -> list[Step]:
        if context.last in {"nothing", "end"}:
            return []
        context.last = what
        return self._tell(Flush(utterance=context.number), now)

    def _close(self, context: _Context, now: float) -> list[Step | Reply | Close]:
        ends_well = {"flush"} if self._options.sync_alignment else {"flush", "flushed text"}
        if context.last in ends_well:
            return self._end(context, now)
        return list(self._tell(Cancel(utterance=context.number), now))

    def _end(self, context: _Context, now: float) -> list[Step | Reply | Close]:
        if context.last == "end":
            return []
        context.last = "end"
        steps: list[Step | Reply | Close] = list(self._tell(End(utterance=context.number), now))
        return steps if self._options.is_multi else [*steps, Close()]

    def _idle(self, now: float) -> list[_Context]:
        """Contexts that nobody has spoken to for long. Those whose text has ended do not wait for any."""
        oldest = now - self._options.inactivity_s
        return [context for context in self._names.values() if context.active_at < oldest and context.last != "end"]

    def _tell(self, message: ClientMessage, now: float) -> list[Step]:
        return self._conversation.receive(message, now)

    # What the server says

    def _audio(self, context: _Context, data: bytes) -> list[str | bytes]:
        alignment = _merged(context.alignments)
        context.alignments.clear()
        audio = base64.b64encode(data).decode() if data else None
        return [
            _json(
                {
                    "audio": audio,
                    "isFinal": None,
                    "alignment": alignment,
                    "normalizedAlignment": alignment,
                    **self._names_of(context),
                }
            )
        ]

    def _final(self, context: _Context) -> str:
        del self._numbers[context.number]
        if self._names.get(context.name) is context:
            del self._names[context.name]
        return _json({"audio": None, "isFinal": True, "is_final": True, **self._names_of(context)})

    def _names_of(self, context: _Context) -> dict[str, object]:
        return {"contextId": context.name, "context_id": context.name} if self._options.is_multi else {}


def _merged(alignments: list[Alignment]) -> dict[str, object] | None:
    """Runs that follow each other as one, in the names of the protocol."""
    if not alignments:
        return None
    characters = [character for run in alignments for character in run.characters]
    starts = [start for run in alignments for start in run.starts_ms]
    durations = [duration for run in alignments for duration in run.durations_ms]
    return {
        "chars": characters,
        "charStartTimesMs": starts,
        "charsStartTimesMs": starts,
        "charDurationsMs": durations,
        "charsDurationsMs": durations,
    }


def _speed(message: dict[str, object]) -> float | None:
    settings = message.get("voice_settings")
    speed = settings.get("speed") if isinstance(settings, dict) else None
    if speed is None:
        return None
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not MIN_SPEED <= speed <= MAX_SPEED:
        allowed = f"a number from {MIN_SPEED} to {MAX_SPEED}"
        raise InvalidInput(f"voice_settings.speed must be {allowed}.", field="speed", allowed=allowed)
    return float(speed)


def _string(message: dict[str, object], name: str) -> str | None:
    value = message.get(name)
    if value is None:
        return None
    try:
        if isinstance(value, str) and value.encode() is not None:
            return value
    except UnicodeEncodeError:
        pass
    raise InvalidInput(f"{name} must be a string of whole characters.", field=name)


def _json(value: dict[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
