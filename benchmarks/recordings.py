"""Speaks held-out texts for `benchmarks.quality`: `python -m benchmarks.recordings FOLDER CACHE TEXTS COUNT VOICES`.

Each sentence is spoken three times from the same features: in slices with predicted statistics, as the server speaks;
in the exact form with the same noise; and in the exact form with other noise. Runs in rtvoice's own environment. Files
that are there already stay: a run that was broken off goes on there.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import os
import sys
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtvoice.speech.acoustics import Acoustics
    from rtvoice.speech.phonemes import Phonemizer
    from rtvoice.speech.voices import VoiceStore

SENTENCES: Final = Path(__file__).with_name("sentences.txt")
ANSWERS: Final = Path(__file__).with_name("answers.txt")
"""A word or a few, as agents answer. Held out, both: the maps of statistics are fitted to others."""

MANIFEST: Final = "recordings.json"

NOISE, OTHER_NOISE = 0, 1

_AT_ONCE: Final = 2
"""Sentences under way at once, so that the one inference does not wait for steps of the host."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One sentence in one voice.

    Attributes:
        voice: its name.
        text: what is said.
        file: in the folder: samples `default`, `exact` and `other`, and `joins`, where slices of `default` begin.
    """

    voice: str
    text: str
    file: str


def held_out(file: Path = SENTENCES, count: int | None = None) -> list[str]:
    """The sentences of a file, or so many of them that have all lengths."""
    texts = file.read_text("utf-8").splitlines()
    return texts if count is None else texts[:: max(1, len(texts) // count)][:count]


async def record(
    acoustics: Acoustics, phonemizer: Phonemizer, voices: VoiceStore, recording: Recording, folder: Path
) -> None:
    """Speak one sentence three times and write its file, whole or not at all."""
    from rtvoice.speech.pieces import cut
    from rtvoice.speech.turn import Turn

    file = folder / recording.file
    if file.exists():
        return
    (piece,) = cut(await phonemizer.phonemise(recording.text, voices.info(recording.voice).language))
    style = voices.style(recording.voice, len(piece.phonemes))
    features = await acoustics.features(piece.phonemes, style, 1.0, Turn())
    exact, other = [
        await acoustics.exact(features, style, np.random.Generator(np.random.Philox(seed)), Turn())
        for seed in (NOISE, OTHER_NOISE)
    ]
    fitted = voices.statistics(recording.voice)
    if fitted is None:
        raise SystemExit(f"{recording.voice} has no map of statistics; make them with `make statistics`")
    noise, statistics = np.random.Generator(np.random.Philox(NOISE)), fitted.predict(features.description)
    patient = Turn(dry_at=lambda: math.inf)  # for whom nothing is held back, so that every join of slices is seen
    slices = [samples async for samples in acoustics.sliced(features, style, statistics, noise, patient)]
    joins = list(itertools.accumulate(len(samples) for samples in slices[:-1]))
    unfinished = file.with_suffix(".part")
    with unfinished.open("wb") as opened:
        np.savez(opened, default=np.concatenate(slices), exact=exact, other=other, joins=np.array(joins, np.int64))
    unfinished.replace(file)


async def record_all(folder: Path, cache: Path, texts: Sequence[str], names: Sequence[str]) -> None:
    """Speak every text in every voice, and write the manifest."""
    from benchmarks.baselines.own import opened, own_paths
    from rtvoice.speech.cores import Sizes
    from rtvoice.speech.phonemes import Phonemizer
    from rtvoice.speech.voices import VoiceStore

    voices = VoiceStore(own_paths(cache).data)
    todo = [Recording(voice, text, f"{voice}-{zlib.crc32(text.encode()):08x}.npz") for text in texts for voice in names]
    free = asyncio.Semaphore(_AT_ONCE)
    done = itertools.count(1)
    async with Phonemizer() as phonemizer, opened(cache, Sizes(len(os.sched_getaffinity(0)), 1)) as loaded:

        async def one(recording: Recording) -> None:
            async with free:
                await record(loaded.acoustics, phonemizer, voices, recording, folder)
            if (number := next(done)) % 10 == 0:
                print(f"spoken: {number} of {len(todo)}", file=sys.stderr)

        async with asyncio.TaskGroup() as speaking:
            for recording in todo:
                speaking.create_task(one(recording))
    (folder / MANIFEST).write_text(json.dumps([asdict(recording) for recording in todo], indent=1), "utf-8")


if __name__ == "__main__":
    _folder, _cache, _texts, _count, _voices = sys.argv[1:]
    asyncio.run(record_all(Path(_folder), Path(_cache), held_out(Path(_texts), int(_count)), _voices.split(",")))
