"""Quantities without a unit: fractions, ranges, scores, ordinals, powers, and plain numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtvoice.text.normaliser.english.dialect import plural
from rtvoice.text.normaliser.english.measures import read_fraction
from rtvoice.text.normaliser.english.written import DASH, INSIDE, INTEGER, NUMBER, START
from rtvoice.text.normaliser.rule import Part, Rule, Said

if TYPE_CHECKING:
    from rtvoice.text.normaliser.english.dialect import Dialect

_SET = {
    "24/7/365": "twenty four seven three sixty five",
    "24/7": "twenty four seven",
    "9/11": "nine eleven",
    "50/50": "fifty fifty",
    "50-50": "fifty fifty",
    "20/20": "twenty twenty",
}
_SET_PHRASE = re.compile(rf"{START}(?P<phrase>{'|'.join(_SET)})(?!\w|/|[.,]\d)")
_OUT_OF = re.compile(
    rf"{START}(?:(?P<got>\d{{1,3}}(?:\.\d)?)/(?P<of>5|10|20|100)(?= stars?\b| points?\b)"
    r"|(?P<full>10/10|5/5|\d\.\d/\d{1,3}))(?!\w|/|[.,]\d)"
)
_FRACTION = re.compile(
    rf"{START}(?:(?P<whole>\d{{1,4}})[ -])?(?P<top>\d{{1,9}})/(?P<bottom>\d{{1,9}})(?:ths?|rds?|nds?)?(?!\w|/|[.,]\d)"
)
_BOTTOMS = frozenset((*range(2, 11), 12, 15, 16, 20, 25, 32, 50, 64, 100, 1000))
_SCORE = re.compile(
    r"\b(?:[Ww][io]n|[Ll]os[te]|[Bb]eat|[Dd]rew|[Ll]ea?ds?|[Ss]cored?|[Dd]efeated|[Tt]ied|[Tt]rail(?:s|ed)|"
    r"[Ss]core (?:was|is)|[Ff]inished|[Ee]nded)\b(?: (?:by|it|at|them|us|[A-Z]\w{1,20})){0,2} "
    rf"(?P<ours>\d{{1,3}})(?P<dash>{DASH}|:)(?P<theirs>\d{{1,3}})"
    r"(?![\w%]|[.,:-]\d)"
)
_RANGE = re.compile(rf"{START}(?<!{DASH}){NUMBER}(?P<dash>{DASH}|[ ]?[–—][ ]?)(?={NUMBER}(?!{DASH}?\d))")
_CODE_RANGE = re.compile(r"(?<=\b[A-Z]\d)(?P<dash>[-–])(?=[A-Z]\d)")
_CROSS = re.compile(rf"{INSIDE}{NUMBER}(?P<cross>[ ]?[x×X][ ]?)(?=\d)")
_RATIO = re.compile(rf"{START}(?P<first>{NUMBER}):(?P<second>{NUMBER})(?!\w|:\d)")
_TIMES = re.compile(rf"{START}(?P<number>{NUMBER})[x×](?!\w| ?[-+=^)*/])")
_MINUTES = re.compile(rf"{START}(?P<minutes>\d{{2,3}}):(?P<seconds>[0-5]\d)(?!\w|[.:]\d)")
_ORDINAL = re.compile(rf"{START}(?P<number>{INTEGER})(?:st|nd|rd|th)(?P<many>s?)(?!\w)")
_SCALED = re.compile(rf"{START}(?P<number>{NUMBER})(?P<scale>[kKM]|bn|mn|B(?! [A-Z]))(?!\w)")
# Quick looks that most sentences fail, before the patterns that take time.
_EXPONENT = re.compile(r"\d[eE][-+−\d]")
_ENDING = re.compile(r"\d(?:st|nd|rd|th)")
_LETTER = re.compile(r"\d[kKMBbm]")
_SCALES = {"k": "thousand", "K": "thousand", "M": "million", "B": "billion", "bn": "billion", "mn": "million"}
_NAMES_IN_K = frozenset(("1", "2", "4", "5", "8", "10"))  # races and screens are called so: "a 10K", "4K video"
_PLURAL = re.compile(rf"{START}(?P<number>\d{{1,4}})'?s(?!\w)")
_NUMBERED = re.compile(r"(?<![\w&])(?:#|№ ?|[Nn]o\. ?|(?P<many>[Nn]os\. ?))(?=\d)")
_SCIENTIFIC = re.compile(rf"{START}(?P<number>{NUMBER})[eE](?P<power>[-+−]?\d{{1,4}})(?!\w)")
_POWER = re.compile(r"(?<=[\w)])\^\(?(?P<power>[-−+]?\d{1,9})\)?")
_NEGATIVE = re.compile(r"(?:(?<=[\s(=<>≤≥,:\"“\[/^×÷*])|(?<![\s\S]))[-−–](?=\.?\d)")
_MINUS = re.compile(r"(?:(?<=\d)|(?<=\))|(?<=\b[A-Za-z]))(?: [-−] (?=[\d(]|[A-Za-z]\b)|−(?=[\d(]))")
_DIVIDED = re.compile(r"(?<=\d) / (?=\d)")
_STAR = re.compile(r"(?<=\d) ?\* ?(?=\d)")
_UNDERSCORED = re.compile(r"(?<=\d)_(?=\d{3}(?!\d))")
_NUMBER = re.compile(rf"{INSIDE}{NUMBER}")
_REST = re.compile(r"\d++")


def _read_set_phrase(match: re.Match[str], _: Dialect) -> str:
    return _SET[match["phrase"]]


def _read_out_of(match: re.Match[str], dialect: Dialect) -> str:
    got, of = (match["full"] or f"{match['got']}/{match['of']}").split("/")
    return f"{dialect.number(got)} out of {dialect.number(of)}"


def _read_fraction(match: re.Match[str], dialect: Dialect) -> str:
    top, bottom, whole = int(match["top"]), int(match["bottom"]), match["whole"]
    if bottom not in _BOTTOMS or top > 99 or (whole and top >= bottom):
        said = f"{dialect.integer(match['top'])} over {dialect.integer(match['bottom'])}"
        return f"{dialect.integer(whole)} {said}" if whole else said
    said = read_fraction(top, bottom, dialect)
    if not whole:
        return said
    return f"{dialect.integer(whole)} and {'a half' if (top, bottom) == (1, 2) else said}"


def _between(match: re.Match[str], group: str, said: str) -> tuple[Part, ...]:
    """What is said for one group, the rest left for later rules."""
    return (Part(match.start(group) - match.start(), match.end(group) - match.start(), said),)


def _read_score(match: re.Match[str], dialect: Dialect) -> tuple[Part, ...]:
    start = match.start("ours") - match.start()
    goals = [dialect.integer(match[side]) for side in ("ours", "theirs")]
    if dialect.british:
        goals = ["nil" if goal == "zero" else goal for goal in goals]
    said = goals if dialect.british else [goals[0], "to", goals[1]]
    return (Part(start, match.end() - match.start(), " ".join(said)),)


def _read_range(match: re.Match[str], _: Dialect) -> tuple[Part, ...]:
    return _between(match, "dash", " to ")


_POWER_OF_TEN = re.compile(r"10[\^⁰¹²³⁴-⁹⁻]")
_DIMENSION = re.compile(
    r"[\d.,]*(?:[ ]?[x×X][ ]?[\d.,]+){0,3} ?(?:[cmk]?m|in|ft|px|pixels|feet|foot|inch(?:es)?|meters?)\b"
)


def _read_cross(match: re.Match[str], _: Dialect) -> tuple[Part, ...]:
    """Say "by" between dimensions, "times" in arithmetic."""
    by = not _POWER_OF_TEN.match(match.string, match.end()) and (
        " " not in match["cross"] or _DIMENSION.match(match.string, match.end(), match.end() + 60)
    )
    return _between(match, "cross", " by " if by else " times ")


def _read_minutes(match: re.Match[str], dialect: Dialect) -> str:
    """What is written like a time but is none: "25:30" as a length."""
    minutes, seconds = int(match["minutes"]), int(match["seconds"])
    said = f"{dialect.cardinal(minutes)} minutes"
    return f"{said} {dialect.cardinal(seconds)} second{'' if seconds == 1 else 's'}" if seconds else said


def _read_ratio(match: re.Match[str], dialect: Dialect) -> str:
    return f"{dialect.number(match['first'])} to {dialect.number(match['second'])}"


def _read_times(match: re.Match[str], dialect: Dialect) -> str:
    return f"{dialect.number(match['number'])} times"


def _read_ordinal(match: re.Match[str], dialect: Dialect) -> str:
    digits = match["number"].replace(",", "")
    if len(digits) > 15:
        return dialect.digits(digits) + "th"
    return dialect.ordinal(int(digits)) + match["many"]


def _read_scaled(match: re.Match[str], dialect: Dialect) -> Said:
    number, scale = match["number"], match["scale"]
    if scale == "K" and number in _NAMES_IN_K:
        return [dialect.number(number), dialect.spell("K")]
    return f"{dialect.number(number)} {_SCALES[scale]}"


def _read_plural(match: re.Match[str], dialect: Dialect) -> str:
    number = match["number"]
    return plural(dialect.pairs(int(number)) if len(number) == 3 and number[0] != "0" else dialect.integer(number))


def _read_numbered(match: re.Match[str], _: Dialect) -> str:
    return "numbers " if match["many"] else "number "


def _read_scientific(match: re.Match[str], dialect: Dialect) -> str:
    return f"{dialect.number(match['number'])} times ten to the {dialect.number(match['power'])}"


def _read_power(match: re.Match[str], dialect: Dialect) -> str:
    power = match["power"]
    return {"2": " squared", "3": " cubed"}.get(power) or f" to the power of {dialect.number(power)}"


def _read_number(match: re.Match[str], dialect: Dialect) -> str:
    text, start, end = match.string, match.start(), match.end()
    before = " " if start and text[start - 1].isalpha() else ""
    return before + dialect.number(match[0]) + (" " if text[end : end + 1].isalpha() else "")


def _read_rest(match: re.Match[str], dialect: Dialect) -> str:
    return f" {dialect.integer(match[0])} "


EARLY_RULES: tuple[Rule[Dialect], ...] = (
    Rule("thousands apart", _UNDERSCORED, lambda _match, _dialect: ""),
    Rule("scientific notation", _SCIENTIFIC, _read_scientific, needs_match=_EXPONENT),
    Rule("by or times", _CROSS, _read_cross, needs=("x", "X", "×")),
)

RULES: tuple[Rule[Dialect], ...] = (
    Rule("set phrase", _SET_PHRASE, _read_set_phrase, needs=("/", "50-50")),
    Rule("out of", _OUT_OF, _read_out_of, needs=("/",)),
    Rule("fraction", _FRACTION, _read_fraction, needs=("/",)),
    Rule("score", _SCORE, _read_score, needs=("-", "–", "—", "‑", ":")),
    Rule("numbered", _NUMBERED, _read_numbered, needs=("#", "№", "o")),
    Rule("range", _RANGE, _read_range, needs=("-", "–", "—", "‑")),
    Rule("minutes and seconds", _MINUTES, _read_minutes, needs=(":",)),
    Rule("range", _CODE_RANGE, _read_range, needs=("-", "–")),
    Rule("ratio", _RATIO, _read_ratio, needs=(":",)),
    Rule("so many times", _TIMES, _read_times, needs=("x", "×")),
    Rule("ordinal", _ORDINAL, _read_ordinal, needs_match=_ENDING),
    Rule("thousands and millions", _SCALED, _read_scaled, needs_match=_LETTER),
    Rule("number in plural", _PLURAL, _read_plural, needs=("s",)),
    Rule("power", _POWER, _read_power, needs=("^",)),
    Rule("negative", _NEGATIVE, lambda _match, _dialect: "minus ", needs=("-", "−", "–")),
    Rule("times", _STAR, lambda _match, _dialect: " times ", needs=("*",)),
    Rule("divided by", _DIVIDED, lambda _match, _dialect: " divided by ", needs=(" / ",)),
    Rule("minus", _MINUS, lambda _match, _dialect: " minus ", needs=("-", "−")),
)

PLAIN_RULES: tuple[Rule[Dialect], ...] = (
    Rule("number", _NUMBER, _read_number),
    Rule("digits", _REST, _read_rest),
)
