"""Cuts a passage's phonemes into what one call of the model speaks well.

The model takes 510 characters at most, and past some 250 it hurries and fades. A long passage is therefore spoken in
several calls of about equal length, cut where a speaker would breathe.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

from rtvoice.speech.vocabulary import LEADING, MAX_PHONEMES, TRAILING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtvoice.speech.phonemes import PhonemeWord

TARGET: Final = 250
"""Phonemes of one call at most, unless one word is longer."""

# How far from the best length, in parts of it, an edge may lie and still be the better place to cut.
_SENTENCE, _CLAUSE, _COMMA = 0.6, 0.45, 0.3
_BREATHS: Final = {
    **dict.fromkeys(".!?…", _SENTENCE),
    **dict.fromkeys(";:—", _CLAUSE),
    **dict.fromkeys(',)”"', _COMMA),
}
_UNSPACED: Final = _BREATHS.keys() - {'"', "."}  # which may as well open a quotation, or part initials


class Span(NamedTuple):
    """Where a word lies in a piece: number of the word, first character of its phonemes, the one behind the last."""

    word: int
    at: int
    to: int


@dataclass(frozen=True, slots=True)
class Piece:
    """What one call of the model speaks.

    Attributes:
        phonemes: 1 to 510 characters of the model's vocabulary, with no space at its ends.
        spans: the words it says, in order; a word cut in two has a span in both pieces.
    """

    phonemes: str
    spans: tuple[Span, ...]


def cut(words: Sequence[PhonemeWord], *, target: int = TARGET, limit: int = MAX_PHONEMES) -> tuple[Piece, ...]:
    """Cut words into pieces. Joined by the spaces between them, the pieces are all the words' phonemes.

    A piece has at most `target` characters, `limit` if it is a single word. It ends at the end of a sentence, a clause
    or a phrase if there is one near the length that makes all pieces equal, else between words, and inside a word only
    if that alone passes `limit`. Time is linear in the text.

    Args:
        words: as `Phonemizer.phonemise` returns them.
        target: length at which the model still speaks well, in characters.
        limit: length it takes, in characters.

    Raises:
        ValueError: not 1 <= target <= limit <= 510.
    """
    if not 1 <= target <= limit <= MAX_PHONEMES:
        raise ValueError(f"target {target} and limit {limit} must lie in 1..{MAX_PHONEMES}, in this order")
    text, spans = _joined(words)
    pieces = []
    first = 0  # of the spans that reach into the piece
    for at, to in _stretches(text, target, limit):
        inside = []
        while first < len(spans) and spans[first].at < to:
            word, start, end = spans[first]
            inside.append(Span(word, max(start, at) - at, min(end, to) - at))
            if end > to:
                break  # the rest of it is the next piece's
            first += 1
        pieces.append(Piece(text[at:to], tuple(inside)))
    return tuple(pieces)


def _joined(words: Sequence[PhonemeWord]) -> tuple[str, list[Span]]:
    """The phonemes of all words, and where each lies."""
    parts: list[str] = []
    spans = []
    length = 0
    for number, word in enumerate(words):
        spans.append(Span(number, length, length + len(word.phonemes)))
        parts += [word.phonemes, " "] if word.space else [word.phonemes]
        length += len(word.phonemes) + word.space
    return "".join(parts), spans


def _stretches(text: str, target: int, limit: int) -> Iterator[tuple[int, int]]:
    """Ranges of the pieces; only spaces lie between them."""
    at, end = 0, len(text.rstrip(" "))
    while at < end:
        if text[at] == " ":
            at += 1
            continue
        to = end if end - at <= target else _edge(text, at, end, target, limit)
        yield at, to
        at = to


def _edge(text: str, at: int, end: int, target: int, limit: int) -> int:
    """Where the piece that starts at `at` best ends; more than `target` characters are left."""
    even = (end - at) / ceil((end - at) / target)
    best, least = 0, float("inf")
    for place in range(at + 1, at + target + 1):
        if text[place - 1] == " " or not (text[place] == " " or _parts(text, place)):
            continue
        loss = abs(place - at - even) / even - _BREATHS.get(text[place - 1], 0.0)
        if loss <= least:
            best, least = place, loss
    if best:
        return best
    # A word longer than the target: whole if the model takes it, else in the fewest even parts.
    space = text.find(" ", at, end)
    length = (end if space == -1 else space) - at
    if length <= limit:
        return at + length
    half = at + ceil(length / ceil(length / limit))
    place = half
    while place > at + 1 and (text[place] in TRAILING or text[place - 1] in LEADING):
        place -= 1
    return place if place > at + 1 else half


def _parts(text: str, place: int) -> bool:
    """Whether a mark ends before `place` and a word begins there: *wait—what*."""
    return text[place - 1] in _UNSPACED and text[place] not in _BREATHS
