"""How things are written: the pieces that the rules' patterns are made of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

START = r"(?<!\w)(?<!\d[.,])"
"""In front of a number that stands for itself: no word, decimal or group of thousands goes on into it."""

INSIDE = r"(?<!\d)(?<!\d[.,])"
"""In front of a number that letters may come before."""

INTEGER = r"(?:\d{1,3}(?:,\d{3})++(?!\d)|\d++)"
"""A whole number, with or without commas between its thousands."""

NUMBER = rf"(?:{INTEGER}(?:\.\d++)?+|\.\d++)"
"""A number that may have decimals."""

DASH = r"[-–—‑]"
"""What stands between the ends of a range."""

END = r"(?!\w)"
"""Behind a word."""

NOT_MORE = r"(?![\w]|[.,:/]\d)"
"""Behind a number: it does not go on."""


DOT_WITHIN = re.compile(r"\.\w")
"""A dot that ends no sentence: what addresses, file names and initials have."""


def one_of(words: Iterable[str]) -> str:
    """A pattern for any of some words, taken literally; of two that fit, the longer."""
    return "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")"
