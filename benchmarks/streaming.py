"""How soon a sentence is heard, and whether it goes on once it has begun: this engine beside others.

Sentences of about 2, 5 and 8 s, given as phonemes. Each engine has a process of its own, confined to the same cores;
a round starts every engine anew, and they take turns after every sentence (see `benchmarks.engine`). First audio is
when the first samples are there, in the engine's process. Engines that give a sentence as a whole give it then. A
listener plays from the first samples on, and runs dry if later ones come too late.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.criteria import Criterion, show
from benchmarks.machine import fingerprint
from benchmarks.plot import Line, draw
from benchmarks.process import EngineFailed, Streamed
from benchmarks.settings import Progress, Settings, add_arguments
from benchmarks.table import Figure, render
from benchmarks.workload import Sentence, digest, load_sentences, warm_up
from rtvoice.config import SAMPLE_RATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

ROWS: Final = ("onnxruntime-default", "kokoro-onnx", "piper", "rtvoice-exact", "rtvoice")

LENGTHS: Final = (2.0, 5.0, 8.0)
"""Seconds of speech, about."""

SHARES: Final = (1 / 3, 1 / 4, 1 / 5)
"""First audio of sentences of these lengths, as parts of the first row's, that are asked for."""

PHONEMES_A_SECOND: Final = 16.5
"""Of these voices, by which sentences of a length are found."""

DRY_S: Final = 0.001
"""A piece that comes later than this has come too late."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One sentence, spoken by one engine.

    Attributes:
        row: name of the engine.
        length: which of `LENGTHS` the sentence is of.
        sentence: its number among those that are spoken.
        number: of the round.
        streamed: what it took.
    """

    row: str
    length: float
    sentence: int
    number: int
    streamed: Streamed


def of_length(sentences: Iterable[Sentence], seconds: float, count: int) -> list[Sentence]:
    """The sentences whose speech is nearest to so long."""
    wanted = seconds * PHONEMES_A_SECOND
    return sorted(sentences, key=lambda sentence: abs(len(sentence.phonemes) - wanted))[:count]


def measure(settings: Settings, sentences: Sequence[tuple[float, Sentence]], told: Callable[[str], None]) -> list[Turn]:
    """Measure all rounds, after the files that engines read have been made.

    Args:
        settings: what to measure.
        sentences: what is spoken, each with the one of `LENGTHS` that it is of.
        told: what is going on.
    """
    settings.prepare(told)
    turns = []
    for number in range(settings.rounds):
        with contextlib.ExitStack() as running:
            engines = {}
            for row in settings.rows:
                told(f"round {number + 1} of {settings.rounds}: loading {row.label}")
                engines[row.name] = running.enter_context(settings.start(row))
                engines[row.name].load()
                engines[row.name].stream(warm_up(sentences[0][1]))
            for i, (length, sentence) in enumerate(sentences):
                told(f"round {number + 1} of {settings.rounds}: sentence {i + 1} of {len(sentences)}")
                first = (number + i) % len(settings.rows)
                turns += [
                    Turn(row.name, length, i, number, engines[row.name].stream(sentence))
                    for row in (*settings.rows[first:], *settings.rows[:first])
                ]
    return turns


class Results:
    """What was measured, by engine and length."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._by_turn = {(turn.row, turn.sentence, turn.number): turn.streamed for turn in turns}

    def of(self, row: str, length: float | None = None) -> list[Streamed]:
        """One engine's sentences, of one length or of all."""
        return [turn.streamed for turn in self._turns if turn.row == row and length in (None, turn.length)]

    def first_audio(self, row: str, length: float) -> Figure:
        """Seconds to the first audio."""
        return Figure.of(streamed.first_audio_s for streamed in self.of(row, length))

    def share(self, row: str, other: str, length: float) -> float:
        """First audio as a part of another engine's: the median over sentences, each compared in its own round."""
        return statistics.median(
            turn.streamed.first_audio_s / self._by_turn[other, turn.sentence, turn.number].first_audio_s
            for turn in self._turns
            if turn.row == row and turn.length == length
        )

    def audio_s_per_cpu_s(self, row: str) -> float:
        """Seconds of speech a CPU-second."""
        streamed = self.of(row)
        return sum(one.audio_s for one in streamed) / sum(one.cpu_s for one in streamed)

    def dry_s(self, row: str) -> float:
        """The longest that a listener of this engine waited in the middle of a sentence."""
        return max(streamed.dry_s for streamed in self.of(row))

    def waits_though_fast_enough(self, row: str, whole: str) -> list[float]:
        """The same of each sentence that `whole`, an engine that gives them as a whole, speaks in real time."""
        return [
            turn.streamed.dry_s
            for turn in self._turns
            if turn.row == row and (other := self._by_turn[whole, turn.sentence, turn.number]).whole_s < other.audio_s
        ]


