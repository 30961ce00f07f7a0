"""Another engine behind rtvoice's own server: `python -m benchmarks.served ROW CACHE`.

Everything but the engine is the same: sockets, sentences, phonemes, pacing. The engine gets one sentence at a time, in
the order of asking, with all threads: that is how it is used by whoever takes a library as it is, and it is heard
sooner that way than with sentences side by side that share the cores.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

import uvloop

from benchmarks.baselines import ROWS
from rtvoice.config import SAMPLE_RATE, ServerConfig
from rtvoice.serving.logs import configure_logging
from rtvoice.serving.server import serve
from rtvoice.speech.phonemes import LANGUAGES, Phonemizer
from rtvoice.speech.pieces import cut
from rtvoice.speech.synthesizer import AudioSlice, SpeechOptions, Synthesizer, VoiceInfo
from rtvoice.speech.voices import VoiceStore
from rtvoice.text.segment import Passage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from benchmarks.baselines import Baseline
    from rtvoice.speech.turn import Turn
    from rtvoice.text.segment import Script


class BaselineSynthesizer(Synthesizer):
    """A row of the engines' table as a synthesizer: whole sentences, one after the other, without word times."""

    def __init__(self, baseline: Baseline) -> None:
        self._baseline = baseline
        self._voices = VoiceStore(baseline.cache)
        self._phonemizer = Phonemizer()
        self._one_by_one = asyncio.Lock()
        self._resources = AsyncExitStack()

    @property
    def voices(self) -> tuple[VoiceInfo, ...]:
        """The packaged voices."""
        return self._voices.infos

    @property
    def languages(self) -> tuple[str, ...]:
        """Both dialects."""
        return LANGUAGES

    def check(self, options: SpeechOptions) -> None:
        """Take everything; the benchmark asks for nothing else."""

    async def speak(
        self, script: Script, options: SpeechOptions, *, ordinal: int, turn: Turn | None = None
    ) -> AsyncGenerator[AudioSlice, None]:
        """Speak a segment's passages as a whole each."""
        import numpy as np

        for part in script.parts:
            if not isinstance(part, Passage):
                yield AudioSlice(np.zeros(max(1, round(part.seconds * SAMPLE_RATE)), np.float32))
                continue
            language = options.language or self._voices.info(options.voice).language
            for piece in cut(await self._phonemizer.phonemise(part.text, language)):
                style = self._voices.style(options.voice, len(piece.phonemes))
                async with self._one_by_one:
                    samples = await asyncio.to_thread(self._baseline.speak, piece.phonemes, style, options.speed)
                yield AudioSlice(np.asarray(samples, np.float32).reshape(-1))

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as resources:
            await resources.enter_async_context(self._phonemizer)
            await asyncio.to_thread(self._baseline.load)
            await self._phonemizer.ready()
            self._resources = resources.pop_all()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._resources.aclose()


def main() -> None:
    """Serve the row named on the command line on a free port until told to stop."""
    row, cache = ROWS[sys.argv[1]], Path(sys.argv[2])
    configure_logging("json")
    baseline = row.baseline(cache, len(os.sched_getaffinity(0)))
    baseline.prepare()
    config = ServerConfig(port=0, idle_release_s=None, wait_s=None)
    uvloop.run(serve(config, BaselineSynthesizer(baseline)))


if __name__ == "__main__":
    main()
