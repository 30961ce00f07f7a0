"""American and British English: how numbers are said and letters are called.

Number names come from num2words; what is done here is what it leaves open: no hyphens or commas (they would be
heard), "and" only where British speakers say it, digits one by one where a number is a name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from num2words import num2words  # type: ignore[import-untyped]

from rtvoice.text.normaliser.rule import Spelled

if TYPE_CHECKING:
    from collections.abc import Mapping

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

MOST_DIGITS = 15
"""Integers of more digits are read digit by digit: nobody follows "quintillion"."""

# Letters in the phoneme alphabet of misaki and Kokoro, stress marked.
_AMERICAN_LETTERS = {
    "A": "ˈA", "B": "bˈi", "C": "sˈi", "D": "dˈi", "E": "ˈi", "F": "ˈɛf", "G": "ʤˈi", "H": "ˈAʧ", "I": "ˈI",
    "J": "ʤˈA", "K": "kˈA", "L": "ˈɛl", "M": "ˈɛm", "N": "ˈɛn", "O": "ˈO", "P": "pˈi", "Q": "kjˈu", "R": "ˈɑɹ",
    "S": "ˈɛs", "T": "tˈi", "U": "jˈu", "V": "vˈi", "W": "dˈʌbᵊlju", "X": "ˈɛks", "Y": "wˈI", "Z": "zˈi",
}  # fmt: skip
_BRITISH_LETTERS = {
    "A": "ˈA", "B": "bˈiː", "C": "sˈiː", "D": "dˈiː", "E": "ˈiː", "F": "ˈɛf", "G": "ʤˈiː", "H": "ˈAʧ", "I": "ˈI",
    "J": "ʤˈA", "K": "kˈA", "L": "ˈɛl", "M": "ˈɛm", "N": "ˈɛn", "O": "ˈQ", "P": "pˈiː", "Q": "kjˈuː", "R": "ˈɑː",
    "S": "ˈɛs", "T": "tˈiː", "U": "jˈuː", "V": "vˈiː", "W": "dˈʌbᵊljuː", "X": "ˈɛks", "Y": "wˈI", "Z": "zˈɛd",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Dialect:
    """A kind of English.

    Attributes:
        british: "and" in numbers, day before month, British spelling of units.
        letters: phonemes of each capital letter's name.
    """

    british: bool
    letters: Mapping[str, str]

    def cardinal(self, number: int) -> str:
        """`105` -> "one hundred five", in British English "one hundred and five"."""
        return _number_words(number, "cardinal", self.british)

    def ordinal(self, number: int) -> str:
        """`21` -> "twenty first"."""
        return _number_words(number, "ordinal", self.british)

    def digits(self, written: str) -> str:
        """`"0132"` -> "zero one three two". Characters that are no digits are passed over."""
        return " ".join(DIGITS[int(c)] for c in written if c.isdecimal())

    def integer(self, written: str) -> str:
        """A whole number as written, commas allowed: by its name, or by its digits where it is too long for one."""
        plain = written.replace(",", "")
        if len(plain) > MOST_DIGITS or (plain[0] == "0" and len(plain) > 1):
            return self.digits(plain)
        return self.cardinal(int(plain))

    def number(self, written: str) -> str:
        """A number as written: `"-1,250.50"` -> "minus one thousand two hundred fifty point five zero"."""
        sign = ""
        if written[0] in "+-−":
            sign, written = ("plus " if written[0] == "+" else "minus "), written[1:]
        whole, point, fraction = written.partition(".")
        said = self.integer(whole) if whole else "zero"
        if point and fraction:
            said += f" point {self.digits(fraction)}"
        return sign + said

    def year(self, number: int) -> str:
        """`1907` -> "nineteen oh seven"; `2031` -> "twenty thirty one"."""
        if number < 1000 or number % 1000 < 10:
            return self.cardinal(number)
        return _number_words(number, "year", self.british)

    def decade(self, number: int) -> str:
        """`1990` -> "nineteen nineties"; `20` -> "twenties"; `2000` -> "two thousands"."""
        return plural(self.year(number) if number >= 100 else self.cardinal(number))

    def pairs(self, number: int) -> str:
        """A number of three or four digits as the names of rooms and flights are said: `747` -> "seven forty seven"."""
        high, low = divmod(number, 100)
        if low == 0:
            return f"{self.cardinal(high)} hundred"
        return f"{self.cardinal(high)} {'oh ' if low < 10 else ''}{self.cardinal(low)}"

    def spell(self, letters: str, ending: str = "") -> Spelled:
        """Letters one by one, as one word with its stress on the last: `"pm"` -> "P M".

        Args:
            letters: ASCII letters, at least one.
            ending: "s" or "'s" behind them.
        """
        names = [self.letters[c] for c in letters.upper()]
        ipa = "".join(name.replace("ˈ", "ˌ") for name in names[:-1]) + names[-1]
        if ending:
            ipa += "s" if ipa[-1] in "fkpt" else f"{'ɪ' if self.british else 'ᵻ'}z" if ipa[-1] in "sʧ" else "z"
        return Spelled(" ".join(letters.upper()) + ending, ipa)


AMERICAN = Dialect(british=False, letters=_AMERICAN_LETTERS)
BRITISH = Dialect(british=True, letters=_BRITISH_LETTERS)


def plural(words: str) -> str:
    """The plural of a number's name: "nineteen ninety" -> "nineteen nineties"; "six" -> "sixes"."""
    if words.endswith("y"):
        return words[:-1] + "ies"
    return words + ("es" if words.endswith("x") else "s")


@lru_cache(maxsize=4096)
def _number_words(number: int, kind: str, british: bool) -> str:
    # Pure, so remembering it changes nothing but the time: num2words takes 50 us a number.
    words: str = num2words(number, lang="en", to=kind).replace(",", "").replace("-", " ")
    return words if british else words.replace(" and ", " ")
