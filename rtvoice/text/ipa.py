"""The phonemes the model knows, as far as text may name them."""

from __future__ import annotations

PHONEMES = frozenset(
    "AIOQSTWYabcdefhijklmnopqrstuvwxyzæçðøŋœɐɑɒɔɕɖəɚɛɜɟɡɣɤɥɨɪɯɰɲɳɴɸɹɻɽɾʁʂʃʈʊʋʌʎʒʔʝʣʤʥʦʧʨʰʲˈˌːβθχᵊᵝᵻꭧ\N{COMBINING TILDE}"
)
"""Letters and modifiers of the model's alphabet, its punctuation left out. The capitals are misaki's diphthongs."""

MAX_IPA = 200
"""Phonemes that one word may be given: it is never cut, and one call of the model takes 510."""


def is_phonemes(text: str) -> bool:
    """Whether every character of `text` is a phoneme or a space between words, and at least one a phoneme."""
    return bool(text.strip()) and all(char in PHONEMES or char == " " for char in text)


def is_plainly_phonemes(text: str) -> bool:
    """Whether `text` is phonemes and cannot be ordinary letters: at least one of them is none of a to z."""
    return is_phonemes(text) and not all(char.isascii() for char in text)
