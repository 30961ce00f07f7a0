"""What the report says: from results to a document. No figure is made here but by `results`, `bill` and `roofline`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.report.document import Block, Document, Heading, Points, Sounds, Table, Text
from benchmarks.report.figures import figure_1, figure_3, figure_4, figure_5, roofline
from benchmarks.report.plan import STEPS, TABLE_1
from benchmarks.report.subjects import SUBJECTS
from benchmarks.report.tables import NONE, table_1, table_2
from benchmarks.report.verdicts import doubts, verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.report.plan import Asked
    from benchmarks.report.results import Results


def document(results: Results, asked: Asked) -> Document:
    """Write the report."""
    blocks: list[Block] = [
        *_opening(results, asked),
        *table_1(results, asked),
        *table_2(results),
        *figure_1(results, asked),
        *figure_3(results),
        *figure_4(results, asked),
        *figure_5(results, asked),
        *roofline(results),
        *_listening(results),
        *_machine(results),
        *_method(asked),
    ]
    return Document("What rtvoice costs, and how soon it speaks", _kept(blocks))


def _kept(blocks: Sequence[Block]) -> Sequence[Block]:
    """Those that show something, without headings of sections that do not."""
    shown = [block for block in blocks if _holds(block)]
    following = [*shown[1:], Heading("")]
    return [
        block
        for block, after in zip(shown, following, strict=True)
        if not (isinstance(block, Heading) and isinstance(after, Heading))
    ]


def _holds(block: Block) -> bool:
    """Whether there is anything to show."""
    match block:
        case Points(items):
            return bool(items)
        case Table(_, rows):
            return bool(rows)
        case Sounds(files):
            return bool(files)
    return True


def _opening(results: Results, asked: Asked) -> Sequence[Block]:
    found, throughout = (verdicts(results, asked.prices, name) for name in ("rtvoice", "rtvoice-f32"))
    rows = [
        (
            one.what,
            f"{one.paper:g} x",
            NONE if one.ours is None else f"{one.ours:.2f} x",
            one.explained or NONE,
            "not measured" if one.ours is None else "yes" if one.met else "no",
            NONE if exact.ours is None else f"{exact.ours:.2f} x",
        )
        for one, exact in zip(found, throughout, strict=True)
    ]
    met = sum(one.met for one in found)
    said = f"rtvoice against PyTorch eager on this machine: {met} of the paper's {len(found)} ratios are met."
    return [
        Text(
            "One report for the machine it was made on, written by `make benchmark`: the same server, the same clients "
            "and the same sentences for all engines. The ratios are those of arXiv 2610.00063 between its system and "
            "PyTorch eager, and how large they are here."
        ),
        Text(f"{said} {_in_short(results, asked)}".strip()),
        Table(("rtvoice to PyTorch eager", "paper", "here", "from", "met", "float32 throughout"), rows),
        Heading("What to doubt"),
        Points(doubts(results, asked.plan), alarming=True),
    ]


def _in_short(results: Results, asked: Asked) -> str:
    """The figures that most will look for, in a sentence each; nothing if either engine is missing."""
    own, eager = results.runs("rtvoice"), results.runs(TABLE_1[0])
    if own is None or eager is None:
        return ""
    ours, theirs = (runs.audio_hour(asked.prices).median for runs in (own, eager))
    first, late = ([runs.first_audio(share).median for runs in (own, eager)] for share in (0.5, 0.9))
    return (
        f"An hour of speech costs {ours:.4f} USD with rtvoice and {theirs:.4f} with PyTorch. Four clients at once hear "
        f"first audio after {first[0]:.2f} s ({late[0]:.2f} s for 90 of 100) and {first[1]:.2f} s ({late[1]:.2f} s). "
        f"Long after the last response {own.idle.median / 1e6:,.0f} and {eager.idle.median / 1e6:,.0f} MB are held."
    )


def _listening(results: Results) -> Sequence[Block]:
    files = [
        (SUBJECTS[name].label, runs.serves[0].sample)
        for name in (*TABLE_1, *STEPS)
        if (runs := results.runs(name)) is not None and runs.serves[0].sample
    ]
    return [Heading("To listen to"), Sounds([(label, file) for label, file in files if file])]


def _machine(results: Results) -> Sequence[Block]:
    if not results.lines:
        return []
    line = results.lines[-1]
    machine = line.context.get("machine", {})
    units = ", ".join(machine.get("vector_units", ()))
    said = (
        f"{machine.get('processor')}, {machine.get('cores')} cores, {units}, "
        f"{machine.get('memory_bytes', 0) / 1e9:.0f} GB of memory; Linux {machine.get('kernel')}, Python "
        f"{machine.get('python')}; rtvoice {line.context.get('rtvoice')}, code "
        f"{line.context.get('code')}; from {results.lines[0].at} to {line.at}."
    )
    rows = []
    for name in (*TABLE_1, *STEPS):
        lines = [one.line for one in results.counted if one.line.subject == name and one.line.versions]
        if lines:
            versions = ", ".join(f"{library} {version}" for library, version in lines[0].versions.items())
            rows.append((SUBJECTS[name].label, versions))
    return [Heading("Machine and versions"), Text(said), Table(("", "libraries"), rows)]


def _method(asked: Asked) -> Sequence[Block]:
    profile = asked.profile
    return [
        Heading("Method"),
        Points(
            (
                "Every engine stands behind rtvoice's own server, in the environment it needs, with the same front "
                "end, G2P process and sockets; *rtvoice* is the server as its users have it. The others are set up as "
                "their documentation says; those called *sized* are told how many cores there are.",
                "An engine gets whole sentences in the order of asking; one with streams gets as many at once. "
                f"*{SUBJECTS['rtvoice-in-order'].label}* is rtvoice's engine behind that seam.",
                f"Four clients ask for {profile.turns} sentences each, the next when the last has been heard; nobody "
                "plays, so that sound is made as fast as it goes. All speak the same sentences, new to the engine.",
                "CPU time is the kernel's, user and system, of the server's process tree; first audio is what the "
                "client sees. A cold start is from the start of the process to first audio, files in the page cache.",
                "Memory is the processes' (PSS) and what the kernel keeps of files the engine loads that no process "
                "maps, in one. The control group's is what it has grown by since before the server started: "
                "pages of files that were not there before count, and so do the clients.",
                f"Memory is read {profile.idle_s:g} s after the last response; the paper waits 600 s. *Long idle* is "
                "after the release where there is one. Restores are what a client of a released server waits for "
                "first audio.",
                f"Engines take turns in {profile.rounds} rounds, in another order each; a row is doubted when its "
                "rounds differ by more than 15 %.",
                "Every figure is made of JSON lines in `benchmarks/results`, whose numbers stand beside it.",
            )
        ),
    ]
