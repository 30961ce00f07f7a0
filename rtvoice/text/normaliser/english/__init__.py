"""How English is read: rules, in the order in which they are applied.

The order is part of the meaning. Addresses go first, whose dots and digits are no sentence's; then abbreviations that
stand before numbers; then numbers, the most specific first; then words that are left; then marks; at the end nothing
is left but words and sentence punctuation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtvoice.text.normaliser.english import (
    addresses,
    dates,
    designations,
    measures,
    money,
    names,
    punctuation,
    quantities,
    romans,
    symbols,
    times,
    years,
)
from rtvoice.text.normaliser.english.dialect import AMERICAN, BRITISH, Dialect

if TYPE_CHECKING:
    from rtvoice.text.normaliser.rule import Rule

__all__ = ["AMERICAN", "BRITISH", "DIGIT_RULES", "FIRST_RULES", "MARK", "MARK_RULES", "WORD_RULES", "Dialect"]

FIRST_RULES: tuple[Rule[Dialect], ...] = (
    *symbols.NAME_RULES,
    *addresses.RULES,
    *dates.WEEKDAY_RULES,
    *names.EARLY_RULES,
    *romans.RULES,
    *measures.WORD_RULES,
)

DIGIT_RULES: tuple[Rule[Dialect], ...] = (
    *symbols.ABOUT_RULES,
    *designations.EARLY_RULES,
    *dates.RULES,
    *times.RULES,
    *money.RULES,
    *years.RULES[:2],
    *quantities.EARLY_RULES,
    *measures.RULES,
    *years.RULES[2:],
    *symbols.SUPERSCRIPT_RULES,
    *quantities.RULES,
    *designations.LATE_RULES,
    *quantities.PLAIN_RULES,
)
"""Each of these needs a digit to begin with; a text without any is spared them."""

WORD_RULES: tuple[Rule[Dialect], ...] = names.LATE_RULES

MARK_RULES: tuple[Rule[Dialect], ...] = (
    *symbols.RULES,
    *punctuation.RULES,
)
"""These have nothing to do in a text without a MARK."""

MARK = re.compile(
    # what is neither a Latin letter nor punctuation that stays
    r"[^\w\s.,;:!?'“”…—-]|[_\d¹²³¼-¾]|[^\x00-\u024f“”…—]|…{2}"
    # apostrophes and hyphens outside words, stops inside
    r"|(?<![^\W_])['-]|['-](?![^\W_])|\w[.,:;!?]\w|(?<!\S)\."
    # too much of something
    r"|\s[\s.,;:!?…”]|[.,;:!?][.,;:]|[!?]{4}|[“”—]\s?[“”—]"
)
