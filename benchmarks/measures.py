"""How alike two recordings are, and how good: `python -m benchmarks.measures FOLDER CACHE`, for `benchmarks.quality`.

Needs the reference environment with the group `benchmark`; importing it needs numpy only.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.recordings import MANIFEST, Recording
from benchmarks.whisper import HEARD_RATE, HEARD_S, Whisper
from rtvoice.config import SAMPLE_RATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

MEASURES: Final = "measures.json"

FORMS: Final = ("default", "exact", "other")
"""In slices; in the exact form with the same noise; in the exact form with other noise."""

WINDOW, HOP = 1024, 256
FLOOR_DB: Final = 80.0


@dataclass(frozen=True, slots=True)
class Measures:
    """One sentence in one voice.

    Attributes:
        voice: its name.
        text: what is said.
        seconds: of speech.
        pesq: PESQ-WB of the default form against the exact one, up to 4.64.
        pesq_floor: of the exact form with other noise against the exact one.
        distance: `log_spectral_distance` of the default form to the exact one, in dB.
        distance_floor: of the exact form with other noise.
        level_db: level of the default form less that of the exact one.
        dnsmos: DNSMOS P.835, overall, of the default form.
        dnsmos_exact: of the exact one.
        join_step: the largest step from one sample to the next at joins of slices; 0 without joins.
        other_step: elsewhere.
        join_mean: the mean of the steps' sizes at joins, as a multiple of that elsewhere in `join_window`.
    """

    voice: str
    text: str
    seconds: float
    pesq: float
    pesq_floor: float
    distance: float
    distance_floor: float
    level_db: float
    dnsmos: float
    dnsmos_exact: float
    join_step: float
    other_step: float
    join_mean: float


@dataclass(frozen=True, slots=True)
class Words:
    """What Whisper heard of one form of a voice: wrong words (substituted, left out, put in), of so many asked for."""

    voice: str
    form: str
    wrong: int
    asked: int


def log_spectral_distance(samples: Floats, reference: Floats) -> float:
    """How far two spectrograms lie apart, in dB: the root mean square over frequencies, averaged over time.

    Spectrograms are of windows of 1,024 samples (Hann, periodic), 256 apart, in dB. Whatever lies more than 80 dB below
    the loudest bin of the reference counts as if it lay there, so that silence is compared with silence.

    Args:
        samples: [N].
        reference: [N].
    """
    made, expected = _spectrogram(samples), _spectrogram(reference)  # (frames, 513)
    floor = expected.max() - FLOOR_DB
    apart = np.maximum(made, floor) - np.maximum(expected, floor)
    return float(np.sqrt(np.mean(apart**2, axis=1)).mean())


def _spectrogram(samples: Floats) -> NDArray[np.float64]:
    padded = np.pad(samples.astype(np.float64), (0, max(0, WINDOW - len(samples))))
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP] * window
    spectrum: NDArray[np.float64] = 20 * np.log10(np.abs(np.fft.rfft(frames, axis=1)) + 1e-12)
    return spectrum


def level_difference(samples: Floats, reference: Floats) -> float:
    """The level of samples less that of the reference, in dB."""
    return float(10 * np.log10(np.mean(np.square(samples, dtype=float)) / np.mean(np.square(reference, dtype=float))))


def join_steps(samples: Floats, joins: Sequence[int], near: int = 120) -> tuple[float, float, float]:
    """Steps from one sample to the next, at joins and elsewhere.

    A join in silence shows no step and a join in a loud vowel has large ones around it, so the mean is compared with
    that of the samples around each join.

    Args:
        samples: [N].
        joins: where slices begin, but for the first one.
        near: samples before and behind a join that count as around it: 5 ms.

    Returns:
        The largest at joins, the largest elsewhere, and the mean at joins as a multiple of that around them; 0, the
        largest of all and 1 without joins.
    """
    steps = np.abs(np.diff(samples))  # steps[i] leads to sample i + 1
    if not len(joins):
        return 0.0, float(steps.max()), 1.0
    at = np.asarray(joins) - 1
    elsewhere = np.ones(len(steps), bool)
    elsewhere[at] = False
    around = np.concatenate([np.r_[max(0, i - near) : i, i + 1 : min(len(steps), i + 1 + near)] for i in at])
    nearby = steps[around].mean()
    mean = float(steps[at].mean() / nearby) if nearby > 0 else 1.0
    return float(steps[at].max()), float(steps[elsewhere].max()), mean


def groups(lengths: Iterable[int], most: int) -> list[list[int]]:
    """Put numbers 0, 1, ... of things of these lengths into groups, in their order, each of at most `most` in all."""
    found: list[list[int]] = []
    room = 0
    for number, length in enumerate(lengths):
        if not found or length > room:
            found.append([])
            room = most
        found[-1].append(number)
        room -= length
    return found


def plain(text: str) -> str:
    """The words of a text: small letters, no marks; a hyphen parts words, an apostrophe does not."""
    return " ".join(re.sub(r"[^\w\s]", "", re.sub("[-–—]", " ", text.lower())).split())


def measure(recording: Recording, forms: dict[str, Floats], joins: Sequence[int]) -> Measures:
    """Measure one sentence."""
    import soxr
    from pesq import pesq
    from speechmos import dnsmos

    low = {form: soxr.resample(forms[form], SAMPLE_RATE, HEARD_RATE).clip(-1, 1) for form in FORMS}
    join, elsewhere, mean = join_steps(forms["default"], joins)
    return Measures(
        voice=recording.voice,
        text=recording.text,
        seconds=len(forms["exact"]) / SAMPLE_RATE,
        pesq=pesq(HEARD_RATE, low["exact"], low["default"], "wb"),
        pesq_floor=pesq(HEARD_RATE, low["exact"], low["other"], "wb"),
        distance=log_spectral_distance(forms["default"], forms["exact"]),
        distance_floor=log_spectral_distance(forms["other"], forms["exact"]),
        level_db=level_difference(forms["default"], forms["exact"]),
        dnsmos=float(dnsmos.run(low["default"], HEARD_RATE)["ovrl_mos"]),
        dnsmos_exact=float(dnsmos.run(low["exact"], HEARD_RATE)["ovrl_mos"]),
        join_step=join,
        other_step=elsewhere,
        join_mean=mean,
    )


def hear(whisper: Whisper, voice: str, form: str, spoken: Sequence[tuple[str, Floats]]) -> Words:
    """Have Whisper write down one voice's sentences in one form, as many at once as it hears."""
    import jiwer

    wrong = asked = 0
    for group in groups((len(samples) for _, samples in spoken), int(HEARD_S * SAMPLE_RATE)):
        text = plain(" ".join(spoken[number][0] for number in group))
        heard = plain(whisper.hear(np.concatenate([spoken[number][1] for number in group])))
        found = jiwer.process_words(text, heard)
        wrong += found.substitutions + found.deletions + found.insertions
        asked += found.hits + found.substitutions + found.deletions
    return Words(voice, form, wrong, asked)


