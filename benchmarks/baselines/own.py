"""rtvoice's own engine, from phonemes to samples, set up as the synthesizer sets it up. No G2P process."""

from __future__ import annotations

import asyncio
import importlib.metadata
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.baselines import Baseline
from rtvoice._version import __version__
from rtvoice.config import Paths
from rtvoice.speech.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from rtvoice.speech.acoustics import Acoustics
    from rtvoice.speech.statistics import StatisticsMap


SEED = 0
"""Of the noise in the sound."""


class Own(Baseline):
    """One sentence at a time, on all the threads there are.

    Args:
        cache: where the model is built.
        threads: of one inference.
        sliced: run the generator in slices, its statistics predicted, as the server does; else in its exact form.
    """

    _runner: asyncio.Runner
    _acoustics: Acoustics

    def __init__(self, cache: Path, threads: int, *, sliced: bool) -> None:
        super().__init__(cache, threads)
        self._sliced = sliced
        self._maps: dict[bytes, StatisticsMap] = {}

    @property
    def _paths(self) -> Paths:
        return Paths(cache=self.cache / "rtvoice", data=self.cache / "rtvoice")

    def prepare(self) -> None:
        from rtvoice.speech.build import ensure_model

        ensure_model(self._paths)
        self.load()  # fills the compile cache

    def load(self) -> None:
        self._runner = asyncio.Runner()
        self._acoustics = self._runner.run(self._open())
        if self._sliced:
            self._maps = self._maps_by_style()

    def speak(self, phonemes: str, style: NDArray[np.float32], speed: float) -> NDArray[np.float32]:
        return self._runner.run(self._speak(phonemes, style, speed))

    def versions(self) -> Mapping[str, str]:
        return {"rtvoice": __version__, "openvino": importlib.metadata.version("openvino")}

    async def _open(self) -> Acoustics:
        from rtvoice.speech.acoustics import Acoustics
        from rtvoice.speech.build import ARRAYS, ensure_model
        from rtvoice.speech.kokoro import EXACT, NETWORKS
        from rtvoice.speech.network import generator_kernels
        from rtvoice.speech.pool import Pool

        model = ensure_model(self._paths)
        with np.load(model.folder / ARRAYS) as stored:
            arrays = dict(stored)
        names = NETWORKS if self._sliced else ("text", "prosody", "decoder", EXACT)
        pool = Pool(
            {name: model.folder / f"{name}.xml" for name in names},
            model.compiled,
            streams=1,
            threads=self.threads,
            shared=generator_kernels(arrays),
        )
        # Left open: the process ends with the measurement.
        return Acoustics(await pool.__aenter__(), arrays)

    def _maps_by_style(self) -> dict[bytes, StatisticsMap]:
        """The map of the voice that a style is a row of: the seam knows styles, not voices."""
        from rtvoice.speech.voices import ROWS, VoiceStore

        voices = VoiceStore(self._paths.data)
        found = {}
        for name in voices.names:
            if (fitted := voices.statistics(name)) is not None:
                for length in range(1, ROWS + 1):
                    found[voices.style(name, length).tobytes()] = fitted
        return found

    async def _speak(self, phonemes: str, style: NDArray[np.float32], speed: float) -> NDArray[np.float32]:
        turn, noise = Turn(), np.random.Generator(np.random.Philox(SEED))
        features = await self._acoustics.features(phonemes, style, speed, turn)
        if not self._sliced:
            return await self._acoustics.exact(features, style, noise, turn)
        statistics = self._maps[style.tobytes()].predict(features.description)
        slices = self._acoustics.sliced(features, style, statistics, noise, turn)
        return np.concatenate([samples async for samples in slices])
