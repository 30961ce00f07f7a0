"""What a session may ask for: the engine's voices and languages, the formats, the limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtvoice._version import __version__
from rtvoice.config import AUDIO_FORMATS, MAX_SPEED, MIN_SPEED, SAMPLE_RATE, SAMPLE_RATES, AudioFormat
from rtvoice.encoders import available_formats, check_format
from rtvoice.errors import InvalidInput
from rtvoice.protocol.messages import MARKUPS, PROTOCOL_VERSION, Ready, SessionLimits, Speak, Voice
from rtvoice.speech.synthesizer import SpeechOptions
from rtvoice.text.front import TextOptions
from rtvoice.text.lengths import EarlyCut, Lengths
from rtvoice.text.lexicon import Lexicon

if TYPE_CHECKING:
    from rtvoice.config import Limits
    from rtvoice.speech.synthesizer import Synthesizer
    from rtvoice.text.segment import Markup


class Offer:
    """What there is, and how a message's options are read.

    Args:
        synthesizer: for its voices and languages; need not be entered.
        limits: of a session.
        control: whether texts may carry commands.
    """

    def __init__(self, synthesizer: Synthesizer, limits: Limits, *, control: bool = False) -> None:
        self._synthesizer = synthesizer
        self._limits = limits
        self._control = control

    def ready(self) -> Ready:
        """The server's first message in the native protocol."""
        return Ready(
            protocol=PROTOCOL_VERSION,
            server=__version__,
            sample_rate=SAMPLE_RATE,
            sample_rates=SAMPLE_RATES,
            formats=available_formats(),
            voices=tuple(
                Voice(name=voice.name, language=voice.language, gender=voice.gender)
                for voice in self._synthesizer.voices
            ),
            languages=self._synthesizer.languages,
            limits=SessionLimits(
                text_characters=self._limits.text_characters,
                message_bytes=self._limits.message_bytes,
                utterances=self._limits.utterances,
                min_speed=MIN_SPEED,
                max_speed=MAX_SPEED,
            ),
            markups=self._markups,
            control=self._control,
            any_blend=self._synthesizer.any_blend,
        )

    @property
    def _markups(self) -> tuple[str, ...]:
        return tuple(name for name in MARKUPS if self._control or name != "ssml")  # whose tags are commands

    def check(self, options: Speak) -> None:
        """Refuse options that cannot be spoken, or not in that format.

        Raises:
            InvalidInput: naming the field and what is allowed.
        """
        check_format(self.audio_format(options))
        _own_lexicon(options)
        if (options.control or options.markup == "ssml") and not self._control:
            field = "control" if options.control else "markup"
            allowed = "false" if options.control else self._markups
            raise InvalidInput("Texts may carry no commands to this server.", field=field, allowed=allowed)
        self._synthesizer.check(self.speech_options(options))

    def audio_format(self, options: Speak) -> AudioFormat:
        """The format that a message asks for, or the default."""
        return AudioFormat(options.format or AUDIO_FORMATS[0], options.sample_rate or SAMPLE_RATE)

    def speech_options(self, options: Speak) -> SpeechOptions:
        """How the speech that a message asks for sounds; what it does not say is as always."""
        default = SpeechOptions(voice=self._synthesizer.voices[0].name)
        return SpeechOptions(
            voice=default.voice if options.voice is None else options.voice,
            language=options.language,
            speed=default.speed if options.speed is None else options.speed,
            seed=default.seed if options.seed is None else options.seed,
        )

    def text_options(
        self, options: Speak, lexicon: Lexicon | None, *, first_audio_s: float | None = None
    ) -> TextOptions:
        """How the text of an utterance is read; its language comes with the voice.

        Args:
            options: the message that opens it.
            lexicon: that all utterances are read with.
            first_audio_s: how soon something said now would be heard, if the first clause may be spoken alone.
        """
        early = None if first_audio_s is None else EarlyCut(synthesis_s=first_audio_s)
        return TextOptions(
            lengths=Lengths(least=0, early=early),
            markup=_markup(options.markup or MARKUPS[0]),
            control=bool(options.control),
            lexicon=_joined(lexicon, _own_lexicon(options)),
        )


def _own_lexicon(options: Speak) -> Lexicon | None:
    return Lexicon.of(options.lexicon) if options.lexicon else None


def _joined(common: Lexicon | None, own: Lexicon | None) -> Lexicon | None:
    """Both lexicons; the utterance's own counts where both have a word."""
    return common | own if common is not None and own is not None else own or common


def _markup(name: str) -> Markup:
    match name:
        case "markdown" | "plain" | "ssml":
            return name
    raise InvalidInput(f"There is no markup {name!r}.", field="markup", allowed=MARKUPS)
