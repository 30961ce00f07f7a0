"""Kokoro as a `Synthesizer`: phonemes from the G2P process, sound from the networks."""

from __future__ import annotations

import asyncio
import gc
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from rtvoice.config import MAX_SPEED, MIN_SPEED, SAMPLE_RATE
from rtvoice.errors import InvalidInput, SetupError
from rtvoice.speech.acoustics import Acoustics
from rtvoice.speech.calibration import prepare_model, read_calibration
from rtvoice.speech.cores import find_cores, follow, size
from rtvoice.speech.costs import UNMEASURED, Costs
from rtvoice.speech.fitting import fit_statistics
from rtvoice.speech.mapped import let_go_of_code
from rtvoice.speech.networks import LATER, make_pool, read_arrays
from rtvoice.speech.phonemes import LANGUAGES, Phonemizer, data_files
from rtvoice.speech.pieces import TARGET, cut
from rtvoice.speech.room import check_room
from rtvoice.speech.settling import keep_settled
from rtvoice.speech.synthesizer import AudioSlice, SpeechOptions, Synthesizer, VoiceInfo
from rtvoice.speech.timing import WordClock, begun
from rtvoice.speech.turn import Turn
from rtvoice.speech.voices import VoiceStore
from rtvoice.text.segment import Passage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from rtvoice.config import EngineConfig
    from rtvoice.speech.acoustics import Features
    from rtvoice.speech.build import BuiltModel
    from rtvoice.speech.cores import Sizes
    from rtvoice.speech.pieces import Piece
    from rtvoice.speech.pool import Pool
    from rtvoice.speech.statistics import Predictor
    from rtvoice.text.segment import Script

    Floats = NDArray[np.float32]

_EXACT_TARGET = 120
"""Phonemes that the exact form speaks at once, about 8 s."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What is there between loading and closing."""

    phonemizer: Phonemizer
    pool: Pool
    acoustics: Acoustics


