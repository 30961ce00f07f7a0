"""Years, decades and eras."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtvoice.text.normaliser.english.written import DASH, START
from rtvoice.text.normaliser.rule import Rule, Said

if TYPE_CHECKING:
    from rtvoice.text.normaliser.english.dialect import Dialect

_CENTURY = r"(?:1\d|20)"

_YEAR = re.compile(
    rf"{START}(?P<circa>ca?\. ?)?(?P<year>{_CENTURY}\d\d)(?:[ ]?(?:{DASH}|/)[ ]?(?P<last>{_CENTURY}\d\d|\d\d))?"
    rf"(?![\w%°]|[.,:/]\d|[ ]?{DASH}[ ]?\d)"
)
# Two digits and an s are a decade where a word before says so; else they may be seconds.
_DECADE = re.compile(
    rf"(?<![\w$£€'])(?:'?(?P<decade>{_CENTURY}\d0)|"
    r"(?:'|(?<=\bthe )|(?<=\b[Hh]is )|(?<=\b[Hh]er )|(?<=\b[Mm]y )|(?<=\b[Mm]id-)|"
    r"(?<=\btheir )|(?<=\bearly )|(?<=\blate ))(?P<short>[1-9]0))'?s(?!\w)"
)
_SHORT_YEAR = re.compile(r"(?<![\w'])'(?P<year>\d\d)(?![\w'\"])")
_DIGIT_AND_S = re.compile(r"\d0'?s")
_FOUR_DIGITS = re.compile(r"\d\d\d\d")
_ERA = re.compile(rf"{START}(?P<year>\d{{1,4}}) ?(?P<era>BCE|BC|CE|AD)\b|\b(?P<first>AD) (?P<then>\d{{1,4}})(?!\w)")

# Four digits count something where a plural follows ("1500 users"), unless a word before says that they are a year.
_YEAR_BEFORE = re.compile(
    r"\b(?:[Ii]n|[Ss]ince|[Bb]y|[Uu]ntil|[Tt]ill?|[Ff]rom|[Dd]uring|[Oo]f|[Ee]arly|[Ll]ate|[Mm]id|[Tt]he|[Yy]ear) $"
)
_COUNTED = re.compile(r"[ -](?P<counted>[a-z]{2,30}s)\b")
_NOT_COUNTED = frozenset(
    [
        "was",
        "has",
        "does",
        "is",
        "its",
        "as",
        "this",
        "his",
        "us",
        "less",
        "across",
        "always",
        "perhaps",
        "sees",
        "seems",
        "means",
        "marks",
    ]
)


def _read_year(match: re.Match[str], dialect: Dialect) -> str | None:
    text = match.string
    following = _COUNTED.match(text, match.end())
    counts = following and not match["last"] and following["counted"] not in _NOT_COUNTED
    if (counts or match["year"].startswith("10")) and not _YEAR_BEFORE.search(text, match.start() - 8, match.start()):
        return None
    said = ("circa " if match["circa"] else "") + dialect.year(int(match["year"]))
    if last := match["last"]:
        said += " to " + (dialect.year(int(last)) if len(last) == 4 else _two_digits(last, dialect))
    return said


def _two_digits(year: str, dialect: Dialect) -> str:
    return f"oh {dialect.cardinal(int(year))}" if year[0] == "0" else dialect.cardinal(int(year))


def _read_decade(match: re.Match[str], dialect: Dialect) -> str:
    return dialect.decade(int(match["decade"] or match["short"]))


def _read_short_year(match: re.Match[str], dialect: Dialect) -> str:
    return _two_digits(match["year"], dialect)


def _read_era(match: re.Match[str], dialect: Dialect) -> Said:
    if match["first"]:
        return [dialect.spell(match["first"]), dialect.year(int(match["then"]))]
    return [dialect.year(int(match["year"])), dialect.spell(match["era"])]


RULES: tuple[Rule[Dialect], ...] = (
    Rule("era", _ERA, _read_era, needs=("BC", "CE", "AD")),
    Rule("decade", _DECADE, _read_decade, needs_match=_DIGIT_AND_S),
    Rule("short year", _SHORT_YEAR, _read_short_year, needs=("'",)),
    Rule("year", _YEAR, _read_year, needs_match=_FOUR_DIGITS),
)