def summarise(settings: Settings, results: Results) -> str:
    """A table of the engines."""
    first = settings.rows[0]
    peer = next((row for row in settings.rows if row.name == "piper"), None)
    header = ["", *(f"{length:g} s" for length in LENGTHS), f"to {first.label}"]
    header += [*(["to Piper"] if peer else []), "audio-s / CPU-s", "longest dry, s"]
    rows = []
    for row in settings.rows:

        def shares(other: str, name: str = row.name) -> str:
            return " ".join(f"{results.share(name, other, length):.2f}" for length in LENGTHS)

        dry = results.dry_s(row.name)
        rows.append(
            [
                row.label,
                *(results.first_audio(row.name, length).show() for length in LENGTHS),
                shares(first.name),
                *([shares(peer.name)] if peer else []),
                f"{results.audio_s_per_cpu_s(row.name):.2f}",
                f"{dry:.2f}" if dry > DRY_S else "never",
            ]
        )
    notes = [f"  ! {row.label}: {row.caveat}" for row in settings.rows if row.caveat]
    return "\n".join((render(header, rows), *notes))


def criteria(settings: Settings, results: Results) -> list[Criterion]:
    """What is asked of this engine's slices; nothing where the rows for it do not run."""
    names = {row.name for row in settings.rows}
    if "rtvoice" not in names:
        return []
    found = []
    asked = (("onnxruntime-default", "ONNX Runtime's", SHARES), ("piper", "Piper's (an aim)", (1.0,) * len(LENGTHS)))
    for other, whose, limits in asked:
        if other in names:
            shares = [results.share("rtvoice", other, length) for length in LENGTHS]
            found += [
                Criterion(f"first audio of {length:g} s, part of {whose}", share, limit)
                for length, share, limit in zip(LENGTHS, shares, limits, strict=True)
            ]
    if "rtvoice-exact" in names:
        waits = results.waits_though_fast_enough("rtvoice", "rtvoice-exact")
        what = f"longest dry where the exact form is in real time ({len(waits)} sentences), s"
        found.append(Criterion(what, max(waits, default=0.0), DRY_S))
    return found


def plots(settings: Settings, results: Results) -> dict[str, str]:
    """SVG documents by file name: first audio by length; what of the longest sentence was there when."""
    first_audio = [
        Line(row.label, sorted((one.audio_s, one.first_audio_s) for one in results.of(row.name)))
        for row in settings.rows
    ]
    progress = []
    for row in settings.rows:
        longest = max(results.of(row.name), key=lambda streamed: streamed.audio_s)
        points, heard = [], 0.0
        for at, samples in longest.pieces:
            points += [(at, heard), (at, heard := heard + samples / SAMPLE_RATE)]
        progress.append(Line(row.label, points))
    return {
        "streaming-first-audio.svg": draw("First audio", "seconds of speech in the sentence", "seconds", first_audio),
        "streaming-progress.svg": draw(
            "The longest sentence", "seconds since it was asked for", "seconds made", progress
        ),
    }


def as_json(settings: Settings, turns: Sequence[Turn], asked: Sequence[Criterion]) -> str:
    """All that was measured, and on what."""
    document: Mapping[str, object] = {
        "benchmark": "streaming",
        "machine": fingerprint(),
        "sentences_sha256": digest(),
        "threads": settings.threads,
        "rows": [{"name": row.name, "label": row.label, "caveat": row.caveat} for row in settings.rows],
        "turns": [asdict(turn) | {"dry_s": turn.streamed.dry_s} for turn in turns],
        "criteria": [asdict(one) | {"kept": one.kept} for one in asked],
    }
    return json.dumps(document, indent=1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say whether it worked."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.streaming",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="one sentence of each length, one round: two minutes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured to FILE")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw plots into this folder")
    add_arguments(parser, rows=ROWS)
    parsed = parser.parse_args(arguments)
    settings = Settings.of(parsed)
    if settings is None:
        return 1
    every = load_sentences()
    sentences = [(s, sentence) for s in LENGTHS for sentence in of_length(every, s, 1 if parsed.quick else 2)]
    try:
        turns = measure(settings, sentences, Progress())
    except EngineFailed as failed:
        print(f"\n{failed}", file=sys.stderr)
        return 1
    results = Results(turns)
    asked = criteria(settings, results)
    print(f"\nFirst audio in seconds, {settings.threads} threads, median (lowest-highest)\n")
    print(summarise(settings, results))
    if asked:
        print(f"\n{show(asked)}")
    if parsed.json:
        parsed.json.write_text(as_json(settings, turns, asked) + "\n", "utf-8")
    if parsed.plots:
        parsed.plots.mkdir(parents=True, exist_ok=True)
        for name, svg in plots(settings, results).items():
            (parsed.plots / name).write_text(svg, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
