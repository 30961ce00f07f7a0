"""The engine in process: text in, audio out, no socket."""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Self

from rtvoice.config import MAX_PAUSE_MS, EngineConfig
from rtvoice.errors import InvalidInput
from rtvoice.paths import default_paths
from rtvoice.pieces import pieces
from rtvoice.serving.narration import SpokenAudio, TextInbox, narrate
from rtvoice.speech.synthesizer import SpeechOptions
from rtvoice.speech.turn import Turn
from rtvoice.text.front import TextOptions

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Iterable

    from rtvoice.speech.synthesizer import Synthesizer, VoiceInfo
    from rtvoice.text.lexicon import Lexicon
    from rtvoice.text.segment import Markup


class Engine:
    """Kokoro in this process. An async context manager: entering loads the model, leaving gives everything back.

    ::

        async with Engine() as engine:
            async for audio in engine.speak("Hello there."):
                play(audio.samples)

    It belongs to one event loop. Several utterances may be spoken at once; they share the machine.

    Args:
        config: the engine's share of the machine and its folders; by default sized to the machine, with the folders
            of `rtvoice.paths`.
        synthesizer: what makes the speech, not entered yet; by default Kokoro, as `config` says.

    Raises:
        SetupError: (on entering) weights, voices or the built model are missing or damaged; it says what to run.
    """

    def __init__(self, config: EngineConfig | None = None, *, synthesizer: Synthesizer | None = None) -> None:
        if synthesizer is None:
            # Loads numpy and OpenVINO: only for those who want the engine here.
            from rtvoice.speech.kokoro import KokoroSynthesizer

            synthesizer = KokoroSynthesizer(config or EngineConfig(paths=default_paths(os.environ)))
        self._synthesizer = synthesizer

    @property
    def voices(self) -> tuple[VoiceInfo, ...]:
        """The voices that can be asked for, the default first. Known before entering."""
        return self._synthesizer.voices

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that can be asked for. Known before entering."""
        return self._synthesizer.languages

    async def __aenter__(self) -> Self:
        await self._synthesizer.__aenter__()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._synthesizer.__aexit__(*exc_info)

    async def speak(
        self,
        text: str | Iterable[str] | AsyncIterable[str],
        *,
        voice: str | None = None,
        speed: float = 1.0,
        language: str | None = None,
        pause_s: float = 0.0,
        seed: int = 0,
        markup: Markup = "markdown",
        control: bool = False,
        lexicon: Lexicon | None = None,
    ) -> AsyncGenerator[SpokenAudio, None]:
        """Speak an utterance, as its text arrives.

        Args:
            text: all of it, or pieces cut anywhere. Pieces are read as they come, while audio is being made.
            voice: a name in `voices`, or a blend of them as `af_heart(2)+bf_emma(1)`; by default the first.
            speed: factor on the pace, 0.5 to 2.0.
            language: one of `languages`; by default the voice's own.
            pause_s: silence between two sentences, beside what the voice makes itself, 0 to 10 s.
            seed: of the noise in the sound; same seed and text, same samples.
            markup: whose marks the text has. With `ssml` its tags act.
            control: whether `[pause:0.8s]` and `[word](/phonemes/)` act; not for text from people not trusted.
            lexicon: how some words are said (`rtvoice.text.Lexicon`).

        Yields:
            The audio in order, without gaps: samples float32 [N] at 24 kHz, their index in the utterance, the words
            and the phonemes that begin in them. Text with nothing to say yields nothing. Not much more is made than
            was taken.

        Raises:
            InvalidInput: an option is not allowed; names it and what is.
            SynthesisFailed: a segment could not be spoken; what was yielded stands.

        Leaving the iteration (`aclose`, or cancelling the task) drops the rest. An exception of `text` is raised here.
        """
        name = self.voices[0].name if voice is None else voice
        options = SpeechOptions(voice=name, language=language, speed=speed, seed=seed)
        self._synthesizer.check(options)
        if not 0 <= pause_s * 1000 <= MAX_PAUSE_MS:
            allowed = f"a number from 0 to {MAX_PAUSE_MS // 1000}"
            raise InvalidInput(f"pause_s must be {allowed}.", field="pause_s", allowed=allowed)
        reading = TextOptions(markup=markup, control=control, lexicon=lexicon)
        inbox = TextInbox()
        feeder = asyncio.create_task(_feed(inbox, text), name="text")
        try:
            narration = narrate(inbox, self._synthesizer, options, Turn(), reading=reading, pause_s=pause_s)
            async with aclosing(narration), aclosing(_one_ahead(narration)) as stretches:
                async for audio in stretches:
                    yield audio
        finally:
            await _cancel(feeder)


async def _feed(inbox: TextInbox, text: str | Iterable[str] | AsyncIterable[str]) -> None:
    """Read text in as fast as it is spoken. What goes wrong with it is raised where it is read."""
    try:
        async for piece in pieces(text):
            inbox.push(piece)
            await inbox.emptied()
        inbox.end()
    except Exception as error:
        inbox.fail(error)


async def _one_ahead(narration: AsyncGenerator[SpokenAudio, None]) -> AsyncGenerator[SpokenAudio, None]:
    """Iterate, with the next stretch being made while the last one is used."""
    upcoming = asyncio.create_task(_next(narration), name="speech")
    try:
        while (audio := await upcoming) is not None:
            upcoming = asyncio.create_task(_next(narration), name="speech")
            yield audio
    finally:
        await _cancel(upcoming)


async def _next(narration: AsyncGenerator[SpokenAudio, None]) -> SpokenAudio | None:
    return await anext(narration, None)


async def _cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.wait([task])
