"""Titles, abbreviations, initials, and Roman numerals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtvoice.text.normaliser.english.written import one_of
from rtvoice.text.normaliser.rule import Part, Reading, Rule, Said

if TYPE_CHECKING:
    from rtvoice.text.normaliser.english.dialect import Dialect

# In front of a name, with or without a stop.
_BEFORE_NAME = {
    "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz", "Dr": "Doctor", "Prof": "Professor", "Rev": "Reverend", "Gen": "General",
    "Col": "Colonel", "Maj": "Major", "Capt": "Captain", "Cpt": "Captain", "Cmdr": "Commander", "Lt": "Lieutenant",
    "Sgt": "Sergeant", "Cpl": "Corporal", "Adm": "Admiral", "Gov": "Governor", "Sen": "Senator", "Rep": "Representative",
    "Pres": "President", "Hon": "Honorable", "Amb": "Ambassador", "Supt": "Superintendent", "Insp": "Inspector",
    "Fr": "Father", "Messrs": "Messers", "Mt": "Mount", "Ft": "Fort", "St": "Saint", "Ste": "Sainte",
}  # fmt: skip
_BEHIND_NAME = {"Jr": "Junior", "Sr": "Senior", "Esq": "Esquire"}
_STREETS = {
    "St": "Street", "Ave": "Avenue", "Blvd": "Boulevard", "Rd": "Road", "Ln": "Lane", "Hwy": "Highway", "Pkwy": "Parkway",
    "Dr": "Drive", "Ct": "Court", "Sq": "Square", "Pl": "Place", "Ter": "Terrace",
}  # fmt: skip

# With their stop; without it they would be other words, or are none.
_ABBREVIATIONS = {
    "e.g.": "for example", "e. g.": "for example", "eg.": "for example", "i.e.": "that is", "i. e.": "that is",
    "ie.": "that is", "etc.": "et cetera", "cf.": "compare", "viz.": "namely", "vs.": "versus", "v.s.": "versus",
    "et al.": "et al", "ca.": "circa", "approx.": "approximately", "est.": "established", "dept.": "department",
    "Dept.": "Department", "govt.": "government", "Inc.": "Incorporated", "Ltd.": "Limited", "Corp.": "Corporation",
    "Bros.": "Brothers", "Assn.": "Association", "Univ.": "University", "Co.": "Company", "Intl.": "International",
    "misc.": "miscellaneous", "max.": "maximum", "min.": "minimum", "avg.": "average", "temp.": "temperature",
    "tel.": "telephone", "Tel.": "Telephone", "ext.": "extension", "appt.": "appointment", "apt.": "apartment",
    "Apt.": "Apartment", "orig.": "originally", "incl.": "including", "excl.": "excluding", "esp.": "especially",
    "resp.": "respectively", "a.k.a.": "also known as", "c/o": "care of", "w/o": "without", "w/": "with", "b/c": "because",
    "n/a": "not applicable", "N/A": "not applicable", "P.S.": "P S", "No.": "number", "Mon.": "Monday", "Tue.": "Tuesday",
    "Tues.": "Tuesday", "Wed.": "Wednesday", "Thu.": "Thursday", "Thurs.": "Thursday", "Fri.": "Friday",
}  # fmt: skip
_ABBREVIATIONS.pop("No.")
# Without a stop as well.
_BARE = {"vs": "versus", "aka": "also known as", "approx": "approximately", "dept": "department", "govt": "government"}

# In front of a number: "p. 12", "vol. 3".
_REFERENCES = {
    "p": "page", "pp": "pages", "pg": "page", "pgs": "pages", "vol": "volume", "vols": "volumes", "ch": "chapter",
    "chap": "chapter", "sec": "section", "sect": "section", "art": "article", "fig": "figure", "figs": "figures",
    "eq": "equation", "eqs": "equations", "ed": "edition", "ver": "version", "para": "paragraph", "ex": "example",
    "app": "appendix", "tab": "table", "ref": "reference", "refs": "references", "l": "line", "ll": "lines",
}  # fmt: skip

_TITLE = re.compile(rf"(?<![\w.])(?P<title>{one_of(_BEFORE_NAME)})(?:\.|(?=[ ][A-Z]))(?=[ \u00a0]?(?:\"|“|\()?[A-Z])")
_AFTER_NAME = re.compile(rf"(?<=\w)(?P<comma>,?) (?P<title>{one_of(_BEHIND_NAME)})(?P<stop>\.?)(?!\w)")
_STREET = re.compile(rf"(?<=[a-z\d]) (?P<street>{one_of(_STREETS)})(?P<stop>\.|(?=,|$|;|\)| (?:[a-z]|#)))(?!\w)")
_STREET_NAMED = re.compile(r"(?:\b[A-Z][a-z]+|\d(?:st|nd|rd|th))$")
_ABBREVIATION = re.compile(rf"(?<![\w.])(?P<short>{one_of(_ABBREVIATIONS)})(?![\w])")
_WITHOUT_STOP = re.compile(rf"(?<![\w.@/-])(?P<short>{one_of(_BARE)})(?![\w.@/-])")
_REFERENCE = re.compile(rf"(?<![\w.])(?P<short>(?i:{one_of(_REFERENCES)}))\. ?(?=\d|[IVXLC]+\b)")
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
    return _BEFORE_NAME[match["title"]]


def _read_after_name(match: re.Match[str], _: Dialect) -> str:
    return f" {_BEHIND_NAME[match['title']]}{_stop(match, before_capital=False)}"


def _read_street(match: re.Match[str], _: Dialect) -> str | None:
    if not _STREET_NAMED.search(match.string[max(0, match.start() - 20) : match.start()]):
        return None
    return f" {_STREETS[match['street']]}{_stop(match, before_capital=False)}"


def _read_abbreviation(match: re.Match[str], _: Dialect) -> str:
    short = match["short"]
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
_INITIAL = re.compile(r"(?<![\w.'’])(?P<letters>[A-Z](?:\. [A-Z])*+)\.(?= [A-Z][a-z])")
_LETTER_A = re.compile(
    r"(?<=\b[Pp]lan )A\b|(?<=\b[Vv]itamin )A\b|(?<=\b[Oo]ption )A\b|(?<=\b[Tt]ype )A\b|(?<=\b[Gg]rade )A\b|(?<=\b[Ss]ection )A\b|"
    r"(?<=\b[Ee]xhibit )A\b|(?<=\b[Aa]ppendix )A\b|(?<=\b[Gg]roup )A\b|(?<=\b[Ss]tep )A\b|(?<!\w)A(?= (?:and|or|to) [BZ]\b)"
)
_PHD = re.compile(r"(?<!\w)(?P<degree>Ph\.?D|M\.?Sc|B\.?Sc|M\.?Phil)(?:\.(?!\w))?(?P<ending>'?s)?(?!\w)")


def _read_initials(match: re.Match[str], dialect: Dialect) -> Said | None:
    letters = match["letters"].replace(".", "")
    if len(letters) == 2 and letters.islower() and not match[0].endswith("."):
        return None  # rather a missing space than initials
    if len(letters) > 12:
        return [*(dialect.spell(letter) for letter in letters), match["ending"] or ""]
    return [dialect.spell(letters, match["ending"] or ""), _stop(match, before_capital=False)]


def _read_initial(match: re.Match[str], dialect: Dialect) -> Said:
    return [dialect.spell(letter) for letter in match["letters"].split(". ")]


def _read_letter(match: re.Match[str], dialect: Dialect) -> Said:
    return dialect.spell(match[0])


def _read_degree(match: re.Match[str], dialect: Dialect) -> Said:
    degree, ending = match["degree"].replace(".", ""), match["ending"] or ""
    stop = _stop(match, before_capital=False)
    if degree == "MPhil":
        return [dialect.spell("M"), "Phil" + ending, stop]
    return [dialect.spell(degree, ending), stop]


# --- Roman numerals ------------------------------------------------------------------------------------------------

_ROMAN = r"(?=[IVXLC])(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_NUMBERED_BY_ROMANS = ["Part", "Chapter", "Act", "Scene", "Volume", "Vol", "Book", "Section", "Article", "Appendix", "Phase", "Type", "Class", "Level", "Stage", "Tier", "Title", "Grade", "Figure", "Table", "Season", "Episode", "Round", "Unit", "Lesson", "Module", "Category", "Schedule", "Mark", "War", "Bowl", "Fantasy", "Gen", "Generation", "Apollo", "Saturn", "Rocky", "Rambo", "Olympiad", "Canto", "Psalm", "Division", "Group", "Step", "Area", "Zone", "Symphony", "Sonata", "Concerto", "Opus", "Quest", "Trek", "Wars", "Warcraft", "StarCraft", "Civilization", "Hearts", "Evil", "Souls", "Kombat", "Diablo", "Henry"]
_REGNAL = frozenset(
    ["Henry", "Edward", "Richard", "George", "William", "James", "Charles", "Elizabeth", "Mary", "Louis", "Napoleon", "Francis", "Philip", "Ferdinand", "Frederick", "Wilhelm", "Friedrich", "Otto", "Leopold", "Maximilian", "Joseph", "Nicholas", "Alexander", "Peter", "Catherine", "Ivan", "Pius", "Paul", "Benedict", "Gregory", "Innocent", "Leo", "Clement", "Urban", "Julius", "Boniface", "Sixtus", "Adrian", "Ramses", "Ramesses", "Thutmose", "Ptolemy", "Cleopatra", "Darius", "Xerxes", "Mehmed", "Suleiman", "Murad", "Selim", "Christian", "Gustav", "Carl", "Karl", "Olaf", "Haakon", "Harald", "Margrethe", "Juan", "Alfonso", "Isabella", "Umberto", "Victor", "Emmanuel", "Pedro", "Malcolm", "Robert", "David", "Kenneth", "Stephen", "John", "Baldwin", "Constantine", "Theodosius", "Justinian", "Bohemond", "Casimir", "Sigismund", "Albert", "Baudouin", "Rainier", "Farouk", "Hussein", "Abdullah", "Mohammed", "Rama", "Tutankhamun", "Amenhotep", "Conrad"]
)
_ROMAN_NUMBER = re.compile(
    rf"\b(?P<before>(?i:{'|'.join(_NUMBERED_BY_ROMANS)})|[A-Z][a-z]{{2,20}})(?P<gap>[ \u00a0-])(?P<roman>{_ROMAN})\b(?P<own>'s)?(?![.']\w|-\w)"
)
_ROMAN_CENTURY = re.compile(rf"(?<!\w)(?P<roman>{_ROMAN})(?:th)?(?= (?:[Cc]entur|[Oo]lympi))")
_ROMAN_RANGE = re.compile(
    rf"(?P<before>\b(?:Parts|Chapters|Acts|Volumes|Books|Sections|Articles|Types|Phases|Types) )(?P<first>{_ROMAN})(?P<between> ?[-–] ?| and | to | or )(?P<second>{_ROMAN})\b"
)
_KEYWORDS = frozenset(word.lower() for word in _NUMBERED_BY_ROMANS if word != "Henry")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
# Numerals that more often are something else, unless a word before says that they are numbers.
_RATHER_LETTERS = frozenset(
    ("I", "V", "X", "L", "C", "CC", "CV", "CI", "CL", "LI", "XL", "XX", "XXX", "IV", "LX", "CD", "XC", "CIV", "MI")
)


def roman_value(numeral: str) -> int:
    """`"XIV"` -> 14."""
    values = [_ROMAN_VALUES[c] for c in numeral]
    return sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))


def _read_roman(match: re.Match[str], dialect: Dialect) -> Reading:
    before, roman = match["before"], match["roman"]
    if not roman:
        return None
    if before.lower() in _KEYWORDS:
        said = dialect.cardinal(roman_value(roman))
    elif before in _REGNAL and (len(roman) > 1 or roman == "V" or _ruler(match)):
        said = f"the {dialect.ordinal(roman_value(roman))}"
    elif roman in _RATHER_LETTERS:
        return None
    else:
        said = dialect.cardinal(roman_value(roman))
    at, to = match.start("gap") - match.start(), match.end("roman") - match.start()
    return (Part(at, to, f" {said}"),)


_RULER = re.compile(r"(?:King|Queen|Pope|Emperor|Empress|Tsar|Czar|Sultan|Prince|Kaiser|Shah) (?:\w+ )?$")


def _ruler(match: re.Match[str]) -> bool:
    """Whether a title in front of a name makes the I behind it "the first"."""
    return bool(_RULER.search(match.string[max(0, match.start() - 24) : match.start()]))


def _read_roman_century(match: re.Match[str], dialect: Dialect) -> str | None:
    return dialect.ordinal(roman_value(match["roman"])) if match["roman"] else None


def _read_roman_range(match: re.Match[str], dialect: Dialect) -> Reading:
    if not (match["first"] and match["second"]):
        return None
    between = match["between"] if match["between"].strip().isalpha() else " to "
    first, second = (dialect.cardinal(roman_value(match[group])) for group in ("first", "second"))
    return (Part(match.start("first") - match.start(), match.end() - match.start(), f"{first}{between}{second}"),)


EARLY_RULES: tuple[Rule[Dialect], ...] = (
    Rule("abbreviation", _ABBREVIATION, _read_abbreviation),
    Rule("abbreviation without stop", _WITHOUT_STOP, _read_without_stop),
    Rule("reference", _REFERENCE, _read_reference),
    Rule("street", _STREET, _read_street),
    Rule("title", _TITLE, _read_title),
    Rule("title behind a name", _AFTER_NAME, _read_after_name),
    Rule("academic degree", _PHD, _read_degree),
    Rule("Roman numerals", _ROMAN_RANGE, _read_roman_range),
    Rule("Roman numeral", _ROMAN_NUMBER, _read_roman),
    Rule("Roman century", _ROMAN_CENTURY, _read_roman_century),
)
"""Before numbers are read, which some of these stand in front of."""

LATE_RULES: tuple[Rule[Dialect], ...] = (
    Rule("initials", _INITIALS, _read_initials),
    Rule("initials of a name", _INITIAL, _read_initial),
    Rule("the letter A", _LETTER_A, _read_letter),
)
"""After times ("a.m.") are read."""
