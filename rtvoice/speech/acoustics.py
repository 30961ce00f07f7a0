"""From phonemes to sound: the networks and the host's steps in their order, one model call at a time."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rtvoice.config import SAMPLE_RATE
from rtvoice.speech import host
from rtvoice.speech.costs import GUESS, Costs
from rtvoice.speech.host import SourceSpectra
from rtvoice.speech.norms import StyledNorms
from rtvoice.speech.pace import Pace
from rtvoice.speech.slices import STAGE1_LENGTHS, STAGE2_LENGTHS, SlicedGeneration, margin
from rtvoice.speech.statistics import Statistics, describe
from rtvoice.speech.vocabulary import ids

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from numpy.typing import NDArray

    from rtvoice.speech.costs import Cost
    from rtvoice.speech.pool import Pool
    from rtvoice.speech.turn import Turn

    Floats = NDArray[np.float32]

_SOURCE = "decoder.generator.m_source.l_linear"


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of a model call before the generator runs.

    Attributes:
        durations: of the phonemes and the zero at each end, in frames of 25 ms, [T]; their sum is F.
        f0: pitch in Hz, [2F].
        energy: log of the sound's, [2F].
        x: the decoder's features, [2F, 512].
        description: what the statistics of the generator's norms are predicted from, [523].
    """

    durations: Floats
    f0: Floats
    energy: Floats
    x: Floats
    description: Floats


class Acoustics:
    """Runs the networks of one model in a pool. Belongs to the pool's event loop."""

    def __init__(
        self,
        pool: Pool,
        arrays: Mapping[str, Floats],
        prior: Mapping[str, Cost] = GUESS,
        costs: Costs | None = None,
    ) -> None:
        """Describe how a model speaks.

        Args:
            pool: where networks run.
            arrays: the model's `network.host_arrays`.
            prior: how long networks take, by which slices are planned.
            costs: likewise, and learns it from what runs; by default from the prior on.
        """
        self._pool = pool
        self._costs = costs if costs is not None else Costs(prior)
        self._pace = Pace(prior, self._costs, STAGE1_LENGTHS, STAGE2_LENGTHS)
        self._norms = StyledNorms(arrays)
        self._mix, self._bias = arrays[f"{_SOURCE}.weight"], arrays[f"{_SOURCE}.bias"]

    async def features(self, phonemes: str, style: Floats, speed: float, turn: Turn) -> Features:
        """Run everything before the generator.

        Args:
            phonemes: 1 to 510 characters of the vocabulary.
            style: [1, 256].
            speed: factor on the pace.
            turn: for whom.

        Raises:
            SynthesisFailed: a network failed.
        """
        inputs = {
            "ids": np.array([ids(phonemes)], np.int64),
            "style": style,
            "speed": np.array([speed], np.float32),
        }
        text = await self._infer("text", inputs, turn, len(phonemes))
        en = host.align(text["d"], text["durations"])
        prosody = await self._infer("prosody", {"en": en, "style": style}, turn, len(en))
        asr = host.align(text["t_en"], text["durations"])
        decoder = await self._infer("decoder", {"asr": asr, "style": style, **prosody}, turn, len(asr))
        durations, f0, energy = text["durations"], prosody["f0"], prosody["energy"]
        description = describe(decoder["summary"], f0, energy, durations)
        return Features(durations, f0, energy, decoder["x"], description)

    async def exact(self, features: Features, style: Floats, noise: np.random.Generator, turn: Turn) -> Floats:
        """Run the generator in its exact form: all samples at once, [600F]."""
        post, _ = await self._generate(features, style, noise, turn)
        samples = await self._pool.run(lambda: host.istft(post), turn=turn)
        turn.give(len(samples) / SAMPLE_RATE)
        return samples

    async def measure(self, features: Features, style: Floats, noise: np.random.Generator, turn: Turn) -> Statistics:
        """Run the generator in its exact form for the statistics that its norms measure."""
        _, statistics = await self._generate(features, style, noise, turn)
        return statistics

    async def _generate(
        self, features: Features, style: Floats, noise: np.random.Generator, turn: Turn
    ) -> tuple[Floats, Statistics]:
        def excite() -> Floats:
            source = self._source(features, noise)
            source.make(len(source.rows))
            return source.rows

        har = await self._pool.run(excite, turn=turn)
        outputs = await self._pool.infer("generator", {"x": features.x, "har": har, "style": style}, turn=turn)
        means, variances = ((outputs[f"{name}1"], outputs[f"{name}2"]) for name in ("mean", "variance"))
        return outputs["post"], Statistics(means, variances)

    async def sliced(
        self, features: Features, style: Floats, statistics: Statistics, noise: np.random.Generator, turn: Turn
    ) -> AsyncGenerator[Floats, None]:
        """Run the generator in slices, its statistics given: samples as they are ready, and as the pace lets them."""
        norms = self._norms.join(style, statistics)
        generation = SlicedGeneration(features.x, self._source(features, noise, margin()), norms)
        steps = self._pace.plan(generation.progress.count)
        begins, holds = not turn.hears, True
        held: list[Floats] = []
        for number, step in enumerate(steps, 1):
            if step.stage == 1:  # for which the source is made
                call = await self._pool.run(functools.partial(generation.call, step), turn=turn)
            else:
                call = generation.call(step)
            samples = generation.take(await self._infer(call.network, call.inputs, turn))
            if samples is None:
                continue
            held.append(samples)
            seconds = sum(map(len, held)) / SAMPLE_RATE
            in_hand_s = turn.in_hand_s + seconds
            holds = holds and not self._pace.lasts(generation.progress, steps[number:], in_hand_s, begins=begins)
            if not holds:
                turn.give(seconds)
                yield samples if len(held) == 1 else np.concatenate(held)
                held.clear()

    async def _infer(self, network: str, inputs: Mapping[str, object], turn: Turn, size: int = 0) -> dict[str, Floats]:
        """Run a network and learn how long it took."""
        used_s = turn.account.used_s
        outputs = await self._pool.infer(network, inputs, turn=turn)
        self._costs.learn(network, turn.account.used_s - used_s, size)
        return outputs

    def _source(self, features: Features, noise: np.random.Generator, rows: int = 0) -> SourceSpectra:
        return SourceSpectra(features.f0, self._mix, self._bias, noise, margin=rows)
