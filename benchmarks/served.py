"""Another engine behind rtvoice's own server: `python -m benchmarks.served ROW CACHE`.

Everything but the engine is the same: sockets, sentences, phonemes, pacing. The engine gets one sentence at a time, in
the order of asking, with all threads: that is how it is used by whoever takes a library as it is, and it is heard
sooner that way than with sentences side by side that share the cores. An engine that is set up for several at once gets
several.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import uvloop

from benchmarks.baselines import find_row
from rtvoice.commands.options import seconds, seconds_or_off
from rtvoice.config import SAMPLE_RATE, ServerConfig
from rtvoice.paths import default_paths
from rtvoice.serving.logs import configure_logging
from rtvoice.serving.server import serve
from rtvoice.speech.phonemes import LANGUAGES, Phonemizer, data_files
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
    """A row of the engines' table as a synthesizer: sentences in the order of asking, without word times.

    Args:
        baseline: the engine, not loaded.
        g2p_python: the interpreter of the G2P process. Where torch is, spaCy loads it, which no engine asked for.
    """

    def __init__(self, baseline: Baseline, g2p_python: Path | None = None) -> None:
        self._baseline = baseline
        self._voices = VoiceStore(baseline.cache)
        self._cache = default_paths(os.environ).cache  # where rtvoice's dictionaries lie
        command = (
            g2p_python,
            "-P",
            "-m",
            "rtvoice.speech.g2p",
            f"--parent={os.getpid()}",
            f"--cache={self._cache}",
            f"--language={LANGUAGES[0]}",
        )
        self._phonemizer = Phonemizer(self._cache, command=[str(word) for word in command] if g2p_python else None)
        self._free = asyncio.Semaphore(baseline.at_once)
        self._resources = AsyncExitStack()

    def files(self) -> list[Path]:
        """What is read when it is entered."""
        return [*self._baseline.files, *data_files(self._cache)]

    @property
    def places(self) -> int:
        """See `Synthesizer.places`."""
        return self._baseline.at_once

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
        """Speak a segment's passages, each sentence as soon as one can be taken."""
        for part in script.parts:
            if not isinstance(part, Passage):
                yield AudioSlice(np.zeros(max(1, round(part.seconds * SAMPLE_RATE)), np.float32))
                continue
            language = options.language or self._voices.info(options.voice).language
            for piece in cut(await self._phonemizer.phonemise(part.text, language)):
                style = self._voices.style(options.voice, len(piece.phonemes))
                async with self._free:
                    stream = self._baseline.stream(piece.phonemes, style, options.speed)
                    while (samples := await asyncio.to_thread(next, stream, None)) is not None:
                        yield AudioSlice(np.asarray(samples, np.float32).reshape(-1))

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as resources:
            await resources.enter_async_context(self._phonemizer)
            await asyncio.to_thread(self._baseline.load)
            resources.callback(self._baseline.release)
            await self._phonemizer.ready()
            self._resources = resources.pop_all()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._resources.aclose()


def main() -> None:
    """Serve the row named on the command line on a free port until told to stop."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.served", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("row")
    parser.add_argument("cache", type=Path)
    parser.add_argument("--idle-release", type=seconds_or_off, default=None, help="as for `rtvoice serve`")
    parser.add_argument("--audio-ahead", type=seconds, default=ServerConfig().audio_ahead_s, help="likewise")
    parser.add_argument("--g2p-python", type=Path, help="the interpreter of the G2P process")
    arguments = parser.parse_args()
    configure_logging("json")
    baseline = find_row(arguments.row).baseline(arguments.cache, len(os.sched_getaffinity(0)))
    baseline.prepare()
    config = ServerConfig(
        port=0, idle_release_s=arguments.idle_release, wait_s=None, audio_ahead_s=arguments.audio_ahead
    )
    synthesizer = BaselineSynthesizer(baseline, arguments.g2p_python)
    uvloop.run(serve(config, synthesizer, files=synthesizer.files))


if __name__ == "__main__":
    main()
