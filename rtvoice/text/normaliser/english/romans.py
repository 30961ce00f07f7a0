"""Roman numerals, where they are numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtvoice.text.normaliser.rule import Part, Rule

if TYPE_CHECKING:
    from rtvoice.text.normaliser.english.dialect import Dialect

# What parts of works, wars and products are numbered by: "Part III", "World War II".
_NUMBERED_WORDS = """
    mk part chapter act scene volume vol book section article appendix phase type class level stage tier title
    grade figure table season episode round unit lesson module category schedule mark war bowl fantasy gen
    generation apollo saturn rocky rambo olympiad canto psalm division group step area zone symphony sonata
    concerto opus quest trek wars warcraft starcraft civilization hearts evil souls kombat diablo
"""
# Names of those who are counted: "Henry VIII" is the eighth.
_REGNAL_NAMES = """
    Henry Edward Richard George William James Charles Elizabeth Mary Louis Napoleon Francis Philip Ferdinand
    Frederick Wilhelm Friedrich Otto Leopold Maximilian Joseph Nicholas Alexander Peter Catherine Ivan Pius Paul
    Benedict Gregory Innocent Leo Clement Urban Julius Boniface Sixtus Adrian Ramses Ramesses Thutmose Ptolemy
    Cleopatra Darius Xerxes Mehmed Suleiman Murad Selim Christian Gustav Carl Karl Olaf Haakon Harald Margrethe
    Juan Alfonso Isabella Umberto Victor Emmanuel Pedro Malcolm Robert David Kenneth Stephen John Baldwin
    Constantine Theodosius Justinian Bohemond Casimir Sigismund Albert Baudouin Rainier Farouk Hussein Abdullah
    Mohammed Rama Tutankhamun Amenhotep Conrad
"""
_NUMBERED = frozenset(_NUMBERED_WORDS.split())
_REGNAL = frozenset(_REGNAL_NAMES.split())
# More often something else, unless the word before says that things are numbered.
_RATHER_LETTERS = frozenset(
    ("I", "V", "X", "L", "C", "CC", "CV", "CI", "CL", "LI", "XL", "XX", "XXX", "IV", "LX", "XC")
)

_ONE_TO_399 = re.compile(r"C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}

_NUMERAL = re.compile(r"[ -](?P<roman>[IVXLC]{1,9})(?!\w|[.]\w|-\w)")
_WORD_BEFORE = re.compile(r"(?<![A-Za-z])[A-Za-z]{2,20}\Z")
_INITIAL_BEHIND = re.compile(r"\. [A-Z]")
_RULER = re.compile(r"(?:King|Queen|Pope|Emperor|Empress|Tsar|Czar|Sultan|Prince|Kaiser|Shah) (?:\w{1,12} )?\Z")
_CENTURY = re.compile(r"(?<!\w)(?P<roman>[IVXLC]{1,9})(?:th)?(?= (?:[Cc]entur|[Oo]lympi))")
_SMALL = re.compile(r"\((?P<roman>ii|iii|iv|vi|vii|viii|ix|xi|xii)\)")
_SEVERAL = re.compile(
    r"\b(?P<before>Parts|Chapters|Acts|Volumes|Books|Sections|Articles|Types|Phases) (?P<first>[IVXLC]{1,9})"
    r"(?P<between> ?[-–] ?| and | to | or )(?P<second>[IVXLC]{1,9})\b"
)


def value(numeral: str) -> int:
    """`"XIV"` -> 14; 0 if it is no numeral from 1 to 399."""
    if not _ONE_TO_399.fullmatch(numeral):
        return 0
    values = [_VALUES[c] for c in numeral]
    return sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))


def _read(match: re.Match[str], dialect: Dialect) -> tuple[Part, ...] | None:
    text, start, roman = match.string, match.start(), match["roman"]
    found = _WORD_BEFORE.search(text, max(0, start - 21), start)
    number = value(roman)
    if not (found and number) or (len(roman) == 1 and _INITIAL_BEHIND.match(text, match.end())):
        return None  # nothing is numbered, or it is an initial
    before = found[0]
    if roman == "I" and before.islower():
        return None  # "in the part I read"
    if before.lower() in _NUMBERED:
        said = dialect.cardinal(number)
    elif before in _REGNAL and (
        len(roman) > 1 or roman == "V" or _RULER.search(text, max(0, start - 40), found.start())
    ):
        said = f"the {dialect.ordinal(number)}"
    elif before[0].islower() or len(before) < 3 or roman in _RATHER_LETTERS:
        return None
    else:
        said = dialect.cardinal(number)
    return (Part(0, len(match[0]), f" {said}"),)


def _read_century(match: re.Match[str], dialect: Dialect) -> str | None:
    number = value(match["roman"])
    return dialect.ordinal(number) if number else None


def _read_several(match: re.Match[str], dialect: Dialect) -> tuple[Part, ...] | None:
    first, second = value(match["first"]), value(match["second"])
    if not (first and second):
        return None
    between = match["between"] if match["between"].strip().isalpha() else " to "
    said = f"{dialect.cardinal(first)}{between}{dialect.cardinal(second)}"
    return (Part(match.start("first") - match.start(), len(match[0]), said),)


RULES: tuple[Rule[Dialect], ...] = (
    Rule(
        "Roman numerals",
        _SEVERAL,
        _read_several,
        needs=("Parts", "Chapters", "Acts", "Volumes", "Books", "Sections", "Articles", "Types", "Phases"),
    ),
    Rule("small Roman numeral", _SMALL, lambda match, dialect: f"({dialect.cardinal(value(match['roman'].upper()))})"),
    Rule("Roman century", _CENTURY, _read_century, needs=("entur", "lympi")),
    Rule("Roman numeral", _NUMERAL, _read, needs=("I", "V", "X", "L", "C")),
)