def main(folder: Path, cache: Path) -> None:
    """Measure all recordings of a folder and write `MEASURES` there."""
    manifest = [Recording(**one) for one in json.loads((folder / MANIFEST).read_text("utf-8"))]
    measured: list[Measures] = []  # kept beside each recording, for a run that goes on after one was broken off
    spoken: dict[tuple[str, str], list[tuple[str, Floats]]] = defaultdict(list)
    for recording in manifest:
        with np.load(folder / recording.file) as stored:
            forms = {form: stored[form] for form in FORMS}
            joins = stored["joins"].tolist()
        kept = (folder / recording.file).with_suffix(".json")
        if not kept.exists():
            kept.write_text(json.dumps(asdict(measure(recording, forms, joins))), "utf-8")
        measured.append(Measures(**json.loads(kept.read_text("utf-8"))))
        for form in FORMS:
            spoken[recording.voice, form].append((recording.text, forms[form]))
        if len(measured) % 10 == 0:
            print(f"measured: {len(measured)} of {len(manifest)}", file=sys.stderr)
    whisper = Whisper(cache / "whisper-base")
    words = []
    for (voice, form), sentences in spoken.items():
        words.append(hear(whisper, voice, form, sentences))
        print(f"heard: {voice}, {form}", file=sys.stderr)
    document = {"sentences": [asdict(one) for one in measured], "words": [asdict(one) for one in words]}
    (folder / MEASURES).write_text(json.dumps(document, indent=1), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
