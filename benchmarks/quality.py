"""How near speech in slices, its statistics predicted, is to the exact form.

40 sentences that no map was fitted to, in the six packaged voices, 0.8 to 10 s. The model's own noise is the measure of
what cannot be heard: the exact form with other noise is the floor that slices are held to. rtvoice's environment
speaks (`benchmarks.recordings`), the reference environment measures (`benchmarks.measures`).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.criteria import Criterion, show
from benchmarks.machine import fingerprint
from benchmarks.measures import FORMS, MEASURES, Measures, Words
from benchmarks.process import ROOT
from benchmarks.recordings import ANSWERS, SENTENCES, held_out
from benchmarks.settings import add_pythons, missing
from benchmarks.table import render

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WORST: Final = 3


def criteria(measured: Sequence[Measures], words: Sequence[Words]) -> list[Criterion]:
    """What is asked of the default form."""

    def mean(of: Callable[[Measures], float]) -> float:
        return statistics.fmean(of(one) for one in measured)

    def most(of: Callable[[Measures], float]) -> float:
        return max(of(one) for one in measured)

    voices = {one.voice for one in measured}
    levels = [statistics.fmean(one.level_db for one in measured if one.voice == voice) for voice in voices]
    return [
        Criterion("PESQ-WB, mean", mean(lambda m: m.pesq), mean(lambda m: m.pesq_floor) - 0.05, at_least=True),
        Criterion("PESQ-WB under its own floor, worst sentence", most(lambda m: m.pesq_floor - m.pesq), 0.4),
        Criterion(
            "log-spectral distance, mean, multiple of the floor",
            mean(lambda m: m.distance) / mean(lambda m: m.distance_floor),
            1.35,
        ),
        Criterion("DNSMOS, mean, difference", abs(mean(lambda m: m.dnsmos) - mean(lambda m: m.dnsmos_exact)), 0.05),
        Criterion(
            "word error rate more than the exact form's, points",
            error_rate(words, "default") - error_rate(words, "exact"),
            0.3,
        ),
        Criterion("level, mean of a voice, largest difference, dB", max(abs(level) for level in levels), 0.5),
        Criterion(
            "largest step at a join, part of the largest elsewhere", most(lambda m: m.join_step / m.other_step), 1.0
        ),
    ]


def error_rate(words: Sequence[Words], form: str) -> float:
    """Words that Whisper heard wrong, in percent of those that were asked for."""
    found = [one for one in words if one.form == form]
    return 100 * sum(one.wrong for one in found) / sum(one.asked for one in found)


def by_voice(measured: Sequence[Measures], words: Sequence[Words]) -> str:
    """A table of means, a row for each voice and one for all."""
    header = [
        "",
        "PESQ",
        "floor",
        "worst under",
        "LSD, dB",
        "floor",
        "level, dB",
        "most",
        "DNSMOS",
        "exact",
        "step at joins",
    ]
    header += [f"WER, {form}" for form in FORMS]
    rows = []
    for voice in (*dict.fromkeys(one.voice for one in measured), "all"):
        own = [one for one in measured if voice in (one.voice, "all")]
        heard = [one for one in words if voice in (one.voice, "all")]
        means = [
            statistics.fmean(values)
            for values in zip(
                *((m.distance, m.distance_floor, m.level_db, m.dnsmos, m.dnsmos_exact, m.join_mean) for m in own),
                strict=True,
            )
        ]
        means.insert(3, max((m.level_db for m in own), key=abs))
        rows.append(
            [
                voice,
                f"{statistics.fmean(m.pesq for m in own):.2f}",
                f"{statistics.fmean(m.pesq_floor for m in own):.2f}",
                f"{max(m.pesq_floor - m.pesq for m in own):.2f}",
                *(f"{value:.2f}" for value in means),
                *(f"{error_rate(heard, form):.1f} %" for form in FORMS),
            ]
        )
    return render(header, rows)


def worst(measured: Sequence[Measures]) -> str:
    """The sentences that lie furthest under their own floor."""
    found = sorted(measured, key=lambda m: m.pesq - m.pesq_floor)[:_WORST]
    rows = [[f"{m.voice}: {m.text[:60]}", f"{m.seconds:.1f}", f"{m.pesq:.2f}", f"{m.pesq_floor:.2f}"] for m in found]
    return render(["furthest under their floor", "s", "PESQ", "floor"], rows)


def _run(python: Path, module: str, *arguments: str) -> None:
    subprocess.run(
        [str(python), "-W", "ignore", "-m", module, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=True,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Speak, measure, print; 1 if something asked for is not kept."""
    from rtvoice.speech.voices import packaged_names

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--answers", action="store_true", help="speak short answers, of a word or a few, instead")
    parser.add_argument("--quick", action="store_true", help="eight sentences in two voices: four minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured to FILE")
    parser.add_argument("--voices", metavar="NAMES", help="voices, with commas, instead of all packaged ones")
    parser.add_argument(
        "--recordings",
        type=Path,
        metavar="DIR",
        help="keep what was spoken in this folder, and go on from what a run that was broken off left there",
    )
    add_pythons(parser)
    parsed = parser.parse_args(arguments)
    for who, python in (("rtvoice", parsed.serving_python), ("What measures", parsed.reference_python)):
        if not python.exists():
            print(missing(who, python), file=sys.stderr)
            return 1
    names = parsed.voices.split(",") if parsed.voices else packaged_names()[:: 3 if parsed.quick else 1]
    texts, cache = ANSWERS if parsed.answers else SENTENCES, parsed.cache.resolve()
    count = 8 if parsed.quick else len(held_out(texts))
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (parsed.recordings or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        asked_for = (str(folder), str(cache), str(texts), str(count), ",".join(names))
        _run(parsed.serving_python, "benchmarks.recordings", *asked_for)
        _run(parsed.reference_python, "benchmarks.measures", str(folder), str(cache))
        document = json.loads((folder / MEASURES).read_text("utf-8"))
    measured = [Measures(**one) for one in document["sentences"]]
    words = [Words(**one) for one in document["words"]]
    asked = criteria(measured, words)
    seconds = [one.seconds for one in measured]
    print(f"\n{count} sentences in {len(names)} voices, {min(seconds):.1f} to {max(seconds):.1f} s\n")
    print("\n\n".join((by_voice(measured, words), worst(measured), show(asked))))
    if parsed.json:
        document |= {
            "benchmark": "quality",
            "machine": fingerprint(),
            "criteria": [asdict(one) | {"kept": one.kept} for one in asked],
        }
        parsed.json.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    return 0 if all(one.kept for one in asked) else 1


if __name__ == "__main__":
    sys.exit(main())
