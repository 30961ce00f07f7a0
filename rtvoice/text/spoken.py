"""From spoken text to a passage: which words are said, and which characters each came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import regex

from rtvoice.text.mapped import Pin
from rtvoice.text.segment import Passage, SpokenWord

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtvoice.text.mapped import Mapped

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*+(?:(?<=s)')?")
_UNWRITTEN = regex.compile(r"[^\p{L}\p{M}\s'’-]+")

_OWN = regex.compile(r"['’]s(?!\w)")

_STAND_IN = "sound"
"""Written in the passage for phonemes that were given for no word at all."""


def passage(text: Mapped, *, rate: float = 1.0, voice: str | None = None) -> Passage | None:
    """What is said for a normalised text.

    A pin with phonemes is one word, whatever is written under it (digits and symbols are left out of the passage); an
    "'s" behind it belongs to it.

    Args:
        text: words and punctuation, as the normaliser leaves them.
        rate: factor on the utterance's speed.
        voice: a voice other than the utterance's, or None.

    Returns:
        The passage, or None if there is no word to say.
    """
    text = text.strip()
    pieces: list[str] = []
    words: list[SpokenWord] = []
    length = done = 0  # characters written to the passage, and of `text` dealt with
    for at, to, ipa in _words(text):
        between = text.text[done:at]
        said = text.text[at:to] if ipa is None else _UNWRITTEN.sub("", text.text[at:to]).strip() or _STAND_IN
        pieces += (between, said)
        start, end = text.origin(at, to)
        words.append(SpokenWord(length + len(between), length + len(between) + len(said), start, end, ipa))
        length += len(between) + len(said)
        done = to
    if not words:
        return None
    pieces.append(text.text[done:])
    return Passage("".join(pieces), tuple(words), rate, voice)


def _words(text: Mapped) -> Iterator[Pin | tuple[int, int, None]]:
    """Ranges of words with their phonemes, if given. No word reaches over the edge of a pin that has phonemes."""
    done = 0
    for pin in (pin for pin in text.pins if pin.ipa is not None):
        yield from ((*word.span(), None) for word in _WORD.finditer(text.text, done, pin.at))
        own = _OWN.match(text.text, pin.to)
        done = own.end() if own else pin.to
        yield pin if own is None else Pin(pin.at, done, (pin.ipa or "") + _ending(pin.ipa or ""))
    yield from ((*word.span(), None) for word in _WORD.finditer(text.text, done))


def _ending(ipa: str) -> str:
    """How "'s" sounds behind a word."""
    return "s" if ipa[-1] in "fkptθ" else "ɪz" if ipa[-1] in "szʃʒʤʧ" else "z"
