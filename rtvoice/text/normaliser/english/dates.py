"""Dates: in figures and with the month in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtvoice.text.normaliser.english.written import DASH, NOT_MORE, START
from rtvoice.text.normaliser.rule import Part, Rule

if TYPE_CHECKING:
    from rtvoice.text.normaliser.english.dialect import Dialect

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_MONTH_START = re.compile("Jan|Feb|Ma[ry]|Apr|Ju[nl]|Aug|Sep|Oct|Nov|Dec")
_MONTH_NUMBERS = {month[:3]: number for number, month in enumerate(MONTHS, 1)}
_MONTH = rf"(?P<month>{'|'.join(MONTHS)}|(?:Sept?|{'|'.join(m[:3] for m in MONTHS if m != 'May')})(?:\b|\.)(?!\w))"
_DAY = rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:[ ]?{DASH}[ ]?(?P<last>\d{{1,2}})(?:st|nd|rd|th)?)?(?![\d:]|[.,]\d)"
_YEAR = rf"(?P<year>\d{{4}}){NOT_MORE}(?![%°])"

# Ranges between what is more than a number: "Jan 5–Feb 10", "the 1980s–1990s", "noon–3".
_RANGE = re.compile(
    rf"(?:\d(?:st|nd|rd|th)?(?P<dash>[ ]?{DASH}[ ]?)(?=(?:{'|'.join(m[:3] for m in MONTHS)})[a-z]{{0,6}}\.? \d)"
    rf"|(?:\d0'?s|\b[Nn]oon|\b[Mm]idnight)(?P<dash_2>[ ]?{DASH}[ ]?)(?='?\d))"
)
_ISO = re.compile(
    rf"{START}(?P<year>\d{{4}})(?P<between>[-/.‑])(?P<month>0[1-9]|1[0-2])(?P=between)(?P<day>0[1-9]|[12]\d|3[01])"
    r"(?:[T ](?=\d\d:\d\d)|(?![\w/-]))"
)
_MONTH_IN_FIGURES = re.compile(
    rf"{START}(?:(?P<year>1\d{{3}}|20\d\d)-(?P<month>0[1-9]|1[0-2])|(?P<month_first>0[1-9]|1[0-2])/(?P<year_last>1\d{{3}}|20\d\d))"
    r"(?![\w/-]|[.:]\d)"
)
_NUMERIC = re.compile(
    rf"{START}(?P<first>\d{{1,2}})(?P<between>[/.‑-])(?P<second>\d{{1,2}})(?P=between)(?P<year>\d{{4}}|\d\d){NOT_MORE}"
    r"(?!-\d)"
)
_DAY_IN_FIGURES = re.compile(
    r"(?<![\w/.,-])(?:(?P<said>[Oo]n|[Bb]y|[Uu]ntil|[Bb]efore|[Aa]fter|[Ss]ince|[Dd]ue) )?"
    rf"(?P<first>\d{{1,2}})/(?P<second>\d{{1,2}}){NOT_MORE}"
)
_MONTH_DAY = re.compile(rf"\b{_MONTH} (?:the )?{_DAY}(?:,? {_YEAR})?")
_DAY_MONTH = re.compile(rf"{START}(?P<the>the )?{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?")
_MONTH_YEAR = re.compile(rf"\b{_MONTH},? {_YEAR}")
_WEEKDAYS = {
    "Mon": "Monday", "Tue": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Fri": "Friday", "Sat": "Saturday",
    "Sun": "Sunday",
}  # fmt: skip
_WEEKDAY_NAME = r"(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)"
_MONTH_NAME = f"(?:{'|'.join(month[:3] for month in MONTHS)})"
_WEEKDAY = re.compile(
    rf"\b(?P<day>{_WEEKDAY_NAME})(?:\.(?= ?[\dA-Z])|(?!\w)(?=,? (?:the )?(?:\d|{_MONTH_NAME}))"
    rf"|\.?(?= ?{DASH} ?{_WEEKDAY_NAME}\b))"
)
_WEEKDAY_RANGE = re.compile(
    rf"\b(?:{'|'.join(_WEEKDAYS.values())})(?P<dash> ?{DASH} ?)"
    rf"(?P<last>{_WEEKDAY_NAME}(?:\.|\b)|{'|'.join(_WEEKDAYS.values())})"
)


def _date(day: str, month: int, year: str, dialect: Dialect, *, day_first: bool) -> str:
    said = f"the {day} of {MONTHS[month - 1]}" if day_first else f"{MONTHS[month - 1]} {day}"
    if year:
        said += f"{'' if day_first else ','} {dialect.year(int(year))}"
    return said


def _read_range(match: re.Match[str], _: Dialect) -> tuple[Part, ...]:
    at, to = (place - match.start() for place in match.span("dash" if match["dash"] else "dash_2"))
    return (Part(at, to, " to "),)


def _read_iso(match: re.Match[str], dialect: Dialect) -> str:
    day = dialect.ordinal(int(match["day"]))
    said = _date(day, int(match["month"]), match["year"], dialect, day_first=dialect.british)
    return said + (", " if match[0][-1] in "T " else "")


def _read_month_in_figures(match: re.Match[str], dialect: Dialect) -> str:
    month, year = match["month"] or match["month_first"], match["year"] or match["year_last"]
    return f"{MONTHS[int(month) - 1]} {dialect.year(int(year))}"


def _read_numeric(match: re.Match[str], dialect: Dialect) -> str | None:
    first, second, year = int(match["first"]), int(match["second"]), match["year"]
    if match["between"] == "." and len(year) == 2 and first < 13 and second < 13:
        return None  # rather a version or a section
    # With dots it is the order of continental Europe; else a month over 12 shows which way round it is.
    day_first = dialect.british or match["between"] == "."
    day, month = (first, second) if day_first else (second, first)
    if month > 12:
        day, month = month, day
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    if len(year) == 2:
        year = ("20" if int(year) < 70 else "19") + year
    return _date(dialect.ordinal(day), month, year, dialect, day_first=dialect.british)


def _read_day_in_figures(match: re.Match[str], dialect: Dialect) -> tuple[Part, ...] | None:
    """Without a year it is a date where a word in front says so, or where a 0 in front of a figure does."""
    first, second = match["first"], match["second"]
    if not (match["said"] or first.startswith("0") or second.startswith("0")):
        return None
    day, month = (int(first), int(second)) if dialect.british or int(first) > 12 else (int(second), int(first))
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    said = _date(dialect.ordinal(day), month, "", dialect, day_first=dialect.british)
    return (Part(match.start("first") - match.start(), len(match[0]), said),)


def _days(match: re.Match[str], dialect: Dialect) -> str | None:
    days = [int(match[name]) for name in ("day", "last") if match[name]]
    return " to ".join(map(dialect.ordinal, days)) if all(1 <= day <= 31 for day in days) else None


def _read_month_day(match: re.Match[str], dialect: Dialect) -> str | None:
    days = _days(match, dialect)
    if days is None:
        return None
    if dialect.british:
        days = "the " + days
    return _date(days, _MONTH_NUMBERS[match["month"][:3]], match["year"] or "", dialect, day_first=False)


def _read_day_month(match: re.Match[str], dialect: Dialect) -> str | None:
    days = _days(match, dialect)
    if days is None:
        return None
    return _date(days, _MONTH_NUMBERS[match["month"][:3]], match["year"] or "", dialect, day_first=True)


def _read_month_year(match: re.Match[str], dialect: Dialect) -> str:
    return f"{MONTHS[_MONTH_NUMBERS[match['month'][:3]] - 1]} {dialect.year(int(match['year']))}"


def _read_weekday(match: re.Match[str], _: Dialect) -> str:
    return _WEEKDAYS[match["day"][:3]]


def _read_weekday_range(match: re.Match[str], _: Dialect) -> tuple[Part, ...]:
    start = match.start()
    dash, last = match.span("dash"), match.span("last")
    return (
        Part(dash[0] - start, dash[1] - start, " to "),
        Part(last[0] - start, last[1] - start, _WEEKDAYS[match["last"][:3]]),
    )


WEEKDAY_RULES: tuple[Rule[Dialect], ...] = (
    Rule("weekday", _WEEKDAY, _read_weekday, needs=("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")),
    Rule("weekdays", _WEEKDAY_RANGE, _read_weekday_range, needs=("day",)),
)

RULES: tuple[Rule[Dialect], ...] = (
    Rule("range of dates", _RANGE, _read_range, needs=("-", "–", "—", "‑")),
    Rule("date, year first", _ISO, _read_iso, needs=("-", "/", ".", "‑")),
    Rule("date in figures", _NUMERIC, _read_numeric, needs=("/", ".", "-", "‑")),
    Rule("day in figures", _DAY_IN_FIGURES, _read_day_in_figures, needs=("/",)),
    Rule("month in figures", _MONTH_IN_FIGURES, _read_month_in_figures, needs=("-", "/")),
    Rule("month and day", _MONTH_DAY, _read_month_day, needs_match=_MONTH_START),
    Rule("day and month", _DAY_MONTH, _read_day_month, needs_match=_MONTH_START),
    Rule("month and year", _MONTH_YEAR, _read_month_year, needs_match=_MONTH_START),
)
