"""Numbers that are names rather than quantities: telephones, versions, rooms, codes of letters and digits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtvoice.text.normaliser.english.written import START
from rtvoice.text.normaliser.rule import Part, Rule, Said, Spelled

if TYPE_CHECKING:
    from rtvoice.text.normaliser.english.dialect import Dialect

_JOINT = r"[-. \u00a0‑–]"
_PHONE = re.compile(
    rf"(?<![\w.+-])(?<!\d[ /])(?:"
    # +1 415-555-0132, 1-800-555-0199, 1-800-FLOWERS
    rf"(?:\+1|1){_JOINT}?\(?\d{{3}}\)?{_JOINT}?(?:\d{{3}}{_JOINT}\d{{4}}|[A-Z]{{4,7}})"
    rf"|\(\d{{3,5}}\) ?\d{{3,4}}{_JOINT}\d{{3,4}}"
    r"|\d{3}(?P<joint>[-.‑])\d{3}(?P=joint)\d{4}"
    r"|(?P<local>\d{3}[-‑]\d{4})"
    # +44 20 7946 0958, +4915112345678, 020 7946 0958
    r"|\+\d{1,3}(?:[ -]?\(0\))?(?:[ -]?\d{1,5}){2,6}"
    r"|0\d{2,4} \d{3,6}(?: \d{3,6}){0,2}"
    r")(?: ?(?:extension|ext\.?|x) ?\d{1,6})?(?!\w|[-.,]\d)"
)
# Quick looks that most sentences fail, before the patterns that take time.
_LIKE_A_TELEPHONE = re.compile(r"\d\d\d[-. )‑–A-Z]|\+\d")
_LIKE_A_VERSION = re.compile(r"\d\.\d|[vV]\.? ?\d")
_SPACE_INSIDE = re.compile(r"\d \d\d\d")
_LETTER_AT_DIGIT = re.compile(r"\d[A-Za-z]|[A-Za-z]\d")
_PHONE_BEFORE = re.compile(r"(?:[Cc]all|[Dd]ial|[Pp]hone|[Tt]el|[Tt]ext|[Nn]umber|[Ff]ax|\bat)\W{1,3}(?:\w{1,8}\W)?$")
_PHONE_PARTS = re.compile(
    r"(?P<digits>\d+)|(?P<letters>[A-Z]{4,})|(?P<extension> ?(?:extension|ext\.?|x) ?)|(?P<other>.)"
)
_GROUPED = re.compile(
    r"(?<![\w.,-])(?:\d{4}(?P<joint>[ -])(?:\d{4}(?P=joint)){1,4}\d{1,4}|\d{3}-\d{2}-\d{4})(?!\w|[-.,]\d)"
)
_BOOK = re.compile(r"\bISBN(?:-1[03])?:? (?P<number>\d[\d-]{8,16}[\dX])(?!\w)")
_NO_DATE = (
    r"(?!20\d\d\.(?:0[1-9]|1[0-2])\.(?:0[1-9]|[12]\d|3[01])(?![\d.]))(?!\d{1,2}\.\d{1,2}\.(?:19|20)\d\d(?!\.?\d))"
)
_VERSION = re.compile(
    rf"(?<![\w.])(?:(?P<v>[vV])(?:\.? ?)(?P<named>\d{{1,6}}(?:\.\d{{1,6}}){{0,8}})"
    rf"|{_NO_DATE}(?P<bare>\d{{1,6}}(?:\.\d{{1,6}}){{2,8}}))"
    r"(?:[-+.]?(?P<stage>alpha|beta|rc|dev|pre|post|preview|a|b)(?:[.-]?(?P<build>\d{1,6}))?)?(?!\w|\.\d)"
)
_SOFTWARE = re.compile(
    r"\b(?P<name>[Vv]ersion|[Rr]elease|Python|Node|Java|Ubuntu|Debian|Fedora|Django|Rails|PHP|Ruby|Go|Rust|Perl|iOS|Android|"
    r"macOS|Linux|Chrome|Firefox|Windows|Kubernetes|Postgres|PostgreSQL|MySQL|Angular|React|Vue) "
    r"(?P<number>\d{1,4}\.\d{2})(?!\w|[.,]\d|%)"
)
_SPACED = re.compile(
    r"(?<![\w.,+-])(?<!\d )[1-9]\d{0,2}(?:(?: \d{3}){0,3}(?= 000(?!\d))|(?= \d{3} \d{3}))(?: \d{3}){1,5}+(?!\w|[., ]\d)"
)
_NAMED = re.compile(
    r"\b(?P<name>[Rr]oom|[Ff]light|[Rr]oute|[Hh]ighway|[Ii]nterstate|Boeing|Airbus|[Ss]uite|[Aa]partment|"
    r"[Aa]rea code|Error|HTTP|[Ss]tatus) (?P<number>[1-9]\d{2,3})(?!\w|[.,:-]\d)"
)
_POSTAL = re.compile(
    r"(?:\b(?:[Zz]ip(?: [Cc]ode)?|ZIP(?: [Cc]ode)?|PIN(?: [Cc]ode)?|[Pp]asscode|[Pp]assword|[Cc]ode)(?: is|:)? "
    r"(?P<code>\d{4,8})|(?<=\b[A-Z]{2} )(?P<zip>\d{5}(?:-\d{4})?))(?!\w|[.,:-]\d|%)"
)
_FOUR_DIGITS = re.compile(r"\d\d\d\d")
_EMERGENCY = re.compile(rf"{START}(?:911|999|112|411)(?![\w%°]|[.,:/-]\d| [a-z]{{2,30}}s\b)")
_HEXADECIMAL = re.compile(r"(?<!\w)0x(?P<digits>[\dA-Fa-f]{1,16})(?!\w)")
_CODE = re.compile(r"(?<![^\W_])(?<!\d[.,])(?=[A-Za-z]*+\d)(?=\d*+[A-Za-z])(?P<code>[A-Za-z\d]{2,40}+)(?![^\W_]|\.\d)")
_RUNS = re.compile(r"[A-Za-z]+|\d+")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_JOINED = re.compile(r"(?:(?<=[^\W\d_])|(?<=\d))[-‑](?=[^\W_])(?:(?<=\d.)|(?=\d))")


def _read_phone(match: re.Match[str], dialect: Dialect) -> tuple[Part, ...] | None:
    text, start = match.string, match.start()
    if match["local"] and not (match[0].startswith("555") or _PHONE_BEFORE.search(text[max(0, start - 20) : start])):
        return None  # rather a range
    parts: list[Part] = []
    for part in _PHONE_PARTS.finditer(match[0]):
        if part["digits"]:
            said = "eight hundred" if part[0] == "800" else dialect.digits(part[0])
        elif part["letters"]:
            said = part[0].capitalize()
        elif part["extension"]:
            said = ", extension "
        elif part[0] == "+":
            said = "plus "
        else:
            said = ", " if parts and parts[-1].said != ", " and parts[-1].said else ""
        parts.append(Part(part.start(), part.end(), said))
    return tuple(parts)


def _read_grouped(match: re.Match[str], dialect: Dialect) -> str:
    return ", ".join(dialect.digits(group) for group in re.split("[ -]", match[0]))


def _read_book(match: re.Match[str], dialect: Dialect) -> tuple[Part, ...]:
    groups = [dialect.digits(group) + (" X" if group[-1] == "X" else "") for group in match["number"].split("-")]
    return (Part(match.start("number") - match.start(), len(match[0]), ", ".join(groups)),)


def _read_version(match: re.Match[str], dialect: Dialect) -> Said:
    numbers = (match["named"] or match["bare"]).split(".")
    if match["bare"] and len(numbers) == 4 and all(int(number) < 256 for number in numbers):
        return " dot ".join(map(dialect.digits, numbers))  # an Internet address
    said: list[str | Spelled] = ["version"] if match["v"] else []
    said.append(" point ".join(map(dialect.integer, numbers)))
    if stage := match["stage"]:
        said.append(dialect.spell(stage) if stage in ("rc", "a", "b") else stage)
    if match["build"]:
        said.append(dialect.integer(match["build"]))
    return said


def _read_spaced(match: re.Match[str], _: Dialect) -> tuple[Part, ...]:
    """Spaces between thousands go; the number is left to the rules behind, which see its unit."""
    return tuple(Part(i, i + 1, "") for i, c in enumerate(match[0]) if c == " ")


def _read_software(match: re.Match[str], dialect: Dialect) -> str:
    return f"{match['name']} {' point '.join(map(dialect.integer, match['number'].split('.')))}"


def _read_named(match: re.Match[str], dialect: Dialect) -> str:
    return f"{match['name']} {dialect.pairs(int(match['number']))}"


def _read_postal(match: re.Match[str], dialect: Dialect) -> tuple[Part, ...]:
    digits = match["code"] or match["zip"]
    said = " dash ".join(map(dialect.digits, digits.split("-")))
    return (Part(len(match[0]) - len(digits), len(match[0]), said),)


def _read_emergency(match: re.Match[str], dialect: Dialect) -> str:
    return dialect.digits(match[0])


def _read_hexadecimal(match: re.Match[str], dialect: Dialect) -> Said:
    return ["hex", *(dialect.spell(c) if c.isalpha() else dialect.digits(c) for c in match["digits"])]


def _read_code(match: re.Match[str], dialect: Dialect) -> tuple[Part, ...]:
    """`MP3`, `H2O`, `R2D2`, `x86`: short runs of letters are spelled, longer ones are words."""
    runs = list(_RUNS.finditer(match["code"]))
    one_by_one = len(runs) > 4  # a key or a hash
    parts = []
    for run in runs:
        said: list[str | Spelled]
        if run[0].isdecimal():
            said = [dialect.digits(run[0]) if one_by_one else _number(run[0], dialect)]
        elif one_by_one or (len(run[0]) <= 3 and (run[0].isupper() or not _VOWEL.search(run[0]) or len(run[0]) == 1)):
            said = [dialect.spell(run[0])]
        else:
            said = [run[0]]
        if run.start():
            parts.append(Part(run.start(), run.start(), " "))
        parts.append(Part(run.start(), run.end(), said))
    return tuple(parts)


def _number(digits: str, dialect: Dialect) -> str:
    if len(digits) == 3 and digits[0] != "0":
        return dialect.pairs(int(digits))
    return dialect.year(int(digits)) if len(digits) == 4 and "1010" <= digits < "2100" else dialect.integer(digits)


EARLY_RULES: tuple[Rule[Dialect], ...] = (
    Rule("book number", _BOOK, _read_book, needs=("ISBN",)),
    Rule("telephone", _PHONE, _read_phone, needs_match=_LIKE_A_TELEPHONE),
    Rule("postal code", _POSTAL, _read_postal, needs_match=_FOUR_DIGITS),
    Rule("groups of digits", _GROUPED, _read_grouped),
    Rule("version", _VERSION, _read_version, needs_match=_LIKE_A_VERSION),
    Rule("version of a program", _SOFTWARE, _read_software, needs_match=_LIKE_A_VERSION),
    Rule("thousands apart", _SPACED, _read_spaced, needs_match=_SPACE_INSIDE),
    Rule("hexadecimal", _HEXADECIMAL, _read_hexadecimal, needs=("0x",)),
)
"""Before dates and quantities, which would take them apart."""

LATE_RULES: tuple[Rule[Dialect], ...] = (
    Rule(
        "room or flight",
        _NAMED,
        _read_named,
        needs=(
            "oom",
            "light",
            "oute",
            "ighway",
            "nterstate",
            "oeing",
            "irbus",
            "uite",
            "partment",
            "rea code",
            "Error",
            "HTTP",
            "tatus",
        ),
    ),
    Rule("emergency number", _EMERGENCY, _read_emergency, needs=("911", "999", "112", "411")),
    Rule("hyphen at a number", _JOINED, lambda _match, _dialect: " ", needs=("-", "‑")),
    Rule("letters and digits", _CODE, _read_code, needs_match=_LETTER_AT_DIGIT),
)
"""After them: they are what is left."""
