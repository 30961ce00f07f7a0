"""Against the paper's ratios; and what a reader must know before believing a row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchmarks.report.plan import SKIPPED, TABLE_1
from benchmarks.report.subjects import SUBJECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchmarks.report.plan import Cell
    from benchmarks.report.records import Heard
    from benchmarks.report.results import Results, Runs
    from benchmarks.table import Figure
    from rtvoice.config import Prices

SPREAD: Final = 0.15
"""Rounds may differ by so much, as a share, before a row is doubted."""

LENGTH: Final = 0.02
"""And the length of a sentence's speech."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A ratio of the paper's and ours.

    Attributes:
        what: it is of.
        paper: theirs.
        ours: on this machine; None if it could not be measured.
        at_most: whether smaller is better.
        explained: the two figures behind ours.
    """

    what: str
    paper: float
    ours: float | None
    at_most: bool = False
    explained: str = ""

    @property
    def met(self) -> bool:
        """Whether ours is at least as good."""
        if self.ours is None:
            return False
        return self.ours <= self.paper if self.at_most else self.ours >= self.paper


def verdicts(results: Results, prices: Prices, name: str = "rtvoice") -> tuple[Verdict, ...]:
    """Rtvoice against PyTorch eager, as the paper compares its system with it.

    Args:
        results: what was measured.
        prices: of a CPU-second and a GiB-second.
        name: which of rtvoice's rows.
    """
    eager, own = results.runs(TABLE_1[0]), results.runs(name)

    def verdict(what: str, paper: float, figures: tuple[Figure | None, Figure | None], unit: str) -> Verdict:
        above, below = figures
        if above is None or below is None:
            return Verdict(what, paper, None, at_most=paper < 1)
        scale, digits = (1 / 1e6, 0) if unit == "MB" else (1.0, 4 if unit == "USD" else 2)
        shown = f"{above.median * scale:,.{digits}f} / {below.median * scale:,.{digits}f} {unit}"
        return Verdict(what, paper, above.median / below.median, at_most=paper < 1, explained=shown)

    def both(figure: Callable[[Runs], Figure | None]) -> tuple[Figure | None, Figure | None]:
        """A figure of PyTorch's and of ours."""
        return (figure(eager) if eager else None), (figure(own) if own else None)

    own_speed_first = both(lambda runs: runs.audio_s_per_cpu_s)[::-1]
    idle = (eager.warm if eager else None), (own.released if own else None)
    restored_s = own.restored_s if own else None
    cold_start_s = eager.cold_start_s if eager else None
    return (
        verdict("more speech a CPU-second", 4.1, own_speed_first, "audio-s/CPU-s"),
        verdict("less cost of an audio-hour", 4.1, both(lambda runs: runs.audio_hour(prices)), "USD"),
        verdict("less memory long after the last response", 6.5, idle, "MB"),
        verdict("restore, as a part of PyTorch's cold start", 0.29, (restored_s, cold_start_s), "s"),
        verdict("sooner first audio, median", 2.6, both(lambda runs: runs.first_audio(0.5)), "s"),
        verdict("sooner first audio, 90 of 100", 1.9, both(lambda runs: runs.first_audio(0.9)), "s"),
    )


def doubts(results: Results, plan: Iterable[Cell]) -> list[str]:
    """All there is to doubt: rows that are missing, of other weights or sentences, unlike the others, or unsteady.

    Args:
        results: what was measured.
        plan: all that should have been.
    """
    found = [*_missing(results, plan), *_other_contexts(results)]
    names = [name for name in SUBJECTS if results.runs(name) is not None]
    expected = results.runs(TABLE_1[0])
    for name in names:
        runs, label = results.runs(name), SUBJECTS[name].label
        assert runs is not None
        if SUBJECTS[name].caveat:
            found.append(f"{label}: {SUBJECTS[name].caveat}")
        if expected is not None and runs.serves[0] is not expected.serves[0]:
            found += [f"{label}: {said}" for said in _unlike(runs.serves[0].load.heard, expected.serves[0].load.heard)]
        found += [f"{label}: {said}" for said in (*_unsteady(runs), *_less_precise(results, name))]
    found += [f"{name} is not measured: {why}" for name, why in SKIPPED.items()]
    return found


def _missing(results: Results, plan: Iterable[Cell]) -> list[str]:
    lines = {one.line.cell: one.line for one in results.counted}
    wanted = [cell.name for cell in plan]
    failed = [name for name in wanted if name in lines and lines[name].error]
    missing = [name for name in wanted if name not in lines]
    listed = {
        "not measured": [name for name in missing if name not in results.left_out],
        "left out for lack of time": [name for name in missing if name in results.left_out],
    }
    found = [f"{name} failed: {lines[name].error.splitlines()[0]}" for name in failed]
    return [*found, *(f"{what}: {', '.join(names)}" for what, names in listed.items() if names)]


def _other_contexts(results: Results) -> list[str]:
    """Lines that were measured with something else than most."""
    counted = results.counted
    found = []
    for name in sorted({name for one in counted for name in one.line.context}):
        values = {one.line.cell: repr(_plain(one.line.context.get(name))) for one in counted}
        usual, _ = Counter(values.values()).most_common(1)[0]
        others = [cell for cell, value in values.items() if value != usual]
        if others:
            said = {"weights_sha256": "other weights", "sentences_sha256": "other sentences"}.get(name, f"other {name}")
            found.append(f"measured with {said} than most: {', '.join(others)}")
    return found


def _plain(value: object) -> object:
    """The same whatever order a dictionary has."""
    return sorted(value.items()) if isinstance(value, dict) else value


def _unlike(heard: Sequence[Heard], expected: Sequence[Heard]) -> list[str]:
    """Whether the same sentences were spoken, as long and as loud."""
    ours: Mapping[int, Heard] = {one.sentence: one for one in heard}
    theirs: Mapping[int, Heard] = {one.sentence: one for one in expected}
    if ours.keys() != theirs.keys():
        return [f"it spoke other sentences than {SUBJECTS[TABLE_1[0]].label}"]
    found, count = [], len(theirs)
    longer = sum(abs(ours[i].audio_s - theirs[i].audio_s) > LENGTH * theirs[i].audio_s for i in theirs)
    if longer:
        found.append(f"{longer} of {count} sentences have another length than {SUBJECTS[TABLE_1[0]].label}'s")
    louder = sum(not theirs[i].level / 2 < ours[i].level < 2 * theirs[i].level for i in theirs)
    if louder:
        found.append(f"{louder} of {count} sentences are not as loud as {SUBJECTS[TABLE_1[0]].label}'s")
    return found


def _less_precise(results: Results, name: str) -> list[str]:
    """Whether it computes in something less than float32."""
    lines = [one.line for one in results.counted if one.line.subject == name]
    precisions = {line.versions.get("precision", "f32") for line in lines} - {"f32"}
    return [f"it computes in {precision} where most compute in float32" for precision in sorted(precisions)]


def _unsteady(runs: Runs) -> list[str]:
    steady: Mapping[str, Figure] = {
        "audio-s/CPU-s": runs.audio_s_per_cpu_s,
        "first audio (median)": runs.first_audio(0.5),
        "cold start": runs.cold_start_s,
        "memory": runs.warm,
    }
    return [
        f"{name} differs by {figure.spread:.0%} between {len(runs.serves)} rounds"
        for name, figure in steady.items()
        if figure.spread > SPREAD
    ]
