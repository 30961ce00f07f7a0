"""The report's plots, as SVG documents that are the same for the same figures."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from benchmarks.report.bill import Bill
    from benchmarks.report.records import Peaks, Points
    from benchmarks.report.roofline import Point

_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "rtvoice",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "legend.frameon": False,
}
_COLOURS = ("#525252", "#c2410c", "#f59e0b", "#15803d", "#0891b2", "#7e22ce", "#be185d", "#84cc16")
_OWN = "#1b6ac9"
_MB = 1e6


def lines(series: Mapping[str, Points], x_label: str, y_label: str, *, own: str = "rtvoice", scale: float = 1.0) -> str:
    """Lines with both axes from 0; one's own is drawn thick.

    Args:
        series: points from left to right, by label.
        x_label: of the axis.
        y_label: likewise.
        own: which label is one's own.
        scale: what heights are divided by.
    """
    with mpl.rc_context(_STYLE):
        figure, axes = _axes()
        for label, colour in _coloured(series, own):
            x, y = [at for at, _ in series[label]], [value / scale for _, value in series[label]]
            width, marker = (2.6 if label == own else 1.6), ("o" if len(x) < 10 else None)
            axes.plot(x, y, label=label, color=colour, linewidth=width, marker=marker, markersize=4)
        axes.set(xlabel=x_label, ylabel=y_label)
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return _svg(figure)


def memory(series: Mapping[str, Points], x_label: str) -> str:
    """Memory of processes over time."""
    return lines(series, x_label, "MB, all processes", scale=_MB)


def bills(days: Mapping[str, Mapping[str, Bill]]) -> str:
    """What days cost: a panel for each day, a bar for each engine, its parts for CPU time and for memory."""
    with mpl.rc_context(_STYLE):
        count = max(len(day) for day in days.values())
        figure = Figure(figsize=(9.0, 0.9 + 0.34 * count), layout="constrained")
        panels = figure.subplots(1, len(days), sharey=True, squeeze=False)[0]
        for axes, (title, day) in zip(panels, days.items(), strict=True):
            labels = list(day)[::-1]
            cpu = [day[label].cpu_cost for label in labels]
            axes.barh(labels, cpu, color="#1b6ac9", label="CPU time")
            axes.barh(labels, [day[label].memory_cost for label in labels], left=cpu, color="#f59e0b", label="memory")
            axes.set(title=title, xlabel="USD a day")
            axes.grid(axis="y", visible=False)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        return _svg(figure)


def roof(peaks: Peaks, points: Mapping[str, Point]) -> str:
    """A core's roof, and the forms of the generator under it."""
    with mpl.rc_context(_STYLE):
        figure, axes = _axes()
        ridge = peaks.gflops / peaks.gbytes_s
        most = 4 * max([ridge, *(point.intensity for point in points.values())])
        x = [ridge / 16, ridge, most]
        axes.plot(x, [ridge / 16 * peaks.gbytes_s, peaks.gflops, peaks.gflops], color="#222222", label="one core")
        for (label, point), colour in zip(points.items(), _COLOURS[1:], strict=False):
            axes.plot([point.intensity] * 2, [point.gflops, point.roof], color=colour, linewidth=1, linestyle=":")
            axes.plot([point.intensity], [point.gflops], "o", color=colour, label=label)
        axes.set(xscale="log", yscale="log", xlabel="operations a byte", ylabel="GFLOP/s of one core")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return _svg(figure)


def _axes() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(9.0, 3.8), layout="constrained")
    return figure, figure.subplots()


def _coloured(labels: Mapping[str, object], own: str) -> Sequence[tuple[str, str]]:
    others = [label for label in labels if label != own]
    coloured = [(label, _COLOURS[i % len(_COLOURS)]) for i, label in enumerate(others)]
    return [*coloured, *([(own, _OWN)] if own in labels else [])]


def _svg(figure: Figure) -> str:
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    # without the declarations, which have no place inside a page, and blanks at ends of lines
    _, begin, rest = drawn.getvalue().partition("<svg")
    return re.sub(r"[ \t]+\n", "\n", begin + rest)
