"""Numbers with units: the case of a unit's letters is part of it (mA, MV, Mb, MB)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtvoice.text.normaliser.english.written import DASH, NUMBER, START, one_of
from rtvoice.text.normaliser.rule import Part, Rule

if TYPE_CHECKING:
    from rtvoice.text.normaliser.english.dialect import Dialect

_PREFIXES = {
    "E": "exa", "P": "peta", "T": "tera", "G": "giga", "M": "mega", "k": "kilo", "h": "hecto", "d": "deci",
    "c": "centi", "m": "milli", "µ": "micro", "μ": "micro", "u": "micro", "n": "nano", "p": "pico", "f": "femto",
}  # fmt: skip

# symbol: name of one, and the prefixes that are in use with it
_PREFIXED = {
    "m": ("meter", "kdcmµμunpf"), "g": ("gram", "kmµμunp"), "L": ("liter", "hdcmµμu"), "l": ("liter", "hdcmµμu"),
    "W": ("watt", "TGMkmµμn"), "Wh": ("watt hour", "TGMkm"), "V": ("volt", "MkmµμunG"), "A": ("amp", "kmµμunp"),
    "Ah": ("amp hour", "km"), "VA": ("volt amp", "Mk"), "Hz": ("hertz", "TGMkm"), "B": ("byte", "EPTGMk"),
    "b": ("bit", "TGMk"), "bit": ("bit", "TGMk"), "J": ("joule", "TGMkmµμ"), "N": ("newton", "MkmG"),
    "Pa": ("pascal", "GMkhm"), "Ω": ("ohm", "GMkm"), "F": ("farad", "mµμunp"), "s": ("second", "mµμunpf"),
    "eV": ("electron volt", "TGMkm"), "mol": ("mole", "kmµμn"), "cal": ("calorie", "k"), "bar": ("bar", "mk"),
    "lm": ("lumen", "k"), "lx": ("lux", "k"), "T": ("tesla", "mµμn"), "H": ("henry", "mµμn"), "Sv": ("sievert", "mµμ"),
    "Bq": ("becquerel", "TGMk"), "Gy": ("gray", "m"), "K": ("kelvin", "m"), "t": ("ton", "Mk"), "M": ("molar", "mµμn"),
    "bps": ("bit per second", "TGMk"), "bit/s": ("bit per second", "TGMk"), "Wp": ("watt peak", "Mk"),
}  # fmt: skip

_UNPREFIXED = {
    "KB": "kilobyte", "Kb": "kilobit", "Kbps": "kilobit per second", "KiB": "kibibyte", "MiB": "mebibyte",
    "GiB": "gibibyte", "TiB": "tebibyte", "KHz": "kilohertz", "KW": "kilowatt", "Kg": "kilogram", "KG": "kilogram",
    "Km": "kilometer", "KM": "kilometer", "kph": "kilometer per hour", "kmh": "kilometer per hour",
    "mph": "mile per hour", "fps": "frame per second", "rpm": "revolution per minute", "bpm": "beat per minute",
    "dpi": "dot per inch", "ppi": "pixel per inch", "ppm": "part per million", "ppb": "part per billion",
    "psi": "pound per square inch", "wpm": "word per minute", "mpg": "mile per gallon", "ft": "foot",
    "in²": "square inch", "yd": "yard", "yds": "yard", "mi": "mile", "nmi": "nautical mile", "lb": "pound",
    "lbs": "pound", "oz": "ounce", "gal": "gallon", "qt": "quart", "tsp": "teaspoon", "tbsp": "tablespoon",
    "Tbsp": "tablespoon", "fl oz": "fluid ounce", "sq ft": "square foot", "sq. ft.": "square foot",
    "sq ft.": "square foot", "sqft": "square foot", "sq mi": "square mile", "sq km": "square kilometer",
    "sq m": "square meter", "sqm": "square meter", "cu ft": "cubic foot", "ha": "hectare", "cc": "cubic centimeter",
    "hp": "horsepower", "dB": "decibel", "dBA": "decibel", "px": "pixel", "kt": "knot", "kn": "knot",
    "mmHg": "millimeter of mercury", "IU": "international unit", "h": "hour", "hr": "hour", "hrs": "hour",
    "min": "minute", "mins": "minute", "sec": "second", "secs": "second", "wk": "week", "wks": "week", "yr": "year",
    "yrs": "year", "mo": "month", "mos": "month", "MP": "megapixel", "Mpx": "megapixel", "pp": "percentage point",
    "°C": "degree Celsius", "°F": "degree Fahrenheit", "° C": "degree Celsius", "° F": "degree Fahrenheit",
    "ºC": "degree Celsius", "ºF": "degree Fahrenheit", "°K": "kelvin", "°": "degree", "º": "degree", "Å": "angstrom",
    "au": "astronomical unit", "AU": "astronomical unit", "ly": "light year", "kcal": "kilocalorie", "Cal": "calorie",
    "tok": "token", "req": "request", "%": "percent", "‰": "per mille", "atm": "atmosphere", "inHg": "inch of mercury",
    "ft-lb": "foot pound", "mcg": "microgram",
}  # fmt: skip

UNITS = {
    **{symbol: name for symbol, (name, _) in _PREFIXED.items()},
    **{p + symbol: _PREFIXES[p] + name for symbol, (name, prefixes) in _PREFIXED.items() for p in prefixes},
    **_UNPREFIXED,
}
"""What a symbol stands for: the name of one of it, in American spelling."""

# What is measured per: as UNITS, and words.
PER = {
    "s": "second", "sec": "second", "min": "minute", "h": "hour", "hr": "hour", "d": "day", "day": "day", "wk": "week",
    "week": "week", "mo": "month", "month": "month", "yr": "year", "year": "year", "kg": "kilogram", "g": "gram",
    "L": "liter", "l": "liter", "dL": "deciliter", "dl": "deciliter", "mL": "milliliter", "ml": "milliliter",
    "m": "meter", "km": "kilometer", "cm": "centimeter", "mol": "mole", "K": "kelvin", "kWh": "kilowatt hour",
    "lb": "pound", "oz": "ounce", "gal": "gallon", "ft": "foot", "in": "inch", "person": "person", "user": "user",
    "night": "night", "hour": "hour", "minute": "minute", "second": "second", "mile": "mile",
}  # fmt: skip

_SAME_IN_PLURAL = frozenset(("hertz", "lux", "horsepower", "kelvin", "percent", "per mille", "watt peak", "molar"))
_AN = frozenset(("ounce", "hour", "inch", "amp", "acre", "ohm"))
_BRITISH = {"meter": "metre", "liter": "litre"}
_POWERS = {"²": "square", "^2": "square", "³": "cubic", "^3": "cubic", "2": "square", "3": "cubic"}
_TIMES_ITSELF = {"²": " squared", "^2": " squared", "³": " cubed", "^3": " cubed"}

# A letter alone behind a space, or at a number, is a unit only where it can hardly be anything else ("gate 5 A", "4K").
_APART = one_of(unit for unit in UNITS if len(unit) > 1 or unit in "mgtlLVWshNJΩ°ºKÅ%‰")
_CLOSE = one_of(unit for unit in UNITS if len(unit) > 1 or unit in "mgtlLVWshNΩ°º%‰")
_POWER = r"(?P<power>[²³]|\^[23](?!\d)|(?<=m)[23])?"
_PER_PART = rf"(?:/(?P<per>{one_of(PER)})(?P<per_power>[²³]|\^[23](?!\d))?(?!\w))?"
_STOP = r"(?:\.(?= [a-z]))?"  # of "min." and "ft." inside a sentence
_MEASURE = re.compile(
    rf"{START}(?P<sign>[-−+])?(?:(?P<fraction>(?:\d{{1,4}} )?\d{{1,2}}/\d{{1,2}})|(?P<low>{NUMBER}))"
    rf"(?:[ ]?(?P<between>{DASH}|±)[ ]?(?P<high>[-−]?{NUMBER}))?"
    rf"(?:(?P<joint>[ \u00a0\u202f]|-(?!K))(?P<apart>{_APART})|(?P<close>{_CLOSE}))"
    rf"{_POWER}{_PER_PART}(?![\w²³]|['’]\w){_STOP}"
)
_FEET = re.compile(rf"{START}(?P<feet>\d{{1,4}})(?:['′] ?(?P<inches>\d{{1,2}}(?:\.\d{{1,2}})?) ?(?:\"|″|'')|′)(?!\w)")
_FEET_ONLY = re.compile(rf"{START}(?P<feet>[3-8])'(?P<inches>\d{{1,2}})(?![\w'])")
_FEET_IN_LETTERS = re.compile(rf"{START}(?P<feet>\d{{1,4}}) ?ft\.? ?(?P<inches>\d{{1,2}}) ?in(?!\w)(?:\.(?= [a-z]))?")
_INCHES = re.compile(
    rf"{START}(?:(?P<inches>\d{{1,3}}(?:\.\d{{1,2}})?)|(?P<whole>\d{{1,3}}) (?P<top>\d)/(?P<bottom>\d{{1,2}}))"
    r"(?:-?(?P<mark>[″\"])(?!\w)| in\.(?= [a-z]|,))"
)
_RANGE = re.compile(rf"{START}{NUMBER} ?{one_of(UNITS)}(?P<dash>[ ]?{DASH}[ ]?)(?=\d)")
_OPENED = re.compile(r"(?:\A|(?<=[\s(]))\"(?=\w)[^\"]*\Z")
_ARTICLE_BEFORE = re.compile(r"\b[Aa]n? \Z")
_COORDINATE = re.compile(
    r"(?<!\w)(?P<degrees>\d{1,3})° ?(?P<minutes>\d{1,2})[′'] ?(?:(?P<seconds>\d{1,2}(?:\.\d{1,3})?)[″\"] ?)?"
    r"(?P<towards>[NSEW])?(?!\w)"
)
_PRESSURE = re.compile(rf"{START}\d{{2,3}}(?P<dash>/)(?=\d{{2,3}} ?mmHg)")
_ALONE = re.compile(
    r"(?<![\w/])(?<!\d[ -])(?:(?P<of>k?m|m?g|[kMG]?B|[mµn]?mol)/(?P<per>h|s|dL|L|kg|m[²³])"
    r"|(?P<unit>[kMGT]?Wh|mAh|[kMG]Hz|[kMGT]bps|°[CF]|[kcm]?m[²³]|k[gm]|mg|m[lL]|lbs|[MGT]B))(?!\w)"
)
_PER_ALONE = {**PER, "m²": "square meter", "m³": "cubic meter"}
_ONE_BEFORE = re.compile(r"\b(?:per|an?|one|each|every) \Z")
_NUMBER_AND_SIGN = re.compile(r"\d[ \u00a0\u202f-]?[a-zA-Zµμ°ºΩÅ%‰]")
_TOWARDS = {"N": "north", "S": "south", "E": "east", "W": "west"}


def _plural(name: str) -> str:
    """As "mile per hour" -> "miles per hour"; "degree Celsius" -> "degrees Celsius"; "square foot" -> "square feet"."""
    for tail in (" per ", " of ", " Celsius", " Fahrenheit"):
        head, found, rest = name.partition(tail)
        if found:
            return _plural(head) + found + rest
    if name in _SAME_IN_PLURAL or name.endswith("hertz"):
        return name
    if name.endswith("foot"):
        return name[:-4] + "feet"
    return name + ("es" if name.endswith("inch") else "s")


def _unit(symbol: str, power: str | None, per: str, dialect: Dialect, *, one: bool) -> str:
    """The name of a unit, of one or many of it, with its power and what it is measured per."""
    name = UNITS[symbol].replace("oohm", "ohm")
    if power:
        name = f"{_POWERS[power]} {name}"
    name = (name if one else _plural(name)) + per
    if dialect.british:
        for american, british in _BRITISH.items():
            name = name.replace(american, british)
        name = "tonne" + name[3:] if symbol == "t" else name
    return name


def _per(match: re.Match[str], group: str = "per") -> str:
    symbol = match[group]
    if not symbol:
        return ""
    power = match.groupdict().get("per_power")
    if symbol in ("s", "sec"):
        return f" per {PER[symbol]}{_TIMES_ITSELF[power] if power else ''}"
    return f" per {_POWERS[power] + ' ' if power else ''}{PER[symbol]}"


def _read_measure(match: re.Match[str], dialect: Dialect) -> str:
    symbol = match["apart"] or match["close"]
    sign = {"+": "plus ", None: ""}.get(match["sign"], "minus ")
    if fraction := match["fraction"]:
        whole, _, part = fraction.rpartition(" ")
        top, bottom = map(int, part.split("/"))
        said = read_fraction(top, bottom, dialect)
        if not whole:
            unit = _unit(symbol, match["power"], _per(match), dialect, one=True)
            said = "half" if (top, bottom) == (1, 2) else f"{said} of"
            return f"{sign}{said} {'an' if unit.split()[0] in _AN else 'a'} {unit}"
        said = f"{dialect.integer(whole)} and {'a half' if (top, bottom) == (1, 2) else said}"
        return f"{sign}{said} {_unit(symbol, match['power'], _per(match), dialect, one=False)}"
    said = dialect.number(match["low"])
    if match["high"]:
        said += f" {'plus or minus' if match['between'] == '±' else 'to'} {dialect.number(match['high'])}"
    one = match["joint"] == "-" or (match["low"] == "1" and not match["high"])
    return f"{sign}{said} {_unit(symbol, match['power'], _per(match), dialect, one=one)}"


def read_fraction(top: int, bottom: int, dialect: Dialect) -> str:
    """`1, 2` -> "one half"; `3, 4` -> "three quarters"; `5, 8` -> "five eighths"."""
    part = {2: "half", 4: "quarter"}.get(bottom) or dialect.ordinal(bottom)
    if top != 1:
        part = "halves" if bottom == 2 else part + "s"
    return f"{dialect.cardinal(top)} {part}"


def _read_feet(match: re.Match[str], dialect: Dialect) -> str:
    said = f"{dialect.number(match['feet'])} {'foot' if match['feet'] == '1' else 'feet'}"
    inches = match["inches"]
    if not inches:
        return said
    return f"{said} {dialect.number(inches)} {'inch' if inches == '1' else 'inches'}"


def _read_inches(match: re.Match[str], dialect: Dialect) -> str | None:
    inches, start = match["inches"], match.start()
    if match["mark"] == '"' and _OPENED.search(match.string, max(0, start - 300), start):
        return None  # it closes a quotation
    if inches is None:
        fraction = read_fraction(int(match["top"]), int(match["bottom"]), dialect)
        said = "a half" if fraction == "one half" else fraction
        return f"{dialect.number(match['whole'])} and {said} inches"
    one = inches == "1" or _ARTICLE_BEFORE.search(match.string, max(0, start - 4), start)
    return f"{dialect.number(inches)} {'inch' if one else 'inches'}"


def _read_range(match: re.Match[str], _: Dialect) -> tuple[Part, ...]:
    at, to = (place - match.start() for place in match.span("dash"))
    return (Part(at, to, " to "),)


def _read_coordinate(match: re.Match[str], dialect: Dialect) -> str:
    said = [
        f"{dialect.number(match[part])} {part if int(float(match[part])) != 1 else part[:-1]}"
        for part in ("degrees", "minutes", "seconds")
        if match[part]
    ]
    return " ".join([*said, *([_TOWARDS[match["towards"]]] if match["towards"] else [])])


def _read_alone(match: re.Match[str], dialect: Dialect) -> str:
    one = bool(_ONE_BEFORE.search(match.string, max(0, match.start() - 6), match.start()))
    if match["of"]:
        return _unit(match["of"], None, " per " + _PER_ALONE[match["per"]], dialect, one=one)
    symbol, power = match["unit"], None
    if symbol[-1] in "²³":
        symbol, power = symbol[:-1], symbol[-1]
    return _unit(symbol, power, "", dialect, one=one)


RULES: tuple[Rule[Dialect], ...] = (
    Rule("coordinates", _COORDINATE, _read_coordinate, needs=("°",)),
    Rule("feet and inches", _FEET_IN_LETTERS, _read_feet, needs=("ft",)),
    Rule(
        "blood pressure",
        _PRESSURE,
        lambda match, _dialect: (Part(len(match[0]) - 1, len(match[0]), " over "),),
        needs=("mmHg",),
    ),
    Rule("range of measures", _RANGE, _read_range, needs=("-", "–", "—", "‑")),
    Rule("measure", _MEASURE, _read_measure, needs_match=_NUMBER_AND_SIGN),
    Rule("feet and inches", _FEET, _read_feet, needs=("'", "′")),
    Rule("feet and inches", _FEET_ONLY, _read_feet, needs=("'", "′")),
    Rule("inches", _INCHES, _read_inches, needs=('"', "″", "in.")),
)

WORD_RULES: tuple[Rule[Dialect], ...] = (
    Rule(
        "unit alone",
        _ALONE,
        _read_alone,
        needs=("Wh", "Ah", "Hz", "bps", "°", "m²", "m³", "/", "kg", "km", "mg", "mL", "ml", "lbs", "B"),
    ),
)
