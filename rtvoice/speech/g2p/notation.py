"""IPA, as espeak-ng and authors write it, in the model's alphabet.

Kokoro writes English diphthongs and affricates as one character each (`A` for the vowel of *day*, `ʧ` for the
sounds at both ends of *church*) and knows 114 phoneme characters in all. Source of the letters: misaki's
EN_PHONES.md and upstream's config.json.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from rtvoice.speech.vocabulary import vocabulary

TIE: Final = "\u0361"
"""Joins two characters into one sound. espeak-ng is asked for it, so that `a͡ɪ` is never taken for `a` + `ɪ`."""

PUNCTUATION: Final = frozenset(';:,.!?—…"()“”')
"""Marks the model speaks by, as pauses and melody."""

_TIED: Final = {
    "t͡ʃ": "ʧ",
    "d͡ʒ": "ʤ",
    "t͡s": "ʦ",
    "d͡z": "ʣ",
    "t͡ɕ": "ʨ",
    "d͡ʑ": "ʥ",
    "a͡ɪ": "I",
    "a͡ʊ": "W",
    "e͡ɪ": "A",
    "o͡ʊ": "O",
    "ə͡ʊ": "Q",
    "ɔ͡ɪ": "Y",
}

# English as misaki's lexicon writes it: what the model has heard from English voices.
_ENGLISH: Final = {
    "ə͡l": "ᵊl",
    "ɚ": "əɹ",
    "ɐ": "ə",
    "r": "ɹ",
    "x": "k",
    "ç": "k",
    "ʲ": "",
    "e": "A",
    "o": "ɔ",
    "ʔ": "t",
    "ɾ": "T",
}
_DIALECTS: Final = {
    "en-us": {"ɜːɹ": "ɜɹ", "ɜː͡ɹ": "ɜɹ", "ɜː": "ɜɹ", "ɪ͡ə": "iə", "ɪə": "iə", "ː": ""},
    "en-gb": {"e͡ə": "ɛː", "i͡ə": "ɪə", "iə": "ɪə"},
}

# Sounds the model has no character for, by the nearest it has.
_NEAREST: Final = {
    "g": "ɡ",
    "'": "ˈ",
    "ˑ": "ː",
    "ɫ": "l",
    "ɬ": "l",
    "ɭ": "l",
    "ɮ": "l",
    "ʟ": "l",
    "ħ": "h",
    "ɦ": "h",
    "ʜ": "h",
    "ʕ": "ʔ",
    "ʢ": "ʔ",
    "ʑ": "ʒ",
    "ʐ": "ʒ",
    "ʉ": "u",
    "ɵ": "ə",
    "ɘ": "ə",
    "ɞ": "ɜ",
    "ɶ": "œ",
    "ʏ": "y",
    "ʀ": "ʁ",
    "ɱ": "m",
    "ɓ": "b",
    "ʙ": "b",
    "ɗ": "d",
    "ɠ": "ɡ",
    "ɢ": "ɡ",
    "ʛ": "ɡ",
    "ʄ": "ɟ",
    "ʍ": "w",
    "ɺ": "ɾ",
    "ⱱ": "v",
    "ɝ": "ɜɹ",
}

_SYLLABIC = re.compile("([^\\s\u0329])\u0329")


def from_espeak(ipa: str, dialect: str | None) -> str:
    """espeak-ng's IPA in the model's alphabet.

    Args:
        ipa: with ties.
        dialect: `en-us` or `en-gb`; None for other languages, whose vowels stay as they are.
    """
    ipa = _SYLLABIC.sub(r"ᵊ\1", unicodedata.normalize("NFC", ipa))
    # Longest first: `ɜː` must be seen before `ː`, `e͡ɪ` before `e`.
    rules = _TIED if dialect is None else {**_TIED, **_ENGLISH, **_DIALECTS[dialect]}
    found = re.compile("|".join(map(re.escape, sorted(rules, key=len, reverse=True))))
    sounds = known(found.sub(lambda match: rules[match[0]], ipa))
    return "".join(sound for sound in sounds if sound not in PUNCTUATION)  # a full stop parts syllables there


def from_author(ipa: str) -> str:
    """The phonemes an author wrote for a word, in the model's alphabet.

    What the model knows stays as it is written. Affricates and diphthongs become one character only where a tie
    says that they are one sound.
    """
    for tied, character in _TIED.items():
        ipa = ipa.replace(tied, character)
    return known(_SYLLABIC.sub(r"ᵊ\1", ipa)).strip()


def known(phonemes: str) -> str:
    """Every character in the vocabulary, or by its nearest; diacritics and tone numbers that have none fall away."""
    return "".join(character for symbol in phonemes for character in _nearest(symbol))


def _nearest(symbol: str) -> str:
    if symbol in vocabulary():
        return symbol
    if symbol in _NEAREST:
        return _NEAREST[symbol]
    parts = unicodedata.normalize("NFD", symbol)
    return "".join(part for part in parts if part in vocabulary()) if parts != symbol else ""
