"""Fits the packaged voices' maps of statistics anew: `make statistics`. About half an hour on two cores.

    python scripts/fit_statistics.py [VOICE ...]

Reads the sentences of the package, speaks them with each voice in the generator's exact form, and writes
rtvoice/speech/data/statistics/<voice>.npz. The result depends on nothing but the weights, the sentences and rounding.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import os
import sys
from pathlib import Path

from rtvoice.commands.progress import ProgressBar
from rtvoice.config import EngineConfig
from rtvoice.paths import default_paths
from rtvoice.speech.cores import find_cores
from rtvoice.speech.fitting import sentences
from rtvoice.speech.kokoro import KokoroSynthesizer
from rtvoice.speech.voices import packaged_names

FOLDER = Path(__file__).parent.parent / "rtvoice" / "speech" / "data" / "statistics"


async def fit(voices: list[str], count: int) -> None:
    """Fit and write the maps of these voices."""
    config = EngineConfig(paths=default_paths(os.environ), streams=find_cores().usable, threads=1)
    async with KokoroSynthesizer(config) as synthesizer:
        for voice in voices:
            with ProgressBar(f"Fitting {voice}") as bar:
                progress = functools.partial(bar.update, what="speaking")
                fitted = await synthesizer.fit_statistics(voice, sentences()[:count], progress, thorough=True)
            with (FOLDER / f"{voice}.npz").open("wb") as file:
                fitted.save(file)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("voices", nargs="*", metavar="VOICE", help="voices to fit; all packaged ones without")
    parser.add_argument("--sentences", type=int, default=256, metavar="N", help="how many sentences (default: 256)")
    arguments = parser.parse_args()
    asyncio.run(fit(arguments.voices or packaged_names(), arguments.sentences))
    sys.exit()
