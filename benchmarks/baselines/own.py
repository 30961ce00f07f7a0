"""rtvoice's own engine, from phonemes to samples, set up as the synthesizer sets it up. No G2P process."""

from __future__ import annotations

import asyncio
import importlib.metadata
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.baselines import Baseline
from rtvoice._version import __version__
from rtvoice.config import Paths
from rtvoice.speech.cores import Sizes
from rtvoice.speech.turn import Turn

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from rtvoice.config import PrecisionChoice
    from rtvoice.speech.acoustics import Acoustics
    from rtvoice.speech.pool import Pool
    from rtvoice.speech.statistics import Predictor


SEED = 0
"""Of the noise in the sound."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Networks, the pool they run in, and the folder they were read from."""

    pool: Pool
    acoustics: Acoustics
    folder: Path

    async def settle(self) -> None:
        """Bring memory down, as the synthesizer does when nobody has spoken for two seconds."""
        from rtvoice.speech.settling import settle

        await self.pool.warm()
        await settle(self.pool, self.folder)


def own_paths(cache: Path) -> Paths:
    """Where a benchmark's model lies. No added voices are there: packaged ones only."""
    return Paths(cache=cache / "rtvoice", data=cache / "rtvoice")


@asynccontextmanager
async def opened(
    cache: Path, sizes: Sizes, *, sliced: bool = True, precision: PrecisionChoice = "auto"
) -> AsyncGenerator[Loaded, None]:
    """Load the networks as the synthesizer does, after building them if they are not there.

    Args:
        cache: the benchmarks' cache.
        sizes: inferences at once, and threads of each.
        sliced: load what speaks in slices, and the exact form when it is needed; else the exact form at once.
        precision: of the kernels of decoder and stages.
    """
    loaded = _described(cache, sizes, sliced, precision)
    async with loaded.pool:
        yield loaded


def _described(cache: Path, sizes: Sizes, sliced: bool, precision: PrecisionChoice) -> Loaded:
    """The pool, not entered yet. Nothing else keeps the arrays that are read for it."""
    from rtvoice.speech.acoustics import Acoustics
    from rtvoice.speech.calibration import prepare_model, read_calibration
    from rtvoice.speech.costs import UNMEASURED
    from rtvoice.speech.networks import BEFORE, EXACT, NETWORKS, make_pool, read_arrays

    model = prepare_model(own_paths(cache), precision=precision)
    arrays = read_arrays(model)
    pool = make_pool(model, arrays, sizes.streams, sizes.threads, networks=NETWORKS if sliced else (*BEFORE, EXACT))
    prior = (read_calibration(model.folder) or UNMEASURED).on(sizes.threads)
    return Loaded(pool, Acoustics(pool, arrays, prior), model.folder)


def sized(cache: Path, cores: int, precision: PrecisionChoice = "auto") -> Sizes:
    """How an engine sizes itself for so many cores on this machine, once the model has been built."""
    from rtvoice.speech.build import model_folder
    from rtvoice.speech.calibration import read_calibration
    from rtvoice.speech.cores import Cores, size
    from rtvoice.speech.costs import UNMEASURED

    measured = read_calibration(model_folder(own_paths(cache), precision=precision))
    return size(Cores(cores, None), calibration=measured or UNMEASURED)


class Own(Baseline):
    """One sentence at a time, by an engine that sizes itself for its cores; the exact form takes all of them at once.

    Args:
        cache: where the model is built.
        threads: cores there are.
        sliced: run the generator in slices, its statistics predicted, as the server does; else in its exact form.
        precision: of the kernels of decoder and sliced generator; the exact form is of float32.
    """

    _acoustics: Acoustics

    def __init__(self, cache: Path, threads: int, *, sliced: bool, precision: PrecisionChoice = "auto") -> None:
        super().__init__(cache, threads)
        self._sliced = sliced
        self._precision: PrecisionChoice = precision if sliced else "f32"
        self._maps: dict[bytes, Predictor] = {}
        # Left open: the process ends with the measurement.
        self._runner = asyncio.Runner()
        self._resources = AsyncExitStack()

    def prepare(self) -> None:
        from rtvoice.speech.calibration import prepare_model

        prepare_model(own_paths(self.cache), precision=self._precision)
        self.load()  # fills the compile cache

    def load(self) -> None:
        sizes = sized(self.cache, self.threads, self._precision) if self._sliced else Sizes(1, self.threads)
        opening = opened(self.cache, sizes, sliced=self._sliced, precision=self._precision)
        self._acoustics = self._runner.run(self._resources.enter_async_context(opening)).acoustics
        if self._sliced:
            self._maps = self._maps_by_style()

    @property
    def files(self) -> tuple[Path, ...]:
        from rtvoice.speech.build import model_folder

        return tuple(
            file for file in model_folder(own_paths(self.cache), precision=self._precision).rglob("*") if file.is_file()
        )

    def speak(self, phonemes: str, style: NDArray[np.float32], speed: float) -> NDArray[np.float32]:
        return np.concatenate(list(self.stream(phonemes, style, speed)))

    def stream(self, phonemes: str, style: NDArray[np.float32], speed: float) -> Iterator[NDArray[np.float32]]:
        slices = self._slices(phonemes, style, speed)

        async def following() -> NDArray[np.float32] | None:
            return await anext(slices, None)

        while (samples := self._runner.run(following())) is not None:
            yield samples

    def versions(self) -> Mapping[str, str]:
        from rtvoice.speech.precision import choose_precision

        precision = choose_precision(self._precision, own_paths(self.cache).cache) if self._sliced else "f32"
        return {"rtvoice": __version__, "openvino": importlib.metadata.version("openvino"), "precision": precision}

    def _maps_by_style(self) -> dict[bytes, Predictor]:
        """The map of the voice that a style is a row of: the seam knows styles, not voices."""
        from rtvoice.speech.voices import ROWS, VoiceStore

        voices = VoiceStore(own_paths(self.cache).data)
        found = {}
        for name in voices.names:
            if (fitted := voices.statistics(name)) is not None:
                for length in range(1, ROWS + 1):
                    found[voices.style(name, length).tobytes()] = fitted
        return found

    async def _slices(
        self, phonemes: str, style: NDArray[np.float32], speed: float
    ) -> AsyncGenerator[NDArray[np.float32], None]:
        turn, noise = Turn(), np.random.Generator(np.random.Philox(SEED))
        features = await self._acoustics.features(phonemes, style, speed, turn)
        if not self._sliced:
            yield await self._acoustics.exact(features, style, noise, turn)
            return
        statistics = self._maps[style.tobytes()].predict(features.description)
        async for samples in self._acoustics.sliced(features, style, statistics, noise, turn):
            yield samples
