"""How much speech an engine makes of a CPU-second: this engine beside PyTorch, ONNX Runtime and others.

All rows speak the same 20 sentences, given as phonemes, with the same weights if nothing else is said. Each engine has
a process of its own, confined to the same cores. A round starts every engine anew, has it speak one sentence that is
not counted, then each sentence once - as in life, where a sentence's length is new to the engine. The engines take
turns after every sentence, so that a machine that drifts drifts for all. CPU time is the kernel's, of all the engine's
processes.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.baselines import ROWS
from benchmarks.machine import fingerprint
from benchmarks.process import EngineFailed, EngineProcess, Load, Spoken
from benchmarks.settings import Progress, Settings, add_arguments
from benchmarks.table import Figure, render
from benchmarks.workload import Sentence, digest, load_sentences, warm_up
from rtvoice.config import SAMPLE_RATE
from rtvoice.speech.weights import SHA256

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.baselines import Row

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
            engine.speak(warm_up(sentences[0]))
        for i, sentence in enumerate(sentences):
            for row in order[i % len(order) :] + order[: i % len(order)]:
                spoken[row.name].append(engines[row.name].speak(sentence))
                done()
        return {
            name: Round(loads[name], tuple(spoken[name]), engine.peak_resident_bytes())
            for name, engine in engines.items()
        }


def measure(
    settings: Settings, sentences: Sequence[Sentence], progress: Callable[[str], None]
) -> list[dict[str, Round]]:
    """Measure all rounds, after the files that engines read have been made."""
    settings.prepare(progress)
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
        if row.caveat:
            found.append(f"{row.label}: {row.caveat}")
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
                "caveat": row.caveat,
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
    add_arguments(parser, rows=tuple(ROWS))
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say whether it worked."""
    parsed = _arguments(arguments)
    settings = Settings.of(parsed)
    if settings is None:
        return 1
    sentences = load_sentences(quick=parsed.quick)
    try:
        rounds = measure(settings, sentences, Progress())
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


if __name__ == "__main__":
    sys.exit(main())
