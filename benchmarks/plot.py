"""Lines on axes, as an SVG file that a browser and a Markdown page show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTH, _HEIGHT = 760, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 44, 56
_COLOURS = ("#1b6ac9", "#c2410c", "#15803d", "#7e22ce", "#525252")


@dataclass(frozen=True, slots=True)
class Line:
    """A line: its name, and its points from left to right."""

    name: str
    points: Sequence[tuple[float, float]]


def draw(title: str, x_label: str, y_label: str, lines: Sequence[Line]) -> str:
    """Draw lines with both axes from 0; returns the SVG document."""
    x_most = max((x for line in lines for x, _ in line.points), default=0.0) or 1.0
    y_top = max((y for line in lines for _, y in line.points), default=0.0) or 1.0
    x_step, y_step = _step(x_most), _step(y_top)
    y_most = y_step * math.ceil(y_top / y_step)

    def place(x: float, y: float) -> tuple[float, float]:
        width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        return _LEFT + width * x / x_most, _TOP + height * (1 - y / y_most)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_LEFT, 20, title, size=15),
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 10, x_label, anchor="middle"),
        _text(_LEFT, _TOP - 8, y_label),
    ]
    for i in range(round(y_most / y_step) + 1):
        x, y = place(0, i * y_step)
        parts.append(f'<path d="M{x:.1f} {y:.1f}H{_WIDTH - _RIGHT}" stroke="#ddd"/>')
        parts.append(_text(x - 6, y + 4, f"{i * y_step:g}", anchor="end"))
    for i in range(math.floor(x_most / x_step) + 1):
        x, y = place(i * x_step, 0)
        parts.append(_text(x, y + 18, f"{i * x_step:g}", anchor="middle"))
    for number, line in enumerate(lines):
        colour = _COLOURS[number % len(_COLOURS)]
        path = "L".join("{:.1f} {:.1f}".format(*place(x, y)) for x, y in line.points)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>' if path else "")
        parts.append(_text(_WIDTH - _RIGHT, 20 + 15 * number, line.name, anchor="end", colour=colour))
    return "\n".join([*parts, "</svg>", ""])


def _step(most: float) -> float:
    """A round distance between ticks, for four to ten of them."""
    power: float = 10 ** math.floor(math.log10(most / 4))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if most / (power * factor) <= 8)


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, colour: str = "#222") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{escape(text)}</text>'
    )