class KokoroSynthesizer(Synthesizer):
    """Kokoro-82M on OpenVINO. See `Synthesizer`.

    Args:
        config: where the model lies and which share of the machine it gets. Voices are looked up at once, the model is
            loaded, and built if it must be, on entering.
        g2p: reads words, is running, and stays when this is left; None starts one for as long as this is entered.
        g2p_replaced: called when the G2P process was lost and replaced, with the status it had ended with. Not if `g2p`
            is given, which tells it itself.

    Raises:
        SetupError: (on entering) weights, model, voices or a package is missing or damaged, or there is too little
            memory.
    """

    def __init__(
        self,
        config: EngineConfig,
        *,
        g2p: Phonemizer | None = None,
        g2p_replaced: Callable[[int | None], None] | None = None,
    ) -> None:
        self._config = config
        self._g2p = g2p
        self._g2p_replaced = g2p_replaced
        self._model: BuiltModel | None = None  # that was loaded last
        self._calibration = UNMEASURED
        self._costs: Costs | None = None  # kept from one load to the next
        self._voices = VoiceStore(config.paths.data, config.voices, unfitted=config.unfitted)
        self._resources = AsyncExitStack()
        self._loaded: _Loaded | None = None

    @property
    def voices(self) -> tuple[VoiceInfo, ...]:
        """All voices, packaged and added, the default first."""
        return self._voices.infos

    @property
    def helper_pid(self) -> int | None:
        """Number of the G2P process, or None if there is none now."""
        return self._loaded.phonemizer.pid if self._loaded is not None else None

    @property
    def places(self) -> int:
        """Inferences that run at once, as the machine is now; see `Synthesizer.places`."""
        return self._loaded.pool.places if self._loaded is not None else self._sizes.streams

    @property
    def first_audio_s(self) -> float:
        """Work until a usual sentence is heard, as measured; see `Synthesizer.first_audio_s`."""
        return (self._costs or Costs(self._calibration.on(self._sizes.threads))).first_audio_s

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages whose phonemes can be told."""
        return LANGUAGES

    @property
    def any_blend(self) -> bool:
        """Whether blends are spoken to which nothing was fitted (`EngineConfig.unfitted`)."""
        return self._config.unfitted

    def check(self, options: SpeechOptions) -> None:
        """Refuse a voice, language, speed or seed that cannot be spoken; see `Synthesizer.check`."""
        self._voices.check(options.voice)
        language = options.language or self._voices.info(options.voice).language
        if language not in LANGUAGES:
            raise InvalidInput(f"{language!r} cannot be spoken.", field="language", allowed=LANGUAGES)
        if not MIN_SPEED <= options.speed <= MAX_SPEED:  # NaN is neither
            allowed = f"{MIN_SPEED} to {MAX_SPEED}"
            raise InvalidInput(f"speed must be {allowed}.", field="speed", allowed=allowed)
        if options.seed < 0:
            raise InvalidInput("seed must not be negative.", field="seed", allowed="0 and up")

    async def __aenter__(self) -> Self:
        check_room(self._sizes.streams)
        async with AsyncExitStack() as resources:
            # the G2P process loads while the networks do
            if (phonemizer := self._g2p) is None:
                phonemizer = Phonemizer(self._config.paths.cache, replaced=self._g2p_replaced)
                await resources.enter_async_context(phonemizer)
            model = await asyncio.to_thread(self._prepare)
            arrays = await asyncio.to_thread(read_arrays, model)
            sizes = self._sizes
            pool = make_pool(model, arrays, sizes.streams, sizes.threads, later=LATER)
            prior = self._calibration.on(sizes.threads)
            if self._costs is None:
                self._costs = Costs(prior)
            acoustics = Acoustics(await resources.enter_async_context(pool), arrays, prior, self._costs)
            await phonemizer.ready()
            if self._config.streams is None:
                watch = asyncio.create_task(follow(pool.limit, sizes.threads), name="rtvoice cores")
                resources.callback(watch.cancel)
            settling = asyncio.create_task(keep_settled(pool, acoustics, model.folder), name="rtvoice settle")
            resources.push_async_callback(_stop, settling)
            self._loaded = _Loaded(phonemizer, pool, acoustics)
            self._resources = resources.pop_all()
        return self

    def _prepare(self) -> BuiltModel:
        config = self._config
        self._model = prepare_model(config.paths, config.checkpoint, precision=config.precision)
        self._calibration = read_calibration(self._model.folder) or UNMEASURED
        return self._model

    @property
    def _sizes(self) -> Sizes:
        return size(find_cores(), self._config.streams, self._config.threads, self._calibration)

    async def __aexit__(self, *exc_info: object) -> None:
        self._loaded = None
        await self._resources.aclose()
        await asyncio.to_thread(gc.collect)  # what it frees runs code
        await asyncio.to_thread(let_go_of_code)

    async def load_all(self) -> None:
        """Wait until there is also what entering leaves for later.

        Raises:
            SetupError: some of it is damaged.
        """
        await self._open().pool.load_later()

    def files(self) -> list[Path]:
        """The files that loading read and that nothing else needs: the model, compiled, and the G2P process's data."""
        read = self._model.folder.rglob("*") if self._model is not None else ()
        return [*(file for file in read if file.is_file()), *data_files(self._config.paths.cache)]

    async def fit_statistics(
        self, voice: str, texts: Sequence[str], progress: Callable[[float], None], *, thorough: bool = False
    ) -> Predictor:
        """Fit the map with which a voice or a blend is spoken in slices (`rtvoice.speech.fitting`).

        Not while others speak.

        Args:
            voice: its name.
            texts: sentences that are spoken for it.
            progress: told the part that is done, 0 to 1.
            thorough: see `fit_statistics`.

        Raises:
            InvalidInput: there is no such voice, or one of a blend has no map.
            SynthesisFailed: a sentence could not be spoken.
        """
        loaded = self._open()
        language = self._voices.info(voice).language
        if language not in LANGUAGES:  # the map is of how the voice sounds, whatever it says
            language = LANGUAGES[0]
        return await fit_statistics(
            loaded.acoustics, loaded.phonemizer, self._voices, voice, language, texts, progress, thorough=thorough
        )

    def _open(self) -> _Loaded:
        if self._loaded is None:
            raise SetupError("the engine is not open; use it inside `async with`")
        return self._loaded

    async def speak(
        self, script: Script, options: SpeechOptions, *, ordinal: int, turn: Turn | None = None
    ) -> AsyncGenerator[AudioSlice, None]:
        """Speak a segment; see `Synthesizer.speak`."""
        turn = turn or Turn()
        seeds = np.random.SeedSequence([options.seed, ordinal])
        start = 0  # samples spoken before
        for part in script.parts:
            if isinstance(part, Passage):
                async for audio in self._passage(part, options, seeds, start, turn):
                    start += len(audio.samples)
                    yield audio
            else:
                for samples in _silence(part.seconds):
                    start += len(samples)
                    turn.give(len(samples) / SAMPLE_RATE)
                    yield AudioSlice(samples)

    async def _passage(
        self, passage: Passage, options: SpeechOptions, seeds: np.random.SeedSequence, start: int, turn: Turn
    ) -> AsyncGenerator[AudioSlice, None]:
        loaded = self._open()
        voice = passage.voice or options.voice
        language = options.language or self._voices.info(voice).language
        await asyncio.to_thread(self._voices.prepare, voice)
        speed = min(max(options.speed * passage.rate, MIN_SPEED), MAX_SPEED)
        given = [(word.at, word.to, word.ipa) for word in passage.words if word.ipa]
        words = await loaded.phonemizer.phonemise(passage.text, language, given)
        clock = WordClock(passage.words, words)
        # the exact form's memory grows with what it speaks at once, by 0.2 GB a second
        target = TARGET if self._voices.statistics(voice) else _EXACT_TARGET
        for piece in cut(words, target=target):
            style = self._voices.style(voice, len(piece.phonemes))
            noise = np.random.Generator(np.random.Philox(seeds.spawn(1)[0]))
            async for audio in self._piece(loaded.acoustics, piece, clock, voice, style, speed, noise, start, turn):
                start += len(audio.samples)
                yield audio

    async def _piece(
        self,
        acoustics: Acoustics,
        piece: Piece,
        clock: WordClock,
        voice: str,
        style: Floats,
        speed: float,
        noise: np.random.Generator,
        start: int,
        turn: Turn,
    ) -> AsyncGenerator[AudioSlice, None]:
        features = await acoustics.features(piece.phonemes, style, speed, turn)
        phonemes, words = clock.times(piece, features.durations, features.energy, start / SAMPLE_RATE)
        async for samples in self._sound(acoustics, features, voice, style, noise, turn):
            start += len(samples)
            end_s = start / SAMPLE_RATE
            yield AudioSlice(samples, words=begun(words, end_s), phonemes=begun(phonemes, end_s))

    async def _sound(
        self,
        acoustics: Acoustics,
        features: Features,
        voice: str,
        style: Floats,
        noise: np.random.Generator,
        turn: Turn,
    ) -> AsyncGenerator[Floats, None]:
        """Slices where the voice has a map of its statistics, else all at once."""
        if (fitted := self._voices.statistics(voice)) is None:
            yield await acoustics.exact(features, style, noise, turn)
            return
        statistics = fitted.predict(features.description)
        async for samples in acoustics.sliced(features, style, statistics, noise, turn):
            yield samples


async def _stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


def _silence(seconds: float) -> Iterator[Floats]:
    """Yield silence of that length to the sample, a second at a time at most."""
    samples = round(seconds * SAMPLE_RATE)
    while samples > 0:
        yield np.zeros(min(samples, SAMPLE_RATE), np.float32)
        samples -= SAMPLE_RATE
