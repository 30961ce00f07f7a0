"""What the segmenter's tests have in common: cases, ways to cut a text, and a segmenter run to its end."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from rtvoice.text.segment import Segment, settled
from rtvoice.text.segmenter import Segmenter

if TYPE_CHECKING:
    from collections.abc import Iterable

CASES = Path(__file__).parent / "cases"


def cases(*names: str) -> list[dict[str, Any]]:
    """The cases of some files, one JSON object a line."""
    return [json.loads(line) for name in names for line in (CASES / name).read_text(encoding="utf-8").splitlines()]


def run(deltas: Iterable[str], language: str = "en-us", markup: str = "markdown") -> tuple[list[Segment], int]:
    """All segments of a text, and how many of them came before the flush."""
    segmenter = Segmenter(language, markup)
    segments = [segment for delta in deltas for segment in segmenter.push(delta)]
    return segments + segmenter.flush(), len(segments)


def spoken(segments: Iterable[Segment]) -> list[str]:
    """The segments' texts, trimmed."""
    return [segment.text.strip() for segment in settled(segments)]


def pieces(text: str, cuts: Iterable[int]) -> list[str]:
    """`text` cut at `cuts`."""
    edges = [0, *sorted(cuts), len(text)]
    return [text[at:to] for at, to in pairwise(edges)]


def cuttings(text: str) -> st.SearchStrategy[list[str]]:
    """All ways to cut `text` into deltas, empty ones included."""
    return st.lists(st.integers(0, len(text)), max_size=12).map(lambda cuts: pieces(text, cuts))


FRAGMENTS = (
    *"abAB15 ,!?.\"()[]`*_~<>/\n-#|:;'。！？「」、“”",
    *("\n\n", "\r\n", "\n- ", "\n1. ", "\n> ", "# ", "```", "\n```\n", "| a |\n", "---\n", "**", "[^1]", "[1]"),
    *(". ", "? ", "... ", "… ", ".” ", ".) ", ". The ", " I ", "Dr. ", "etc. ", "U.S. ", "a.m. ", "No. ", "Monday "),
    *("<!--", "-->", "<b>", "</p>", '<i x="y. z">', "[pause:0.8s]", "](http://x.y/z)", "a.b/c", "k@x.y", "3.14", "$5"),
    *("🎉", "👩‍🚀", "á", "。", "२।", "؟", "\u3000", "\u2028", "x" * 70, "word " * 20),
)
"""What texts for properties are made of: all that the segmenter looks at."""


def texts(max_size: int = 40) -> st.SearchStrategy[str]:
    """Texts that hold much of what the segmenter looks at."""
    return st.lists(st.sampled_from(FRAGMENTS) | st.characters(codec="utf-8"), max_size=max_size).map("".join)
