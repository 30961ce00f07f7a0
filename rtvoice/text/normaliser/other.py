"""Languages other than English: numbers by num2words, a few symbols by name, everything else in silence.

What misaki reads itself (digits in Chinese and Japanese) is left to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import regex
from num2words import num2words  # type: ignore[import-untyped]

from rtvoice.text.normaliser import characters
from rtvoice.text.normaliser.rule import Rule, apply_all

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtvoice.text.mapped import Mapped


@dataclass(frozen=True, slots=True)
class Language:
    """What is known of a language.

    Attributes:
        numbers: its name in num2words, or None where digits are left as they are.
        symbols: what symbols are called.
        decimal: its decimal sign, said as `point`.
        point: what the decimal sign is called.
        wide: written with punctuation of full width.
        emoji: its name in the `emoji` library.
    """

    numbers: str | None = None
    symbols: Mapping[str, str] = field(default_factory=dict)
    decimal: str = ","
    point: str = ""
    wide: bool = False
    emoji: str = "en"


LANGUAGES: Mapping[str, Language] = {
    "es": Language(
        "es",
        {
            "%": "por ciento",
            "&": "y",
            "@": "arroba",
            "+": "más",
            "=": "igual a",
            "€": "euros",
            "$": "dólares",
            "°": "grados",
        },
        point="coma",
        emoji="es",
    ),
    "fr": Language(
        "fr",
        {
            "%": "pour cent",
            "&": "et",
            "@": "arobase",
            "+": "plus",
            "=": "égale",
            "€": "euros",
            "$": "dollars",
            "°": "degrés",
        },
        point="virgule",
        emoji="fr",
    ),
    "it": Language(
        "it",
        {
            "%": "per cento",
            "&": "e",
            "@": "chiocciola",
            "+": "più",
            "=": "uguale",
            "€": "euro",
            "$": "dollari",
            "°": "gradi",
        },
        point="virgola",
        emoji="it",
    ),
    "pt": Language(
        "pt_BR",
        {
            "%": "por cento",
            "&": "e",
            "@": "arroba",
            "+": "mais",
            "=": "igual a",
            "€": "euros",
            "$": "dólares",
            "°": "graus",
        },
        point="vírgula",
        emoji="pt",
    ),
    "de": Language(
        "de",
        {"%": "Prozent", "&": "und", "@": "at", "+": "plus", "=": "gleich", "€": "Euro", "$": "Dollar", "°": "Grad"},
        point="Komma",
        emoji="de",
    ),
    "zh": Language(symbols={"%": "%"}, wide=True, emoji="zh"),
    "ja": Language(symbols={"%": "%"}, wide=True, emoji="ja"),
}
"""By the first part of a language's tag."""

_SIGN_BEFORE = re.compile(r"(?P<sign>[€$])[ ]?(?P<number>\d++(?:[.,]\d++)?)")
_NUMBER = re.compile(r"\d++(?:[.,]\d++)?")
_SYMBOL = re.compile(r"[%&@+=€$°]")
_SILENT = regex.compile(r"[\p{S}*#_|\\^`~<>\[\]{}]")
_SPACES = re.compile(r"(?P<before>\s++(?=[.,;:!?…。、，！？]))|\s{2,}+")
_MOST_DIGITS = 15


@lru_cache(maxsize=1024)
def _integer(digits: str, language: str) -> str:
    if len(digits) > _MOST_DIGITS or (digits[0] == "0" and len(digits) > 1):
        return " ".join(_integer(digit, language) for digit in digits)
    words: str = num2words(int(digits), lang=language)
    return words


def _read_number(match: re.Match[str], language: Language) -> str | None:
    return _number(match[0], language)


def _number(written: str, language: Language) -> str | None:
    if language.numbers is None:
        return None
    whole, sign, rest = re.split(r"([.,])", written + ",", maxsplit=1)[:3]
    rest = rest.rstrip(",")
    if not rest:
        return _integer(whole, language.numbers)
    if sign != language.decimal and len(rest) == 3:
        return _integer(whole + rest, language.numbers)  # thousands
    return f"{_integer(whole, language.numbers)} {language.point} {_integer(rest, language.numbers)}"


def _read_sum(match: re.Match[str], language: Language) -> str | None:
    number = _number(match["number"], language)
    return f"{number} {language.symbols.get(match['sign'], '')}" if number else None


RULES: tuple[Rule[Language], ...] = (
    Rule("money", _SIGN_BEFORE, _read_sum),
    Rule("number", _NUMBER, _read_number),
    Rule(
        "symbol",
        _SYMBOL,
        lambda match, language: f" {language.symbols[match[0]]} " if match[0] in language.symbols else " ",
    ),
    Rule("silent mark", _SILENT, lambda _match, _language: " "),
    Rule("spaces", _SPACES, lambda match, _language: "" if match["before"] else " "),
)


def normalise(text: Mapped, tag: str, *, emoji_names: bool) -> tuple[Mapped, tuple[str, ...]]:
    """Rewrite a text in the language of a tag (`fr`, `pt-br`). Returns it with the names of the rules that fired."""
    language = LANGUAGES.get(tag.partition("-")[0].lower(), Language())
    writing = characters.Writing(wide_punctuation=language.wide, emoji_language=language.emoji if emoji_names else None)
    text, early = apply_all(text, characters.RULES, writing)
    text, late = apply_all(text, RULES, language)
    return text, tuple(dict.fromkeys(early + late))
