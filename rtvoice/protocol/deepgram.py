"""Deepgram's speaking socket, `/v1/speak`, as a dialect: what lies between two flushes is an utterance.

No byte of audio follows `Cleared` that belongs to what was cleared, since clients give all audio to whoever speaks
now. An error is a `Warning` unless it ended speech, since clients take an `Error` for the end of the connection.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rtvoice.config import AudioFormat
from rtvoice.errors import InvalidInput, ProtocolViolation
from rtvoice.protocol.codec import load_object
from rtvoice.protocol.dialect import Close, Dialect, Reply
from rtvoice.protocol.fields import NotAllowed, string
from rtvoice.protocol.messages import Audio, Cancel, Done, End, Error, Loading, Ready, Speak

if TYPE_CHECKING:
    from uuid import UUID

    from rtvoice.protocol.conversation import Conversation, Step
    from rtvoice.protocol.messages import ClientMessage, ServerMessage

ENCODINGS = {"linear16": "pcm_s16le", "mulaw": "mulaw", "alaw": "alaw"}
_RATES = {"linear16": 24_000, "mulaw": 8_000, "alaw": 8_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakOptions:
    """What the address of a socket says.

    Attributes:
        voice: a voice that is offered.
        audio_format: as `encoding` and `sample_rate` name it.
        speed: factor on the pace.
        request: names the connection.
    """

    voice: str
    audio_format: AudioFormat
    speed: float | None
    request: UUID


def read_encoding(encoding: str, sample_rate: int | None) -> AudioFormat:
    """Read the name of an encoding, with its own rate if none is given.

    Raises:
        InvalidInput: there is no such encoding.
    """
    if encoding not in ENCODINGS:
        raise InvalidInput("There is no such encoding.", field="encoding", allowed=tuple(ENCODINGS))
    return AudioFormat(ENCODINGS[encoding], sample_rate or _RATES[encoding])


class DeepgramDialect(Dialect):
    """One socket's speech.

    Args:
        conversation: of the session.
        options: from the address.
    """

    silence_ms: ClassVar[int] = 20

    def __init__(self, conversation: Conversation, options: SpeakOptions) -> None:
        self._conversation = conversation
        self._options = options
        self._server = ""  # its version
        self._last = 0
        self._open = False  # whether the last utterance takes text
        self._failed: set[int] = set()  # utterances that ended in an error before their flush
        self._flushes = self._clears = 0

    def receive(self, data: str | bytes, now: float) -> list[Step | Reply | Close]:
        """See `Dialect.receive`."""
        try:
            message = load_object(data)
            match message.get("type"):
                case "Speak":
                    return self._speak(string(message.get("text")), now)
                case "Flush":
                    return self._flush(now)
                case "Clear":
                    self._open = False
                    return [*self._tell(Cancel(), now), Reply(self._cleared())]
                case "Close":
                    return [*(self._flush(now) if self._open else []), Close()]
                case _:
                    return [_warning(InvalidInput.code, "There is no message of this type.")]
        except NotAllowed as error:
            return [_warning(InvalidInput.code, f"text must be {error.allowed}.")]
        except ProtocolViolation as error:
            return [_warning(error.code, str(error))]

    def write(self, message: ServerMessage) -> list[str | bytes]:
        """See `Dialect.write`."""
        match message:
            case Ready():
                self._server = message.server
                return [self._metadata()]
            case Loading():
                return [self._metadata()]  # which clients pass over, and which shows that there is somebody
            case Audio():
                return [message.data]
            case Done():
                return [self._flushed()]
            case Error(utterance=None):
                return [_warning(message.code, message.message).data]
            case Error(utterance=int(number)):
                if self._open and number == self._last:
                    self._failed.add(number)
                    return [_error(message)]
                return [_error(message), self._flushed()]
        return []

    def _speak(self, text: str, now: float) -> list[Step | Reply | Close]:
        steps: list[Step | Reply | Close] = []
        if not self._open:
            self._last += 1
            self._open = True
            steps += self._tell(self._opening(), now)
        return [*steps, *self._tell(Speak(text=text, utterance=self._last), now)]

    def _flush(self, now: float) -> list[Step | Reply | Close]:
        if not self._open:  # nothing to speak, which is told in its turn
            self._last += 1
            opening = self._tell(self._opening(), now)
            return [*opening, *self._tell(End(utterance=self._last), now)]
        self._open = False
        if self._last in self._failed:
            self._failed.discard(self._last)
            return [Reply(self._flushed())]
        return list(self._tell(End(utterance=self._last), now))

    def _opening(self) -> Speak:
        return Speak(
            text="",
            utterance=self._last,
            voice=self._options.voice,
            speed=self._options.speed,
            format=self._options.audio_format.encoding,
            sample_rate=self._options.audio_format.sample_rate,
        )

    def _tell(self, message: ClientMessage, now: float) -> list[Step]:
        return self._conversation.receive(message, now)

    def _metadata(self) -> str:
        request = str(self._options.request)
        return _json(
            type="Metadata",
            request_id=request,
            model_name=self._options.voice,
            model_version=self._server,
            model_uuid=request,
        )

    def _flushed(self) -> str:
        self._flushes += 1
        return _json(type="Flushed", sequence_id=self._flushes - 1)

    def _cleared(self) -> str:
        self._clears += 1
        return _json(type="Cleared", sequence_id=self._clears - 1)


def _warning(code: str, description: str) -> Reply:
    return Reply(_json(type="Warning", code=code, description=description, warn_code=code, warn_msg=description))


def _error(error: Error) -> str:
    return _json(type="Error", code=error.code, description=error.message, err_code=error.code, err_msg=error.message)


def _json(**fields: str | int) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
