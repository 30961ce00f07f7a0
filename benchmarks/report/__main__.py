"""The paper's tables and figures for this machine, with one command: `python -m benchmarks.report`.

Measures every engine behind the same server, writes a JSON line for each measurement, and from the lines plots, a page
in Markdown and one in HTML. Interrupted, the same command goes on; finished, it begins anew.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.process import ROOT
from benchmarks.report.bill import PAPER
from benchmarks.report.journal import Journal, context, done, unfinished
from benchmarks.report.measuring import Measuring
from benchmarks.report.plan import FULL, PARTS, QUICK, Asked, Cell, Profile, cells, chosen
from benchmarks.report.publish import publish
from benchmarks.report.results import Results
from benchmarks.report.runner import FAILURES, Run
from benchmarks.report.subjects import SUBJECTS, Places
from benchmarks.settings import Progress, add_pythons, missing
from rtvoice.commands.options import price, seconds
from rtvoice.config import Prices, ServerConfig
from rtvoice.speech.weights import SHA256

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is missing, write the report, and say where it is."""
    parsed = _parser().parse_args(arguments)
    profile = QUICK if parsed.quick else FULL
    plan = cells(profile)
    asked = Asked(
        profile=profile,
        plan=plan,
        prices=Prices(cpu_s=parsed.price_cpu, gib_s=parsed.price_memory),
        idle_s=parsed.idle_release,
    )
    journal = Journal(parsed.results / f"{profile.name}.jsonl")
    if not parsed.report_only:
        wanted = chosen(plan, parsed.only, parsed.rows)
        if not wanted:
            print("No measurement is of these rows and of these tables or figures.", file=sys.stderr)
            return 1
        places = Places(serving=parsed.serving_python, reference=parsed.reference_python, cache=parsed.cache.resolve())
        if complaint := _unready(places, wanted):
            print(complaint, file=sys.stderr)
            return 1
        partly = bool(parsed.only or parsed.rows)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that servers are ended whoever interrupts
        try:
            _measure(journal, profile, plan if not partly else wanted, places, parsed, partly=partly)
        except KeyboardInterrupt:
            print("\nInterrupted. The same command goes on from here.", file=sys.stderr)
            return INTERRUPTED
    results = Results(journal.lines())
    for path in publish(results, asked, parsed.results, parsed.docs):
        print(path)
    return 0


def _measure(
    journal: Journal,
    profile: Profile,
    wanted: Sequence[Cell],
    places: Places,
    parsed: argparse.Namespace,
    *,
    partly: bool,
) -> None:
    """Measure what is wanted: a part of the plan anew, or all of it, or what an interrupted run has left."""
    progress = Progress()
    within = context(profile.name, len(os.sched_getaffinity(0)))
    left = list(wanted)
    if not partly:
        lines = journal.lines()
        if not parsed.fresh and unfinished(lines, within):
            finished = done(lines, within)
            left = [cell for cell in wanted if cell.name not in finished]
            progress(f"going on: {len(wanted) - len(left)} of {len(wanted)} measurements are there\n")
        else:
            journal.clear()
    measuring = Measuring(profile, places, parsed.results / "samples")
    for name in dict.fromkeys(cell.subject for cell in left if cell.subject in SUBJECTS):
        progress(f"preparing {SUBJECTS[name].label}")
        try:
            measuring.prepare(SUBJECTS[name])
        except FAILURES as failed:  # its cells will say so
            progress(f"{failed}\n")
    run = Run(
        journal=journal,
        context=within,
        measures=measuring,
        told=progress,
        budget_s=None if partly else profile.budget_s,
    )
    left_out = run.over(left)
    if not partly:
        run.end(left_out)
    progress(f"{len(left) - len(left_out)} measurements made, {len(left_out)} left out for lack of time\n")


def _unready(places: Places, wanted: Sequence[Cell]) -> str:
    """Why nothing can be measured: an interpreter is missing, or files were prepared from other weights."""
    for cell in wanted:
        subject = SUBJECTS.get(cell.subject)
        if subject is not None and not subject.python(places).exists():
            return missing(subject.label, subject.python(places))
    places.cache.mkdir(parents=True, exist_ok=True)
    stamp = places.cache / "weights.sha256"
    if stamp.exists() and stamp.read_text("ascii").strip() != SHA256:
        return f"What lies in {places.cache} was made from other weights; remove it."
    stamp.write_text(SHA256 + "\n", "ascii")
    return ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.report", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )

    def names(allowed: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
        def read(text: str) -> tuple[str, ...]:
            if unknown := [name for name in text.split(",") if name not in allowed]:
                raise argparse.ArgumentTypeError(f"no {', '.join(unknown)}; there are {', '.join(allowed)}")
            return tuple(text.split(","))

        return read

    rows = tuple(dict.fromkeys(cell.subject for cell in cells(FULL)))
    parser.add_argument("--quick", action="store_true", help="in less than ten minutes on two cores; else for an hour")
    parser.add_argument("--rows", type=names(rows), default=(), metavar="NAMES", help=f"only these: {', '.join(rows)}")
    parser.add_argument(
        "--only", type=names(tuple(PARTS)), default=(), metavar="NAMES", help=f"only for these: {', '.join(PARTS)}"
    )
    parser.add_argument("--fresh", action="store_true", help="begin anew where a run was interrupted")
    parser.add_argument("--report-only", action="store_true", help="write the report of what has been measured")
    results, docs = ROOT / "benchmarks" / "results", ROOT / "docs" / "benchmarks.md"
    parser.add_argument("--results", type=Path, default=results, metavar="DIR", help="gets lines, plots and report")
    parser.add_argument("--docs", type=Path, default=docs, metavar="FILE", help="gets the report in Markdown")
    parser.add_argument(
        "--price-cpu", type=price, default=PAPER.cpu_s, metavar="X", help="of a CPU-second (%(default)s)"
    )
    parser.add_argument(
        "--price-memory", type=price, default=PAPER.gib_s, metavar="X", help="of a GiB for a second (%(default)s)"
    )
    idle_s = ServerConfig().idle_release_s
    parser.add_argument(
        "--idle-release", type=seconds, default=idle_s, metavar="S", help="quiet to a release, in bills (%(default)s)"
    )
    add_pythons(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
