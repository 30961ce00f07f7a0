"""The engine's seam: a segment of text becomes audio, with the times of its words and phonemes.

`Synthesizer` is all that the layers above know of speech. `rtvoice.speech.kokoro` is the real one; tests have a
scripted one, and the same contract suite runs on both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from rtvoice.blends import read_blend
from rtvoice.config import DEFAULT_VOICE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rtvoice.speech.turn import Turn
    from rtvoice.text.segment import Script


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechOptions:
    """How an utterance sounds.

    Attributes:
        voice: a voice's name, or the formula of a blend of voices (`rtvoice.blends`).
        language: `en-us` or `en-gb`; None takes the voice's own, of a blend the first voice's.
        speed: factor on the pace, 0.5 to 2.0.
        seed: of the noise in the sound; same seed and text, same samples.
    """

    voice: str = DEFAULT_VOICE
    language: str | None = None
    speed: float = 1.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class VoiceInfo:
    """A voice that can be asked for: its name (`af_heart`), its language and who it sounds like."""

    name: str
    language: str
    gender: str


def find_voice(name: str, voices: Sequence[VoiceInfo]) -> VoiceInfo:
    """Look up a voice, or a blend of these voices; see `Synthesizer.voice`."""
    offered = {info.name: info for info in voices}
    shares = read_blend(name, offered)
    first = offered[shares[0].voice]
    return first if len(shares) == 1 else replace(first, name=name)


@dataclass(frozen=True, slots=True)
class WordTime:
    """When a word is heard.

    Attributes:
        start: index of its first character in the utterance's text as sent.
        end: index behind its last character there.
        start_s: when it begins, in seconds from the start of its segment's audio.
        end_s: when it ends, likewise.
    """

    start: int
    end: int
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class PhonemeTime:
    """When one sound is heard.

    A phoneme is a sound with its marks of stress and length. Spaces and punctuation are none. It lasts until the next
    one begins, be it another word's; or, where there is a pause, until it falls silent. A word begins with its first
    phoneme and ends with its last.

    Attributes:
        phoneme: as the model's alphabet has it (`rtvoice.speech.vocabulary`): `h`, `ˈO`, `ɑː`, `ʧ`.
        start_s: when it begins, in seconds from the start of its segment's audio.
        end_s: when it ends, likewise.
    """

    phoneme: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class AudioSlice:
    """A stretch of a segment's audio that leaves the engine at once.

    Attributes:
        samples: mono, 24 kHz, float32 in -1..1, shape [N], N >= 1. Owned by the receiver.
        words: the words that begin in this slice, in order. None lies in an earlier slice.
        phonemes: the phonemes that begin in this slice, likewise.
    """

    samples: NDArray[np.float32]
    words: tuple[WordTime, ...] = ()
    phonemes: tuple[PhonemeTime, ...] = ()


class Synthesizer(ABC):
    """Makes speech. An async context manager: entering loads what is needed, leaving gives everything back.

    All methods belong to one event loop's thread.
    """

    @property
    @abstractmethod
    def voices(self) -> tuple[VoiceInfo, ...]:
        """The voices that can be asked for, the default first. Known before loading."""

    @property
    @abstractmethod
    def languages(self) -> tuple[str, ...]:
        """The languages that can be asked for. Known before loading."""

    @property
    def any_blend(self) -> bool:
        """Whether any blend of `voices` can be asked for, not only one that was fitted. Known before loading."""
        return True

    def voice(self, name: str) -> VoiceInfo:
        """Look up a voice, or a blend of `voices`: language and gender are those of its first voice.

        Raises:
            InvalidInput: naming the field `voice` and what is allowed.
        """
        return find_voice(name, self.voices)

    @property
    def places(self) -> int:
        """Pieces of work that run at once, at least 1. Known before loading."""
        return 1

    @property
    def first_audio_s(self) -> float | None:
        """Seconds of work until a sentence of usual length is heard, as far as is known. Known before loading."""
        return None

    @property
    def loading_s(self) -> float:
        """Seconds until it can speak, as far as is known; 0 if it can now."""
        return 0.0

    @abstractmethod
    def check(self, options: SpeechOptions) -> None:
        """Refuse options that cannot be spoken.

        Raises:
            InvalidInput: naming the field and what is allowed.
        """

    def wake(self) -> None:  # noqa: B027 - what is always awake has nothing to do
        """Tell that something is going to be said soon. Returns at once; what has to be loaded is being loaded then."""

    @abstractmethod
    def speak(
        self, script: Script, options: SpeechOptions, *, ordinal: int, turn: Turn | None = None
    ) -> AsyncGenerator[AudioSlice, None]:
        """Speak one segment, slice by slice.

        Args:
            script: what to say. One with nothing to say yields nothing; pauses are silence of their exact length.
            options: how; checked before.
            ordinal: the segment's number in its utterance, from 0. With the seed it fixes the noise, so segments may
                be spoken in any order or at once and sound the same.
            turn: for whom: it decides who goes first where several wait, and is charged for what is done. None is
                somebody of whom nothing is known.

        The iterator may be left at any time (`aclose`, or cancelling the task that awaits it): work that runs ends
        at the end of its current inference and is dropped, and its place is given to the next who waits.

        Raises:
            SynthesisFailed: the segment cannot be spoken; slices yielded before it stand.
        """

    @abstractmethod
    async def __aenter__(self) -> Self: ...

    @abstractmethod
    async def __aexit__(self, *exc_info: object) -> None: ...
