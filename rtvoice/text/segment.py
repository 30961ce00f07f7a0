"""The text layer's words: what a segment is, and what is said for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Markup = Literal["markdown", "plain", "ssml"]
"""Whose marks a text has: those of Markdown as models write it, none, or SSML's tags."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One sentence or clause, as sent.

    Joined, an utterance's segments are its text: white space belongs to the segment before it.

    Attributes:
        text: the characters as sent, white space included.
        start: index of its first character in the utterance's text.
        end: index behind its last character; `end - start == len(text)`.
    """

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """One word of a passage.

    Attributes:
        at: index of its first character in the passage's text.
        to: index behind its last character there.
        start: index of the first character it came from, in the utterance's text as sent.
        end: index behind the last of them.
        ipa: its phonemes where the author gave them, else None.
    """

    at: int
    to: int
    start: int
    end: int
    ipa: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """Words said in one breath.

    Attributes:
        text: the spoken form: words and punctuation, no digit and no symbol.
        words: its words in order.
        rate: factor on the utterance's speed.
        voice: a voice other than the utterance's, or None.
    """

    text: str
    words: tuple[SpokenWord, ...]
    rate: float = 1.0
    voice: str | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence of an exact length, in seconds (0 or more)."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Script:
    """What is said for one segment.

    Attributes:
        segment: the characters it is said for.
        parts: passages and pauses in order; none if there is nothing to say.
        rules: names of the rewriting rules that fired, in order, for people who ask why.
    """

    segment: Segment
    parts: tuple[Passage | Pause, ...]
    rules: tuple[str, ...] = ()


def settled(segments: Iterable[Segment], space: str = "") -> list[Segment]:
    """The segments of a whole text, with all white space moved to the segment before it.

    A segment that has left cannot take white space that comes later: the next one brings it along. Looking back, this
    puts it where it belongs.

    Args:
        segments: all of them, in order.
        space: white space that came after the last one.

    Returns:
        As many segments as had more than white space.
    """
    moved: list[Segment] = []
    lead = ""
    for segment in segments:
        text = segment.text.lstrip()
        before = segment.text[: len(segment.text) - len(text)]
        if moved:
            moved[-1] = _longer(moved[-1], before)
        else:
            lead += before
        if text:
            moved.append(Segment(lead + text, segment.end - len(text) - len(lead), segment.end))
            lead = ""
    if moved:
        moved[-1] = _longer(moved[-1], space)
    return moved


def _longer(segment: Segment, space: str) -> Segment:
    return Segment(segment.text + space, segment.start, segment.end + len(space)) if space else segment
