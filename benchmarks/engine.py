"""How much speech an engine makes of a CPU-second: this engine beside PyTorch and ONNX Runtime.

All rows run the same weights and the same 20 sentences, given as phonemes. Each engine has a process of its own,
confined to the same cores. A round starts every engine anew, has it speak one sentence that is not counted, then each
sentence once - as in life, where a sentence's length is new to the engine. The engines take turns after every
sentence, so that a machine that drifts drifts for all. CPU time is the kernel's, of all the engine's processes.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.baselines import ROWS, Row
from benchmarks.machine import fingerprint
from benchmarks.process import ROOT, EngineFailed, EngineProcess, Load, Spoken
from benchmarks.table import Figure, render
from benchmarks.workload import Sentence, digest, load_sentences
from rtvoice.config import SAMPLE_RATE
from rtvoice.speech.weights import SHA256

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LENGTH_TOLERANCE = 0.02
"""How far a sentence's length may differ between engines, as a share, before a table says so."""


@dataclass(frozen=True, slots=True)
class Round:
    """One engine in one round."""

    load: Load
    spoken: tuple[Spoken, ...]
    peak_resident_bytes: int

    @property
    def audio_s(self) -> float:
        """Seconds of speech made."""
        return sum(s.samples for s in self.spoken) / SAMPLE_RATE

    @property
    def audio_s_per_cpu_s(self) -> float:
        """Seconds of speech a CPU-second."""
        return self.audio_s / sum(s.cpu_s for s in self.spoken)

    @property
    def rtf(self) -> float:
        """Seconds of waiting a second of speech (real-time factor)."""
        return sum(s.wall_s for s in self.spoken) / self.audio_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What to measure and how.

    Attributes:
        rows: the engines; ratios are taken to the first.
        threads: cores each engine is confined to.
        rounds: how often all of it is done.
        pythons: the interpreter of each environment.
        cache: where prepared files lie.
    """

    rows: tuple[Row, ...]
    threads: int
    rounds: int
    pythons: dict[str, Path]
    cache: Path

    def start(self, row: Row) -> EngineProcess:
        """An engine's process, to be entered."""
        return EngineProcess(row, self.pythons[row.environment], self.cache, self.threads)


def measure_round(
    settings: Settings, sentences: Sequence[Sentence], number: int, done: Callable[[], None]
) -> dict[str, Round]:
    """Measure every engine once.

    Args:
        settings: what to measure.
        sentences: what is spoken. The first one is also spoken beforehand, uncounted, at another length.
        number: of the round, from 0; it turns the order in which engines are loaded and take turns.
        done: called after each sentence of each engine.
    """
    order = settings.rows[number % len(settings.rows) :] + settings.rows[: number % len(settings.rows)]
    spoken: dict[str, list[Spoken]] = {row.name: [] for row in order}
    with contextlib.ExitStack() as running:
        engines: dict[str, EngineProcess] = {}
        loads: dict[str, Load] = {}
        for row in order:  # one after the other, so that no load is timed while another runs
            engine = engines[row.name] = running.enter_context(settings.start(row))
            loads[row.name] = engine.load()
            engine.speak(_warm_up(sentences[0]))
        for i, sentence in enumerate(sentences):
            for row in order[i % len(order) :] + order[: i % len(order)]:
                spoken[row.name].append(engines[row.name].speak(sentence))
                done()
        return {
            name: Round(loads[name], tuple(spoken[name]), engine.peak_resident_bytes())
            for name, engine in engines.items()
        }


def _warm_up(sentence: Sentence) -> Sentence:
    return Sentence("", sentence.voice, f"{sentence.phonemes} {sentence.phonemes}", sentence.style)


def measure(
    settings: Settings, sentences: Sequence[Sentence], progress: Callable[[str], None]
) -> list[dict[str, Round]]:
    """Measure all rounds, after the files that engines read have been made."""
    for row in settings.rows:
        progress(f"preparing {row.label}")
        with settings.start(row) as engine:
            engine.prepare()
    started, steps = time.monotonic(), itertools.count(1)
    total = settings.rounds * len(sentences) * len(settings.rows)

    def done() -> None:
        step = next(steps)
        left = (time.monotonic() - started) / step * (total - step)
        progress(f"round {(step - 1) * settings.rounds // total + 1} of {settings.rounds}, {left / 60:.0f} min left")

    return [measure_round(settings, sentences, number, done) for number in range(settings.rounds)]


def summarise(rows: Sequence[Row], rounds: Sequence[dict[str, Round]]) -> str:
    """The table, and below it what makes a row incomparable."""
    first = rows[0]
    lines = []
    for row in rows:
        own = [measured[row.name] for measured in rounds]
        ratios = Figure.of(
            measured[row.name].audio_s_per_cpu_s / measured[first.name].audio_s_per_cpu_s for measured in rounds
        )
        lines.append(
            (
                row.label,
                Figure.of(r.audio_s_per_cpu_s for r in own).show(),
                f"{ratios.show()} x",
                Figure.of(r.rtf for r in own).show(),
                Figure.of(r.peak_resident_bytes / 1e6 for r in own).show(0),
                Figure.of(r.load.wall_s for r in own).show(1),
            )
        )
    header = ("", "audio-s / CPU-s", f"to {first.label}", "RTF", "peak memory, MB", "load, s")
    return "\n".join((render(header, lines), *("  ! " + doubt for doubt in doubts(rows, rounds))))


