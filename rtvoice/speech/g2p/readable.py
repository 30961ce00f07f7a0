"""Any Unicode text, written so that English rules can read it, with each character's origin kept.

What arrives has been normalised for speech already: words and punctuation. This is the last line: whatever else a
text holds is turned into words, into punctuation the model knows, or into nothing if it makes no sound (white
space, joiners, lone accents). Letters of other scripts stay; `unknown` speaks them.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

import regex

from rtvoice.speech.g2p.notation import PUNCTUATION
from rtvoice.text.mapped import Edit, Mapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# A character that may need work, with the marks on it.
_CHARACTER = regex.compile(r"[^\x20-\x7E]\p{M}*|\p{L}\p{M}+|[#$%&*+<=>@\\\[\]^_`{|}~]")
# What is said once however often it is written.
_RUN = regex.compile(
    r"(?P<space>\s{2,})|(?P<dash>-{2,}|(?<=\s)-(?=\s))|(?P<dots>\.(?:\ ?\.)+)|(?P<stops>[!?]{2,})"
    r"|(?P<mark>[,;:…—])(?P=mark)+|(?P<digits>\d{13,})|(?P<prime>(?<=\d)'(?=\d))"
)
# Where an endless word is parted: misaki's time grows with the cube of a word's parts, espeak-ng reads 160 letters.
_ENDLESS = regex.compile(
    r"(?:\p{Lu}?\p{Ll}{1,64}+|\p{Lu}{1,64}+|[\p{Lo}\p{Lm}\p{M}]{1,64}+|[^\p{L}\p{M}\s]){12}+(?=\S)|\p{L}{64}(?=\p{L})"
)
# Words in capitals, one after the other.
_CAPITALS = regex.compile(r"\b\p{Lu}[\p{Lu}']*(?:[^\p{L}\d.]+\p{Lu}[\p{Lu}']*)*\b(?!\p{L})")
_WORD = regex.compile(r"\p{L}[\p{L}']*")

_PUNCTUATION: Final = {
    **dict.fromkeys("‘’‛ʼ′＇", "'"),
    **dict.fromkeys("«„‟‹《「『〈【", "“"),
    **dict.fromkeys("»›》」』〉】", "”"),
    **dict.fromkeys("[{（［｛", "("),
    **dict.fromkeys("]}）］｝", ")"),
    **dict.fromkeys("–―⸺", "—"),
    **dict.fromkeys("‐‑", "-"),
    **dict.fromkeys("。।۔｡", "."),
    **dict.fromkeys("、،､", ","),
    **dict.fromkeys("؛", ";"),
    **dict.fromkeys("؟", "?"),
    **dict.fromkeys("*\\_`·•", " "),
}
_SYMBOLS: Final = {
    "#": "hash",
    "%": "percent",
    "&": "and",
    "+": "plus",
    "<": "less than",
    "=": "equals",
    ">": "greater than",
    "@": "at",
    "^": "caret",
    "|": "bar",
    "§": "section",
    "¶": "paragraph",
    "×": "times",
    "÷": "divided by",
    "−": "minus",
    "‰": "per mille",
}
# Words of a character's Unicode name that do not tell it from others.
_UNTELLING: Final = frozenset(
    ["sign", "symbol", "letter", "small", "capital", "digit", "vulgar", "fraction", "syllable", "vowel", "ideographic"]
)


def readable(text: str, given: Iterable[tuple[int, int, str]] = ()) -> Mapped:
    """Rewrite a text for the tagger and the lexicon.

    Args:
        text: anything, lone surrogates included.
        given: ranges of `text` whose phonemes are known, in order and apart; they stay as they are, pinned.
    """
    whole = Mapped.of(text)
    pinned = whole.edit(Edit(at, to, whole[at:to].pin(0, to - at, ipa)) for at, to, ipa in given)
    plain = pinned.edit(_edits_of_characters(pinned.text))
    brief = plain.edit(_edits_of_runs(plain.text))
    return brief.edit(Edit(match.end(), match.end(), " ") for match in _ENDLESS.finditer(brief.text))


def capitals(text: str) -> Iterator[tuple[int, int, bool]]:
    """Words in capitals: their ranges, and whether they are so for loudness.

    They are if three or more stand in a row, or if all the text is in capitals and more than one word.
    """
    everything = text == text.upper() and len(_WORD.findall(text)) > 1
    for run in _CAPITALS.finditer(text):
        words = [(run.start() + word.start(), run.start() + word.end()) for word in _WORD.finditer(run[0])]
        loud = everything or len(words) > 2  # "NASA and IBM" are two
        yield from ((at, to, loud) for at, to in words)


def spoken_name(character: str) -> str:
    """A character's name in Unicode, without the words that all its kind have: *euro*, *one half*, *Cyrillic zhe*.

    Empty for what is no letter and has no name; Python does not know the names of all scripts.
    """
    name = unicodedata.name(character, "").lower()
    if not name and character.isalnum():
        return "letter"
    if name.startswith("cjk "):
        return "Chinese character"
    return " ".join(word for word in name.replace("-", " ").split() if word not in _UNTELLING)


def _edits_of_characters(text: str) -> Iterator[Edit]:
    for match in _CHARACTER.finditer(text):
        new = _written(match[0])
        if new != match[0]:
            yield Edit(match.start(), match.end(), new)


def _written(cluster: str) -> str:
    """A character and its marks as words, as a known mark, as itself composed, or as nothing."""
    first = cluster[0]
    if first in PUNCTUATION:
        return first
    if first in _PUNCTUATION:
        return _PUNCTUATION[first]
    if first in _SYMBOLS:
        return f" {_SYMBOLS[first]} "
    kind = unicodedata.category(first)
    if kind[0] == "L":
        return unicodedata.normalize("NFKC", cluster)
    if (digit := unicodedata.digit(first, None)) is not None:
        return str(digit)
    if (kind[0] == "S" and kind != "Sk") or kind[0] == "N":
        return f" {spoken_name(first)} "
    if kind[0] == "P":
        compatible = unicodedata.normalize("NFKC", first)
        return compatible if compatible in PUNCTUATION else " "
    # Formatting (soft hyphens, joiners), accents on nothing and modifiers part no words; the rest is space.
    return "" if kind in {"Cf", "Mn", "Me", "Mc", "Sk"} else " "


def _edits_of_runs(text: str) -> Iterator[Edit]:
    for match in _RUN.finditer(text):
        if match["space"] or match["prime"]:
            new = " "
        elif match["digits"]:  # longer than numbers have names
            new = " ".join(match[0])
        elif match["dash"]:
            new = "—"
        elif match["dots"]:
            new = "…"
        elif match["stops"]:
            new = "".join(stop for stop in "?!" if stop in match[0])
        else:
            new = match[0][0]
        yield Edit(match.start(), match.end(), new)
