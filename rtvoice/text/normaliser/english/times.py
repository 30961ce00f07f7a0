"""Times of day."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtvoice.text.normaliser.english.written import DASH, START
from rtvoice.text.normaliser.rule import Part, Rule, Said, Spelled

if TYPE_CHECKING:
    from rtvoice.text.normaliser.english.dialect import Dialect

_HALF = r"[ \u00a0]?(?P<half>[AaPp])(?:\.[ ]?[Mm]\.|[Mm])(?!\w)"
_RANGE = re.compile(
    rf"{START}(?<!:)\d{{1,2}}(?::[0-5]\d)?(?:[ ]?[AaPp]\.?[Mm]\.?)?(?P<dash>[ ]?{DASH}[ ]?)"
    r"(?=\d{1,2}(?::[0-5]\d|(?::[0-5]\d)?[ ]?[AaPp]\.?[Mm])(?!\w))"
)
_CLOCK = re.compile(
    rf"{START}(?P<hour>[01]?\d|2[0-4])(?P<point>[:.])(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.(?P<part>\d{{1,6}}))?)?"
    rf"(?:{_HALF})?(?:(?P<zulu>Z)(?!\w)|(?P<sign>[-−+])(?P<ahead>\d\d):(?P<minutes>\d\d))?(?!\w|[.,:/]\d)"
)
_LIKE_A_TIME = re.compile(r"\d[:.][0-5]\d")
_HOUR = re.compile(rf"{START}(?P<hour>1[0-2]|0?[1-9]){_HALF}")
# What shows that the stop of "p.m." ends the sentence as well: nothing behind it, or a capital that is no zone or day.
_SENTENCE_END = re.compile(
    r"[\"'”’)\]\s]*+(?:\Z|(?<= )"
    r"(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:Eastern|Central|Pacific|Mountain)\b)[A-Z](?:[a-z]|\b))"
)
_ZONE = re.compile(r"\b(?P<zone>UTC|GMT)(?P<sign>[-−+±])(?P<ahead>\d{1,2})(?::(?P<minutes>[0-5]\d))?(?!\w)")


def _read_range(match: re.Match[str], _: Dialect) -> tuple[Part, ...]:
    at, to = (place - match.start() for place in match.span("dash"))
    return (Part(at, to, " to "),)


def _read_clock(match: re.Match[str], dialect: Dialect) -> Said | None:
    hour, minute = int(match["hour"]), int(match["minute"])
    if match["point"] == "." and not match["half"]:
        return None  # 9.05 is a time only where something says so
    if match["second"] and (int(match["second"]) or match["part"]):
        said = [_hour_and_minute(hour, minute, dialect), "and", _seconds(match["second"], match["part"], dialect)]
    elif minute:
        said = [_hour_and_minute(hour, minute, dialect)]
    else:
        said = [dialect.cardinal(hour) if match["half"] else _full_hour(hour, dialect)]
    return [*said, *_half(match, dialect), *_zone(match, dialect)]


def _hour_and_minute(hour: int, minute: int, dialect: Dialect) -> str:
    if minute == 0:
        return f"{dialect.cardinal(hour)} hundred"
    return f"{dialect.cardinal(hour)} {'oh ' if minute < 10 else ''}{dialect.cardinal(minute)}"


def _full_hour(hour: int, dialect: Dialect) -> str:
    if hour in (0, 24):
        return "midnight"
    return f"{dialect.cardinal(hour)} hundred" if hour > 12 else f"{dialect.cardinal(hour)} o'clock"


def _seconds(second: str, part: str | None, dialect: Dialect) -> str:
    said = dialect.number(f"{int(second)}.{part}" if part else str(int(second)))
    return f"{said} second{'' if said == 'one' else 's'}"


def _half(match: re.Match[str], dialect: Dialect) -> list[str | Spelled]:
    """Letters "P M" or nothing; the stop of "p.m." stays where it ends the text as well."""
    if not match["half"]:
        return []
    ends = match.string[match.end("half") : match.end("half") + 1] == "." and _SENTENCE_END.match(
        match.string, match.end()
    )
    return [dialect.spell(match["half"] + "m"), "." if ends else ""]


def _zone(match: re.Match[str], dialect: Dialect) -> list[str | Spelled]:
    """Hours ahead of or behind UTC."""
    if match["zulu"]:
        return [dialect.spell("UTC")]
    if not match["sign"]:
        return []
    return ["plus" if match["sign"] == "+" else "minus", _ahead(match, dialect)]


def _ahead(match: re.Match[str], dialect: Dialect) -> str:
    minutes = int(match["minutes"] or 0)
    return dialect.cardinal(int(match["ahead"])) + (f" {dialect.cardinal(minutes)}" if minutes else "")


def _read_hour(match: re.Match[str], dialect: Dialect) -> Said:
    return [dialect.cardinal(int(match["hour"])), *_half(match, dialect)]


def _read_zone(match: re.Match[str], dialect: Dialect) -> Said:
    sign = {"+": "plus", "±": "plus or minus"}.get(match["sign"], "minus")
    return [dialect.spell(match["zone"]), sign, _ahead(match, dialect)]


RULES: tuple[Rule[Dialect], ...] = (
    Rule("time range", _RANGE, _read_range, needs=("-", "–", "—", "‑")),
    Rule("time zone", _ZONE, _read_zone, needs=("UTC", "GMT")),
    Rule("time", _CLOCK, _read_clock, needs_match=_LIKE_A_TIME),
    Rule("hour", _HOUR, _read_hour, needs=("m", "M")),
)
