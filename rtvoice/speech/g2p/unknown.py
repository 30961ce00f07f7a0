"""Words that are in no lexicon: names, other scripts, inventions. Every one of them gets phonemes."""

from __future__ import annotations

import unicodedata
from itertools import groupby
from typing import TYPE_CHECKING, Final

import regex

from rtvoice.speech.g2p.notation import from_espeak
from rtvoice.speech.g2p.readable import spoken_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rtvoice.speech.g2p.espeak import Espeak

# espeak-ng's voices for scripts English has no rules for, by the first word of the letters' names in Unicode.
_VOICES: Final = {
    "ARABIC": "ar",
    "ARMENIAN": "hy",
    "BENGALI": "bn",
    "CJK": "cmn",
    "CYRILLIC": "ru",
    "DEVANAGARI": "hi",
    "ETHIOPIC": "am",
    "GEORGIAN": "ka",
    "GREEK": "el",
    "GUJARATI": "gu",
    "GURMUKHI": "pa",
    "HANGUL": "ko",
    "HEBREW": "he",
    "HIRAGANA": "ja",
    "KANNADA": "kn",
    "KATAKANA": "ja",
    "KATAKANA-HIRAGANA": "ja",
    "MALAYALAM": "ml",
    "MYANMAR": "my",
    "ORIYA": "or",
    "SINHALA": "si",
    "TAMIL": "ta",
    "TELUGU": "te",
    "THAI": "th",
}
_ENGLISH_VOICES: Final = {"en-us": "en-us", "en-gb": "en"}

# Where a word made of words is parted: "OpenVINO", "half-Grzyk", "mp4".
_PARTS = regex.compile(r"\p{Lu}?\p{Ll}+(?:'\p{Ll}+)*|\p{Lu}+(?!\p{Ll})|[\p{L}\p{M}]+?|\d")
_LATIN: Final = "LATIN"


class UnknownWords:
    """Phonemes for words of a dialect's texts that its lexicon lacks.

    Args:
        dialect: `en-us` or `en-gb`.
        look_up: phonemes of an English word from the lexicon, or None.
        letters: phonemes of each letter's name, A to Z.
        espeak: None spells what the lexicon lacks.
    """

    def __init__(
        self,
        dialect: str,
        look_up: Callable[[str], str | None],
        letters: dict[str, str],
        espeak: Espeak | None,
    ) -> None:
        self._dialect = dialect
        self._look_up = look_up
        self._letters = letters
        self._espeak = espeak

    def phonemes(self, word: str) -> str:
        """Read a word. Empty only if nothing in it is a letter or a digit."""
        spoken = (self._run(script, "".join(run)) for script, run in groupby(word, _Scripts()))
        return " ".join(phonemes for phonemes in spoken if phonemes)

    def _run(self, script: str, text: str) -> str:
        """Read letters of one script."""
        if not any(character.isalnum() for character in text):
            return ""
        if script == _LATIN:
            bare = _without_accents(text)
            if bare != text and (known := self._look_up(bare)):
                return known
        return self._read(script, text) or self._spell(script, text)

    def _read(self, script: str, text: str) -> str:
        """By espeak-ng's rules for the script's main language, if there is one."""
        if self._espeak is None:
            return ""
        if script == _LATIN:
            return from_espeak(self._espeak.ipa(text, _ENGLISH_VOICES[self._dialect]), self._dialect)
        if script in _VOICES:
            return from_espeak(self._espeak.ipa(text, _VOICES[script]), None)
        return ""

    def _spell(self, script: str, text: str) -> str:
        """Say the parts that are words, and the others letter by letter."""
        if script == _LATIN:
            return self._all(_PARTS.findall(text))
        names = [spoken_name(character) for character in text if character.isalnum()]
        # The script's name is said once a run: "Cyrillic pe er".
        names[1:] = (name.removeprefix(f"{script.lower()} ") for name in names[1:])
        return self._all(" ".join(names).split())

    def _all(self, words: Iterable[str]) -> str:
        return " ".join(filter(None, (self._look_up(word) or self._letter_by_letter(word) for word in words)))

    def _letter_by_letter(self, word: str) -> str:
        spelled = []
        for character in _without_accents(word):
            if letter := self._letters.get(character.upper()):
                spelled.append(letter)
            elif character.isalnum():  # a digit, or a letter such as ø: by its name, which is in English letters
                spelled.append(self._all(spoken_name(character).split()))
        return " ".join(filter(None, spelled))


class _Scripts:
    """Gives each character in turn its script; marks, digits and punctuation go with what is before them."""

    def __init__(self) -> None:
        self._script = _LATIN

    def __call__(self, character: str) -> str:
        if character.isalpha():
            self._script = unicodedata.name(character, _LATIN).split()[0]
        return self._script


def _without_accents(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