def doubts(rows: Sequence[Row], rounds: Sequence[dict[str, Round]]) -> list[str]:
    """What a reader has to know before comparing: other weights, other lengths of speech, silence, a wide spread."""
    found = []
    expected = rounds[0][rows[0].name].spoken
    for row in rows:
        if not row.same_weights:
            found.append(f"{row.label}: computes in int8, not with the float32 weights of the others")
        spoken = rounds[0][row.name].spoken
        other = sum(
            abs(mine.samples - theirs.samples) > LENGTH_TOLERANCE * theirs.samples
            for mine, theirs in zip(spoken, expected, strict=True)
        )
        if other:
            found.append(
                f"{row.label}: {other} of {len(expected)} sentences have another length than {rows[0].label}'s"
            )
        quiet = sum(not 0.5 < mine.level / theirs.level < 2 for mine, theirs in zip(spoken, expected, strict=True))
        if quiet:
            found.append(f"{row.label}: {quiet} of {len(expected)} sentences are not as loud as {rows[0].label}'s")
        spread = Figure.of(measured[row.name].audio_s_per_cpu_s for measured in rounds).spread
        if spread > 0.15:
            found.append(f"{row.label}: rounds differ by {spread:.0%}; the machine was not quiet")
    return found


def as_json(settings: Settings, sentences: Sequence[Sentence], rounds: Sequence[dict[str, Round]]) -> str:
    """All that was measured, and on what."""
    document = {
        "benchmark": "engine",
        "machine": fingerprint(),
        "weights_sha256": SHA256,
        "sentences_sha256": digest(),
        "sentences": [sentence.text for sentence in sentences],
        "threads": settings.threads,
        "rows": [
            {
                "name": row.name,
                "label": row.label,
                "environment": row.environment,
                "same_weights": row.same_weights,
                "versions": rounds[0][row.name].load.versions,
                "rounds": [
                    {
                        **asdict(measured[row.name]),
                        "audio_s": measured[row.name].audio_s,
                        "audio_s_per_cpu_s": measured[row.name].audio_s_per_cpu_s,
                        "rtf": measured[row.name].rtf,
                    }
                    for measured in rounds
                ],
            }
            for row in settings.rows
        ],
        "doubts": doubts(settings.rows, rounds),
    }
    return json.dumps(document, indent=1)


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.engine", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="five sentences, one round: two minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured to FILE")
    parser.add_argument(
        "--rows",
        default=",".join(ROWS),
        metavar="NAMES",
        help="engines, with commas; the first is compared to. All: %(default)s",
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="cores each engine is confined to (%(default)s)",
    )
    parser.add_argument("--rounds", type=int, default=3, help="how often all of it is done (%(default)s)")
    parser.add_argument(
        "--serving-python", type=Path, default=Path(sys.executable), help="of rtvoice's own environment"
    )
    parser.add_argument(
        "--reference-python",
        type=Path,
        default=ROOT / ".venv-reference" / "bin" / "python",
        help="of the environment with torch, kokoro and onnxruntime (`make benchmark-engine` makes it)",
    )
    parser.add_argument("--cache", type=Path, default=ROOT / ".cache" / "benchmarks", help="where prepared files lie")
    parsed = parser.parse_args(arguments)
    if unknown := [name for name in parsed.rows.split(",") if name not in ROWS]:
        parser.error(f"no such row: {', '.join(unknown)}; there are {', '.join(ROWS)}")
    if not 1 <= parsed.threads <= len(os.sched_getaffinity(0)):
        parser.error(f"--threads: this process may use {len(os.sched_getaffinity(0))} cores")
    return parsed


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say whether it worked."""
    parsed = _arguments(arguments)
    settings = Settings(
        rows=tuple(ROWS[name] for name in parsed.rows.split(",")),
        threads=parsed.threads,
        rounds=1 if parsed.quick else parsed.rounds,
        pythons={"serving": parsed.serving_python, "reference": parsed.reference_python},
        cache=parsed.cache,
    )
    for row in settings.rows:
        if not settings.pythons[row.environment].exists():
            print(
                f"{row.label} needs {settings.pythons[row.environment]}, which is not there;"
                " `make benchmark-engine` sets everything up.",
                file=sys.stderr,
            )
            return 1
    parsed.cache.mkdir(parents=True, exist_ok=True)
    sentences = load_sentences(quick=parsed.quick)
    try:
        rounds = measure(settings, sentences, _Progress())
    except EngineFailed as failed:
        print(f"\n{failed}", file=sys.stderr)
        return 1
    machine = fingerprint()
    audio_s = rounds[0][settings.rows[0].name].audio_s
    print(
        f"\n{len(sentences)} sentences, {audio_s:.0f} s of speech; {machine['processor']},"
        f" {settings.threads} of {machine['cores']} cores; rounds: {settings.rounds}, median (lowest-highest)\n"
    )
    print(summarise(settings.rows, rounds))
    if parsed.json:
        parsed.json.write_text(as_json(settings, sentences, rounds) + "\n", "utf-8")
    return 0


class _Progress:
    """Shows where a run is: on a terminal one line that changes, elsewhere a line whenever the text changes."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif text != self._last:
            print(text, file=sys.stderr, flush=True)
        self._last = text


if __name__ == "__main__":
    sys.exit(main())
