"""The normaliser: what is written becomes what is said.

`normalise` turns a text into words and sentence punctuation. In English no digit and no symbol is left, whatever
was put in. The rules are in `rtvoice.text.normaliser.english`, one file a subject; what each reads is shown in
docs/text.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtvoice.text.normaliser import characters, english, other
from rtvoice.text.normaliser.rule import apply_all

if TYPE_CHECKING:
    from rtvoice.text.mapped import Mapped

__all__ = ["Normalised", "normalise"]

_ENGLISH = {"en-us": english.AMERICAN, "en-gb": english.BRITISH}
_DIGIT = re.compile(r"[\d¹²³\u2070-\u207f]")


@dataclass(frozen=True, slots=True)
class Normalised:
    """A text as it is said.

    Attributes:
        text: words and sentence punctuation, each with its place in the original.
        rules: names of the rules that changed something, in order.
    """

    text: Mapped
    rules: tuple[str, ...]


def normalise(text: Mapped, language: str, *, emoji_names: bool = False) -> Normalised:
    """Rewrite a text as it is said, without the white space around it, in time linear in its length.

    Args:
        text: one segment, without markup. What is pinned stays as it is.
        language: `en-us` or `en-gb`; any other language gets what `other` has for it.
        emoji_names: say what emoji are called, instead of passing them over.
    """
    dialect = _ENGLISH.get(language)
    if dialect is None:
        return Normalised(*other.normalise(text, language, emoji_names=emoji_names))
    text = text.strip()
    fired: list[str] = []
    if not (text.text.isascii() and text.text.isprintable()):
        writing = characters.Writing(emoji_language="en" if emoji_names else None)
        text, fired = apply_all(text, characters.RULES, writing)
    text, names = apply_all(text, english.FIRST_RULES, dialect)
    fired += names
    if _DIGIT.search(text.text):
        text, names = apply_all(text, english.DIGIT_RULES, dialect)
        fired += names
    text, names = apply_all(text, english.WORD_RULES, dialect)
    fired += names
    if english.MARK.search(text.text):
        text, names = apply_all(text, english.MARK_RULES, dialect)
        fired += names
    return Normalised(text, tuple(dict.fromkeys(fired)))
