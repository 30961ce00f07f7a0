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

    from numpy.typing import NDArray

    from rtvoice.speech.acoustics import Acoustics


SEED = 0
"""Of the noise in the sound."""


class Own(Baseline):
    """The exact form: one sentence at a time, on all the threads there are."""

    _runner: asyncio.Runner
    _acoustics: Acoustics

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

    def speak(self, phonemes: str, style: NDArray[np.float32], speed: float) -> NDArray[np.float32]:
        return self._runner.run(self._speak(phonemes, style, speed))

    def versions(self) -> Mapping[str, str]:
        return {"rtvoice": __version__, "openvino": importlib.metadata.version("openvino")}

    async def _open(self) -> Acoustics:
        from rtvoice.speech.acoustics import Acoustics
        from rtvoice.speech.build import ARRAYS, ensure_model
        from rtvoice.speech.network import WINDOWS
        from rtvoice.speech.network.kernels import residual_kernels
        from rtvoice.speech.network.layers import Weights
        from rtvoice.speech.pool import Pool

        model = ensure_model(self._paths)
        with np.load(model.folder / ARRAYS) as stored:
            arrays = dict(stored)
        pool = Pool(
            {name: model.folder / f"{name}.xml" for name in ("text", "prosody", "decoder", "generator")},
            model.compiled,
            streams=1,
            threads=self.threads,
            shared=residual_kernels(Weights(arrays), WINDOWS),
        )
        # Left open: the process ends with the measurement.
        return Acoustics(await pool.__aenter__(), arrays)

    async def _speak(self, phonemes: str, style: NDArray[np.float32], speed: float) -> NDArray[np.float32]:
        features = await self._acoustics.features(phonemes, style, speed, Turn())
        noise = np.random.Generator(np.random.Philox(SEED))
        return np.concatenate([part async for part in self._acoustics.exact(features, style, noise, Turn())])
