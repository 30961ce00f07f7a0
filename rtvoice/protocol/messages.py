"""The messages of the native protocol, version 1.

`docs/protocol.md` says what they mean to a peer. `codec` turns them into text and bytes and back, `conversation` holds
the rules that connect them.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003  # the tests read the types of fields
from dataclasses import dataclass, field

PROTOCOL_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Speak:
    """Text to speak. The first one with a number opens the utterance.

    Attributes:
        text: any text, also none.
        utterance: the utterance's number, 1 to 2**32 - 1; None for the one the client opened last, or a new one.
        voice: a voice's name; this and what follows only when it opens the utterance, None takes the default.
        speed: factor on the pace, 0.5 to 2.0.
        language: a language's name.
        format: an audio format's name.
        sample_rate: of the audio, in Hz.
        pause_ms: silence between two sentences, in milliseconds, beside what the voice makes itself.
        seed: of the noise in the sound, 0 to 2**32 - 1.
        markup: whose marks the text has: markdown, plain (none) or ssml.
        control: whether `[pause:0.8s]` and `[word](/phonemes/)` in the text act.
        lexicon: how some words are said: in other words, or as `/phonemes/`.
        phoneme_times: whether `Phonemes` are told as well as `Words`.
    """

    text: str
    utterance: int | None = None
    voice: str | None = None
    speed: float | None = None
    language: str | None = None
    format: str | None = None
    sample_rate: int | None = None
    pause_ms: int | None = None
    seed: int | None = None
    markup: str | None = None
    control: bool | None = None
    lexicon: Mapping[str, str] | None = None
    phoneme_times: bool | None = None


MARKUPS = ("markdown", "plain", "ssml")
"""Whose marks a text may have, the default first."""

OPTIONS = (
    "voice",
    "speed",
    "language",
    "format",
    "sample_rate",
    "pause_ms",
    "seed",
    "markup",
    "control",
    "lexicon",
    "phoneme_times",
)
"""The fields of `Speak` that only the message that opens an utterance may carry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flush:
    """Speak what has arrived, without waiting for the end of the sentence."""

    utterance: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """No more text comes."""

    utterance: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """Stop: no audio after the answer. Without a number: every utterance.

    Attributes:
        utterance: the utterance's number.
        played_ms: how much of its audio the listener has heard, in milliseconds; of the one that was opened first if
            no number is given. None: as much as a listener has who plays in real time.
    """

    utterance: int | None = None
    played_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A place in the text, behind what has arrived: tell when the audio before it has been sent.

    Attributes:
        name: comes back as it is.
        utterance: the utterance's number.
    """

    name: str
    utterance: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """A voice that can be asked for."""

    name: str
    language: str
    gender: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLimits:
    """What a session may ask for.

    Attributes:
        text_characters: of one utterance.
        message_bytes: of one message.
        utterances: that have not ended.
        min_speed: slowest pace.
        max_speed: fastest pace.
    """

    text_characters: int
    message_bytes: int
    utterances: int
    min_speed: float
    max_speed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """The server's first message.

    Attributes:
        protocol: the version spoken.
        server: the server's own version.
        sample_rate: the default, in Hz.
        sample_rates: all that can be asked for.
        formats: audio formats, the default first.
        voices: the default first.
        languages: names of languages.
        limits: what a session may ask for.
        markups: whose marks a text may have, the default first.
        control: whether texts may carry commands.
        any_blend: whether any blend of the voices can be asked for, not only those that were fitted.
    """

    protocol: int
    server: str
    sample_rate: int
    sample_rates: tuple[int, ...]
    formats: tuple[str, ...]
    voices: tuple[Voice, ...]
    languages: tuple[str, ...]
    limits: SessionLimits
    markups: tuple[str, ...] = MARKUPS[:2]
    control: bool = False
    any_blend: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """The utterance waits for the engine, which is being loaded. Comes at once and then every second.

    Attributes:
        utterance: the utterance's number.
        elapsed_ms: how long it has waited, in milliseconds.
        expected_ms: how long loading took the last time; None if it is the first.
    """

    utterance: int
    elapsed_ms: int
    expected_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """From here on the audio speaks these characters.

    Attributes:
        utterance: the utterance's number.
        start: index of the segment's first character in the utterance's text.
        end: index behind its last.
        sample: index of its first sample in the utterance, at the utterance's rate.
    """

    utterance: int
    start: int
    end: int
    sample: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """When a word is heard.

    Attributes:
        text: as sent.
        start: index of its first character in the utterance's text.
        end: index behind its last.
        start_s: when it begins, in seconds from the utterance's first sample.
        end_s: when it ends, likewise.
    """

    text: str
    start: int
    end: int
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words that begin in the audio that follows."""

    utterance: int
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phoneme:
    """When one sound is heard.

    Attributes:
        phoneme: one sound of the model's alphabet, with its marks of stress and length: `h`, `ˈO`, `ɑː`.
        start_s: when it begins, in seconds from the utterance's first sample.
        end_s: when it ends, likewise.
    """

    phoneme: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Phonemes:
    """The phonemes that begin in the audio that follows; for an utterance that asked for them."""

    utterance: int
    phonemes: tuple[Phoneme, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audio:
    """A stretch of sound: the one binary message.

    Attributes:
        utterance: the utterance's number.
        sample: index of the first sample in the utterance; in a format that is not bare samples (wav, mp3, opus) the
            number of bytes before.
        data: whole samples, or the next bytes of the stream, at least one.
    """

    utterance: int
    sample: int
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """All audio of the text before a mark has been sent.

    Attributes:
        utterance: the utterance's number.
        name: of the mark.
        sample: how many samples of the utterance lie before it, at the utterance's rate.
    """

    utterance: int
    name: str
    sample: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """All was spoken. Terminal.

    Attributes:
        utterance: the utterance's number.
        characters: how many had arrived.
        spoken_characters: how many of them were spoken.
        audio_ms: audio sent, in milliseconds.
        first_audio_ms: from the first text to the first audio, in milliseconds; None if there was no audio.
        queue_ms: time in which its work waited for a place in the engine.
        compute_ms: time in which the engine worked for it.
        cold_start_ms: time in which it waited for the model to be loaded; 0 if it was there.
    """

    utterance: int
    characters: int
    spoken_characters: int
    audio_ms: int
    first_audio_ms: int | None
    queue_ms: int = 0
    compute_ms: int = 0
    cold_start_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """The client stopped it. Terminal.

    Attributes as in `Done`, but `spoken_characters` is what had been heard, and `spoken_ms` how much audio that was.
    """

    utterance: int
    characters: int
    spoken_characters: int
    audio_ms: int
    first_audio_ms: int | None
    spoken_ms: int = 0
    queue_ms: int = 0
    compute_ms: int = 0
    cold_start_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """With a number: the utterance failed, terminal. Without: one message had no effect.

    Attributes:
        utterance: the utterance's number, or None.
        code: an error's code (`rtvoice.errors`).
        message: one sentence for the person who can act on it.
        field: the message's field that is wrong.
        allowed: the values allowed there, or a sentence that describes them.
        retry_after_ms: how long to wait before trying again.
        characters: as in `Done`, like the rest; None if the error concerns no utterance.
    """

    utterance: int | None
    code: str
    message: str
    field: str | None = None
    allowed: tuple[str, ...] | str | None = None
    retry_after_ms: int | None = None
    characters: int | None = None
    spoken_characters: int | None = None
    audio_ms: int | None = None
    first_audio_ms: int | None = None
    queue_ms: int | None = None
    compute_ms: int | None = None
    cold_start_ms: int | None = None


ClientMessage = Speak | Flush | Mark | End | Cancel
ServerMessage = Ready | Loading | Segment | Words | Phonemes | Audio | Marked | Done | Cancelled | Error
Terminal = Done | Cancelled | Error
"""What ends an utterance; an `Error` only if it carries a number."""
