"""From spoken text to a passage: which words are said, and which characters each came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import regex

from rtvoice.text.segment import Passage, SpokenWord

if TYPE_CHECKING:
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
    plain, starts, ends = text.text, text.starts, text.ends
    pieces: list[str] = []
    words: list[SpokenWord] = []
    done = shift = 0  # characters of `text` dealt with, and how much further on they are in the passage

    def add_words(to: int) -> None:
        # A word's characters are in the order of the original: the first and the last tell its range.
        for word in _WORD.finditer(plain, done, to):
            at, behind = word.span()
            words.append(SpokenWord(at + shift, behind + shift, starts[at], ends[behind - 1]))

    for pin in text.pins:
        if pin.ipa is None:
            continue
        add_words(pin.at)
        own = _OWN.match(plain, pin.to)
        to, ipa = (own.end(), pin.ipa + _ending(pin.ipa)) if own else (pin.to, pin.ipa)
        said = _UNWRITTEN.sub("", plain[pin.at : to]).strip() or _STAND_IN
        pieces += (plain[done : pin.at], said)
        at = pin.at + shift
        words.append(SpokenWord(at, at + len(said), *text.origin(pin.at, to), ipa))
        shift += len(said) - (to - pin.at)
        done = to
    add_words(len(plain))
    return Passage("".join(pieces) + plain[done:], tuple(words), rate, voice) if words else None


def _ending(ipa: str) -> str:
    """How "'s" sounds behind a word."""
    return "s" if ipa[-1] in "fkptθ" else "ɪz" if ipa[-1] in "szʃʒʤʧ" else "z"
