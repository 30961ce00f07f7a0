"""Titles, abbreviations, initials, and Roman numerals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtvoice.text.normaliser.english.written import DOT_WITHIN, one_of
from rtvoice.text.normaliser.rule import Rule, Said

if TYPE_CHECKING:
    from rtvoice.text.normaliser.english.dialect import Dialect

# In front of a name, with or without a stop.
_BEFORE_NAME = {
    "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz", "Dr": "Doctor", "Prof": "Professor", "Rev": "Reverend",
    "Gen": "General", "Col": "Colonel", "Maj": "Major", "Capt": "Captain", "Cpt": "Captain", "Cmdr": "Commander",
    "Lt": "Lieutenant", "Sgt": "Sergeant", "Cpl": "Corporal", "Adm": "Admiral", "Gov": "Governor", "Sen": "Senator",
    "Rep": "Representative", "Pres": "President", "Hon": "Honorable", "Amb": "Ambassador", "Supt": "Superintendent",
    "Insp": "Inspector", "Fr": "Father", "Messrs": "Messers", "Mt": "Mount", "Ft": "Fort", "St": "Saint",
    "Ste": "Sainte",
}  # fmt: skip
_BEHIND_NAME = {"Jr": "Junior", "Sr": "Senior", "Esq": "Esquire"}
_STREETS = {
    "St": "Street", "Ave": "Avenue", "Blvd": "Boulevard", "Rd": "Road", "Ln": "Lane", "Hwy": "Highway",
    "Pkwy": "Parkway", "Dr": "Drive", "Ct": "Court", "Sq": "Square", "Pl": "Place", "Ter": "Terrace",
}  # fmt: skip

# With their stop; without it they would be other words, or are none.
_ABBREVIATIONS = {
    "e.g.": "for example", "E.g.": "For example", "I.e.": "That is", "Etc.": "Et cetera", "e. g.": "for example",
    "eg.": "for example", "i.e.": "that is", "i. e.": "that is", "ie.": "that is", "etc.": "et cetera",
    "cf.": "compare", "viz.": "namely", "vs.": "versus", "v.s.": "versus", "et al.": "et al", "ca.": "circa",
    "approx.": "approximately", "est.": "established", "dept.": "department", "Dept.": "Department",
    "govt.": "government", "Inc.": "Incorporated", "Ltd.": "Limited", "Corp.": "Corporation", "Bros.": "Brothers",
    "Assn.": "Association", "Univ.": "University", "Co.": "Company", "Intl.": "International",
    "misc.": "miscellaneous", "max.": "maximum", "min.": "minimum", "avg.": "average", "temp.": "temperature",
    "tel.": "telephone", "Tel.": "Telephone", "ext.": "extension", "appt.": "appointment", "apt.": "apartment",
    "Apt.": "Apartment", "orig.": "originally", "incl.": "including", "excl.": "excluding", "esp.": "especially",
    "resp.": "respectively", "a.k.a.": "also known as", "c/o": "care of", "w/o": "without", "w/out": "without",
    "w/": "with",
    "b/c": "because", "n/a": "not applicable", "N/A": "not applicable", "P.S.": "P S", "No.": "number",
    "Mon.": "Monday", "Tue.": "Tuesday", "Jan.": "January", "Feb.": "February", "Aug.": "August",
    "Sept.": "September", "Sep.": "September", "Oct.": "October", "Nov.": "November", "Dec.": "December",
    "Tues.": "Tuesday", "Wed.": "Wednesday", "Thu.": "Thursday", "Thurs.": "Thursday", "Fri.": "Friday",
}  # fmt: skip
_ABBREVIATIONS.pop("No.")
# Without a stop as well.
_BARE = {
    "vs": "versus",
    "eg": "for example",
    "ie": "that is",
    "aka": "also known as",
    "approx": "approximately",
    "dept": "department",
    "govt": "government",
}

# In front of a number: "p. 12", "vol. 3".
_REFERENCES = {
    "p": "page", "pp": "pages", "pg": "page", "pgs": "pages", "vol": "volume", "vols": "volumes", "ch": "chapter",
    "chap": "chapter", "sec": "section", "sect": "section", "art": "article", "fig": "figure", "figs": "figures",
    "eq": "equation", "eqs": "equations", "ed": "edition", "ver": "version", "para": "paragraph", "ex": "example",
    "app": "appendix", "tab": "table", "ref": "reference", "refs": "references", "l": "line", "ll": "lines",
}  # fmt: skip

_TITLE = re.compile(
    rf"(?<![\w.])(?:(?P<title>{one_of(_BEFORE_NAME)})(?:\.|(?=[ ][A-Z]))(?=[ ]?(?:\"|“|\()?[A-Z])"
    r"|(?P<sure>Mrs?|Ms|Prof)\.(?=[ ]))"
)
_AFTER_NAME = re.compile(rf"(?<=\w)(?P<comma>,?) (?P<title>{one_of(_BEHIND_NAME)})(?P<stop>\.?)(?!\w)")
_STREET = re.compile(rf"(?<=[a-z\d]) (?P<street>{one_of(_STREETS)})(?P<stop>\.|(?=,|$|;|\)| (?:[a-z]|#)))(?!\w)")
_STREET_NAMED = re.compile(r"(?:\b[A-Z][a-z]+(?:'s)?|\d(?:st|nd|rd|th))$")
_ABBREVIATION = re.compile(rf"(?<![\w.])(?P<short>{one_of(_ABBREVIATIONS)})(?![\w])")
_WITHOUT_STOP = re.compile(rf"(?<![\w.@/-])(?P<short>{one_of(_BARE)})(?![\w.@/-])")
_REFERENCE = re.compile(rf"(?<![\w.])(?P<short>(?i:{one_of(_REFERENCES)}))\. ?(?=\d|[IVXLC]+\b)")
_STOP_AND_NUMBER = re.compile(r"\. ?[\dIVXLC]")
_AT_END = re.compile(r"[\"'”’)\]\s]*+\Z")
_NEW_SENTENCE = re.compile(r"[\"'”’)\]]* +[\"'“‘(]?[A-Z]")


def _stop(match: re.Match[str], *, before_capital: bool) -> str:
    """The stop of an abbreviation, where it also ends the sentence.

    Args:
        match: of the abbreviation with its stop.
        before_capital: whether a capital behind it shows the end of a sentence (not so behind "Jr.").
    """
    text, end = match.string, match.end()
    if not match[0].endswith("."):
        return ""
    return "." if _AT_END.match(text, end) or (before_capital and _NEW_SENTENCE.match(text, end)) else ""


def _read_title(match: re.Match[str], _: Dialect) -> str:
    return _BEFORE_NAME[match["title"] or match["sure"]]


def _read_after_name(match: re.Match[str], _: Dialect) -> str:
    return f" {_BEHIND_NAME[match['title']]}{_stop(match, before_capital=False)}"


def _read_street(match: re.Match[str], _: Dialect) -> str | None:
    if not _STREET_NAMED.search(match.string[max(0, match.start() - 20) : match.start()]):
        return None
    return f" {_STREETS[match['street']]}{_stop(match, before_capital=False)}"


def _read_abbreviation(match: re.Match[str], _: Dialect) -> str | None:
    short = match["short"]
    if short == "min." and match.string[max(0, match.start() - 2) : match.start() - 1].isdigit():
        return None  # minutes
    said = _ABBREVIATIONS[short]
    return said + _stop(match, before_capital=short == "etc.")


def _read_without_stop(match: re.Match[str], _: Dialect) -> str:
    return _BARE[match["short"]]


def _read_reference(match: re.Match[str], _: Dialect) -> str:
    short = match["short"]
    said = _REFERENCES[short.lower()]
    return (said.capitalize() if short[0].isupper() else said) + " "


# --- letters said one by one ---------------------------------------------------------------------------------------

_INITIALS = re.compile(r"(?<![\w.@/])(?P<letters>[A-Za-z](?:\.[A-Za-z])++)\.?(?P<ending>'?s)?(?![\w@])")
_INITIAL = re.compile(r"(?<![\w.'’])(?P<letters>[A-Z](?:\. [A-Z](?=\.)){0,5}+)\.(?= [A-Z][a-z])")
_LETTER_A = re.compile(r"\bA\b(?![.'])")
_NAMED_BY_LETTERS = re.compile(
    r"\b(?:plan|vitamin|option|type|grade|section|exhibit|appendix|group|step|team|point|class|level|part|unit|building|gate|"
    r"terminal|hepatitis|influenza|side|letter|category|block|room|a|b) \Z",
    re.IGNORECASE,
)
_BESIDE_LETTERS = re.compile(r"(?:,| and| or| to|/|-) ?[A-Z](?!\w)")
_PHD = re.compile(r"(?<!\w)(?P<degree>Ph\.?D|M\.?Sc|B\.?Sc|M\.?Phil)(?:\.(?!\w))?(?P<ending>'?s)?(?!\w)")


def _read_initials(match: re.Match[str], dialect: Dialect) -> Said | None:
    letters = match["letters"].replace(".", "")
    if len(letters) == 2 and letters.islower() and not match[0].endswith("."):
        return None  # rather a missing space than initials
    if len(letters) > 12:
        return [*(dialect.spell(letter) for letter in letters), match["ending"] or ""]
    return [dialect.spell(letters, match["ending"] or ""), _stop(match, before_capital=False)]


def _read_initial(match: re.Match[str], dialect: Dialect) -> Said | None:
    if match["letters"] == "I":
        return None  # "so did I."
    return [dialect.spell(letter) for letter in match["letters"].split(". ")]


def _read_letter(match: re.Match[str], dialect: Dialect) -> Said | None:
    """The letter A, where it is one: else it would be said as the article."""
    text, start = match.string, match.start()
    if _NAMED_BY_LETTERS.search(text, max(0, start - 12), start) or _BESIDE_LETTERS.match(text, match.end()):
        return dialect.spell("A")
    return None


def _read_degree(match: re.Match[str], dialect: Dialect) -> Said:
    degree, ending = match["degree"].replace(".", ""), match["ending"] or ""
    stop = _stop(match, before_capital=False)
    if degree == "MPhil":
        return [dialect.spell("M"), "Phil" + ending, stop]
    return [dialect.spell(degree, ending), stop]


EARLY_RULES: tuple[Rule[Dialect], ...] = (
    Rule("abbreviation", _ABBREVIATION, _read_abbreviation, needs=(".", "/")),
    Rule("abbreviation without stop", _WITHOUT_STOP, _read_without_stop),
    Rule("reference", _REFERENCE, _read_reference, needs_match=_STOP_AND_NUMBER),
    Rule("street", _STREET, _read_street, needs=tuple(_STREETS)),
    Rule("title", _TITLE, _read_title),
    Rule("title behind a name", _AFTER_NAME, _read_after_name, needs=("Jr", "Sr", "Esq")),
    Rule("academic degree", _PHD, _read_degree, needs=("Ph", "Sc")),
)
"""Before numbers are read, which some of these stand in front of."""

LATE_RULES: tuple[Rule[Dialect], ...] = (
    Rule("initials", _INITIALS, _read_initials, needs_match=DOT_WITHIN),
    Rule("initials of a name", _INITIAL, _read_initial, needs=(". ",)),
    Rule("the letter A", _LETTER_A, _read_letter, needs=("A",)),
)
"""After times ("a.m.") are read."""
