"""The report's figures, each with the table of what it shows where that is not in another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.report import plots
from benchmarks.report.bill import LISTS, Bill, Burst, arrivals, bill, eight_bursts
from benchmarks.report.document import Block, Heading, Picture, Table, Text
from benchmarks.report.plan import GROWING, REWRITES, TABLE_1
from benchmarks.report.roofline import place
from benchmarks.report.subjects import SUBJECTS
from benchmarks.report.tables import FORMS, megabytes, spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.report.plan import Asked
    from benchmarks.report.records import Points
    from benchmarks.report.results import Results
    from rtvoice.config import Prices


def days() -> Mapping[str, Sequence[Burst]]:
    """The days that are reckoned."""
    return {"eight equal bursts": eight_bursts(), "people coming and going": arrivals()}


def bills(results: Results, day: Sequence[Burst], prices: Prices, idle_s: float) -> dict[str, Bill]:
    """What a day costs with each engine, by label; with rtvoice, released when idle and not."""
    found = {}
    for name in TABLE_1:
        if (runs := results.runs(name)) is None:
            continue
        label = SUBJECTS[name].label
        if name == "rtvoice" and runs.lifecycle is not None:
            found[f"{label}, always loaded"] = bill(day, runs.rates(releases=False), prices, idle_s)
            found[label] = bill(day, runs.rates(releases=True), prices, idle_s)
        else:
            found[label] = bill(day, runs.rates(releases=False), prices, idle_s)
    return found


def figure_1(results: Results, asked: Asked) -> Sequence[Block]:
    """What a day costs with each engine, in two days and at several prices."""
    reckoned = {title: bills(results, day, asked.prices, asked.idle_s) for title, day in days().items()}
    if not any(reckoned.values()):
        return []
    elsewhere = {
        f"eight bursts, {name}": bills(results, eight_bursts(), prices, asked.idle_s)
        for name, prices in LISTS.items()
        if prices != asked.prices
    }
    columns = reckoned | elsewhere
    rows = [
        (label, *(f"{column[label].cost:.3f}" for column in columns.values()))
        for label in next(iter(reckoned.values()))
    ]
    header = ("USD a day", *columns)
    caption = (
        "Figure 1: the bill of a day with two hours of speech, where CPU time and memory are paid for as they are "
        f"used. From lines {results.numbers(*TABLE_1, kinds=('serve', 'lifecycle'))}."
    )
    return [
        Heading("Figure 1: the bill of a day"),
        Text(
            "Each state is measured at scaled time - speaking, quiet, released, restored - and reckoned for as long as "
            f"the day spends in it. Who is released is so after {asked.idle_s:.0f} s of quiet."
        ),
        Picture("figure-1-bill", plots.bills(reckoned), caption),
        Table(header, rows),
    ]


def figure_3(results: Results) -> Sequence[Block]:
    """Speech made in a second, by how many clients there are."""
    found = {SUBJECTS[name].label: clients for name in GROWING if (clients := results.clients(name)) is not None}
    if not found:
        return []
    speed = {
        label: tuple((float(one.clients), one.audio_s / one.wall_s) for one in clients.loads)
        for label, clients in found.items()
    }
    caption = (
        "Figure 3: seconds of speech made in a second, by the number of clients at once. From lines "
        f"{results.numbers(*GROWING, kinds=('clients',))}."
    )
    plot = plots.lines(speed, "clients at once", "seconds of speech a second")
    return [Heading("Figure 3: throughput by clients"), Picture("figure-3-clients", plot, caption)]


def figure_4(results: Results, asked: Asked) -> Sequence[Block]:
    """Memory of each engine after the last response."""
    series: dict[str, Points] = {}
    for name in TABLE_1:
        runs = results.runs(name)
        if runs is not None and (name != "rtvoice" or runs.lifecycle is None):
            series[SUBJECTS[name].label] = runs.serves[0].timeline
    own = results.lifecycle("rtvoice")
    if own is not None:
        last, until = own.spoken_s[0], own.asked_s[0]
        series["rtvoice"] = tuple((at - last, size) for at, size in own.timeline if last <= at <= until)
    if not any(series.values()):
        return []
    caption = (
        f"Figure 4: memory after the last response. rtvoice is released after {own.idle_s if own else 0:.0f} s here, "
        f"so that the figure needs no {asked.idle_s:.0f} s. From lines "
        f"{results.numbers(*TABLE_1, kinds=('serve', 'lifecycle'))}."
    )
    plot = plots.memory(series, "seconds since the last response")
    return [Heading("Figure 4: memory after the last request"), Picture("figure-4-memory", plot, caption)]


def figure_5(results: Results, asked: Asked) -> Sequence[Block]:
    """Piper's voice, released and restored as rtvoice is."""
    names = [name for name in ("piper", "rtvoice") if results.lifecycle(name) is not None]
    if not names:
        return []
    series = {SUBJECTS[name].label: life.timeline for name in names if (life := results.lifecycle(name)) is not None}
    rows = [
        (
            SUBJECTS[name].label,
            megabytes(runs.warm),
            megabytes(runs.released),
            spread(runs.cold_start_s, 1),
            spread(runs.restored_s, 1),
            *(
                f"{bill(eight_bursts(), runs.rates(releases=releases), asked.prices, asked.idle_s).cost:.3f}"
                for releases in (False, True)
            ),
            results.numbers(name, kinds=("serve", "lifecycle")),
        )
        for name in names
        if (runs := results.runs(name)) is not None
    ]
    caption = "Figure 5: another voice model, Piper's, under the same lifecycle: it speaks, is released, is restored."
    header = (
        "",
        "warm, MB",
        "released, MB",
        "cold start, s",
        "restore, s",
        "USD a day, always loaded",
        "USD a day, released",
        "lines",
    )
    return [
        Heading("Figure 5: another model under the same lifecycle"),
        Picture("figure-5-other-model", plots.memory(series, "seconds since it listened"), caption),
        Table(header, rows),
    ]


def roofline(results: Results) -> Sequence[Block]:
    """What the forms of the generator do with a core, and what it could do."""
    peaks = results.peaks
    forms = {FORMS[name]: one for name in REWRITES[:-1] if (one := results.rewrite(name)) is not None}
    if peaks is None or not forms:
        return []
    points = {label: place(one, peaks) for label, one in forms.items()}
    rows = [
        (
            label,
            f"{point.intensity:.0f}",
            f"{point.gflops:.0f}",
            f"{point.roof:.0f}",
            f"{point.gflops / point.roof:.0%}",
            f"{2 * results_gmac / point.roof:.3f}",
        )
        for (label, point), results_gmac in zip(points.items(), (one.gmac for one in forms.values()), strict=True)
    ]
    caption = (
        f"Roofline: one core multiplies matrices at {peaks.gflops:.0f} GFLOP/s and copies {peaks.gbytes_s:.1f} GB/s. "
        "Time counts what is no convolution as well, so points lie lower than the convolutions alone. From lines "
        f"{results.numbers('machine', *REWRITES[:-1])}."
    )
    header = ("", "operations a byte", "GFLOP/s", "roof", "of it", "CPU-s a second of speech under the roof")
    return [
        Heading("Roofline: how much faster it could be"),
        Text(
            "The Fourier form does less arithmetic for the same result, so it is faster though it lies lower: what "
            "counts is the time at the roof, in the last column, beside the time it takes, in Table 2."
        ),
        Picture("roofline", plots.roof(peaks, points), caption),
        Table(header, rows),
    ]
