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
from rtvoice.speech.turn import Turn

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from rtvoice.speech.acoustics import Acoustics
    from rtvoice.speech.pool import Pool
    from rtvoice.speech.statistics import StatisticsMap


SEED = 0
"""Of the noise in the sound."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Networks, the pool they run in, and the folder they were read from."""

    pool: Pool
    acoustics: Acoustics
    folder: Path

    async def settle(self) -> None:
        """Bring memory down to what speech takes, as the synthesizer does some seconds after loading."""
        from rtvoice.speech.mapped import let_go

        await self.pool.warm()
        await asyncio.to_thread(let_go, self.folder)


def own_paths(cache: Path) -> Paths:
    """Where a benchmark's model lies. No added voices are there: packaged ones only."""
    return Paths(cache=cache / "rtvoice", data=cache / "rtvoice")


@asynccontextmanager
async def opened(
    cache: Path, *, sliced: bool = True, exact: bool = True, streams: int = 1, threads: int = 1
) -> AsyncGenerator[Loaded, None]:
    """Load the networks as the synthesizer does, after building them if they are not there.

    Args:
        cache: the benchmarks' cache.
        sliced: load what speaks in slices.
        exact: load the generator in its exact form.
        streams: inferences at once.
        threads: of one inference.
    """
    from rtvoice.speech.kokoro import EXACT, NETWORKS

    names: Collection[str] = NETWORKS if sliced else ("text", "prosody", "decoder")
    loaded = _described(cache, (*names, *([EXACT] if exact else [])), streams, threads)
    async with loaded.pool:
        yield loaded


def _described(cache: Path, names: Collection[str], streams: int, threads: int) -> Loaded:
    """The pool, not entered yet. Nothing else keeps the arrays that are read for it."""
    from rtvoice.speech.acoustics import Acoustics
    from rtvoice.speech.build import ARRAYS, ensure_model
    from rtvoice.speech.network import generator_kernels
    from rtvoice.speech.pool import Pool

    model = ensure_model(own_paths(cache))
    with np.load(model.folder / ARRAYS) as stored:
        arrays = dict(stored)
    pool = Pool(
        {name: model.folder / f"{name}.xml" for name in names},
        model.compiled,
        streams=streams,
        threads=threads,
        shared=lambda: generator_kernels(arrays),
    )
    return Loaded(pool, Acoustics(pool, arrays), model.folder)


class Own(Baseline):
    """One sentence at a time, on all the threads there are.

    Args:
        cache: where the model is built.
        threads: of one inference.
        sliced: run the generator in slices, its statistics predicted, as the server does; else in its exact form.
    """

    _acoustics: Acoustics

    def __init__(self, cache: Path, threads: int, *, sliced: bool) -> None:
        super().__init__(cache, threads)
        self._sliced = sliced
        self._maps: dict[bytes, StatisticsMap] = {}
        # Left open: the process ends with the measurement.
        self._runner = asyncio.Runner()
        self._resources = AsyncExitStack()

    def prepare(self) -> None:
        from rtvoice.speech.build import ensure_model

        ensure_model(own_paths(self.cache))
        self.load()  # fills the compile cache

    def load(self) -> None:
        opening = opened(self.cache, sliced=self._sliced, exact=not self._sliced, threads=self.threads)
        self._acoustics = self._runner.run(self._resources.enter_async_context(opening)).acoustics
        if self._sliced:
            self._maps = self._maps_by_style()

    def speak(self, phonemes: str, style: NDArray[np.float32], speed: float) -> NDArray[np.float32]:
        return np.concatenate(list(self.stream(phonemes, style, speed)))

    def stream(self, phonemes: str, style: NDArray[np.float32], speed: float) -> Iterator[NDArray[np.float32]]:
        slices = self._slices(phonemes, style, speed)

        async def following() -> NDArray[np.float32] | None:
            return await anext(slices, None)

        while (samples := self._runner.run(following())) is not None:
            yield samples

    def versions(self) -> Mapping[str, str]:
        return {"rtvoice": __version__, "openvino": importlib.metadata.version("openvino")}

    def _maps_by_style(self) -> dict[bytes, StatisticsMap]:
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
