"""A text whose every character knows where it came from.

Rewriting text for speech ("$5" becomes "five dollars") must not lose the place: word times on the wire are given
in characters of the text as sent. A `Mapped` carries, for each of its characters, the range of the original that
the character stands for, and every operation keeps that right::

    text = Mapped.of("It cost $5.")
    spoken = text.edit([Edit(8, 10, "five dollars")])
    spoken.text                # 'It cost five dollars.'
    spoken.origin(13, 20)      # (8, 10): "dollars" came from "$5"
    spoken.origin(3, 7)        # (3, 7): untouched characters stand for themselves

Some words are already as they shall be said: the author gave their phonemes, or the words to read instead. Such
words are *pinned*: later edits pass them by.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Edit(NamedTuple):
    """Characters `at` up to `to` become `new`. Equal indices insert; empty `new` deletes."""

    at: int
    to: int
    new: str | Mapped


class Pin(NamedTuple):
    """Characters `at` up to `to` are said as they stand, with the phonemes `ipa` if given."""

    at: int
    to: int
    ipa: str | None = None


class Mapped:
    """An immutable text with the origin of each character.

    Attributes:
        text: the characters.
        starts: for each character, index in the original of the first character it stands for. Never written to.
        ends: for each character, index behind the last of them. Never written to.
        pins: spans that no edit changes, in order, apart from each other.
        anchor: place in the original that an empty text stands for.
    """

    __slots__ = ("anchor", "ends", "pins", "starts", "text")

    def __init__(self, text: str, starts: array[int], ends: array[int], pins: tuple[Pin, ...], anchor: int) -> None:
        self.text = text
        self.pins = pins
        self.starts = starts
        self.ends = ends
        self.anchor = anchor

    @classmethod
    def of(cls, text: str, start: int = 0) -> Mapped:
        """The original itself, or the part of it that begins at `start`."""
        end = start + len(text)
        return cls(text, array("q", range(start, end)), array("q", range(start + 1, end + 1)), (), start)

    @classmethod
    def standing_for(cls, text: str, start: int, end: int) -> Mapped:
        """New text, all of which stands for the original's characters `start` up to `end`."""
        return cls(text, array("q", [start]) * len(text), array("q", [end]) * len(text), (), start)

    def origin(self, at: int = 0, to: int | None = None) -> tuple[int, int]:
        """Range of the original that characters `at` up to `to` stand for: the least that holds all of theirs.

        An empty range stands for the empty range at its place.
        """
        to = len(self.text) if to is None else to
        if at < to:
            return min(self.starts[at:to]), max(self.ends[at:to])
        place = self.ends[at - 1] if at > 0 else self.starts[0] if self.text else self.anchor
        return place, place

    def edit(self, edits: Iterable[Edit]) -> Mapped:
        """Apply edits to this text, all at once, in time linear in the text and what is new.

        New text stands for what all the characters it replaces stand for; if it is itself a `Mapped`, it keeps its
        own origins and pins. Edits that touch a pin are passed over.

        Args:
            edits: in order, not overlapping; indices are those of this text.

        Raises:
            ValueError: edits are out of order, overlap, or lie outside the text.
        """
        result = _Builder()
        done = 0  # characters of this text that are dealt with
        for at, to, new in edits:
            if not done <= at <= to <= len(self.text):
                raise ValueError(f"edit of {at}..{to} after {done} in a text of {len(self.text)} characters")
            if self.pins and self._pinned(at, to):
                continue
            result.add(self, done, at)
            if isinstance(new, Mapped):
                result.add(new, 0, len(new))
            else:
                result.add_new(new, *self.origin(at, to))
            done = to
        if result.empty:
            return self
        result.add(self, done, len(self.text))
        return result.build(self.anchor)

    def replace(self, at: int, to: int, new: str | Mapped) -> Mapped:
        """Apply one edit."""
        return self.edit((Edit(at, to, new),))

    def pin(self, at: int, to: int, ipa: str | None = None) -> Mapped:
        """Let no later edit change characters `at` up to `to`; give them phonemes if `ipa` is given.

        For many pins at once, `edit` in texts that are pinned: that stays linear.

        Raises:
            ValueError: the range is empty, outside the text, or overlaps another pin.
        """
        if not 0 <= at < to <= len(self.text) or any(pin.at < to and at < pin.to for pin in self.pins):
            raise ValueError(f"cannot pin {at}..{to} in a text of {len(self.text)} characters")
        pins = tuple(sorted((*self.pins, Pin(at, to, ipa))))
        return Mapped(self.text, self.starts, self.ends, pins, self.anchor)

    @classmethod
    def join(cls, texts: Iterable[Mapped]) -> Mapped:
        """One text after the other. Their originals must be the same."""
        texts = tuple(texts)
        result = _Builder()
        for text in texts:
            result.add(text, 0, len(text))
        return result.build(texts[0].anchor if texts else 0)

    def __add__(self, other: Mapped) -> Mapped:
        return Mapped.join((self, other))

    def __getitem__(self, part: slice) -> Mapped:
        """A part, with the pins that lie whole in it. Steps other than 1 are refused."""
        at, to, step = part.indices(len(self.text))
        if step != 1:
            raise ValueError("a Mapped is sliced without a step")
        result = _Builder()
        result.add(self, at, max(at, to))
        return result.build(self.origin(at, at)[0])

    def _pinned(self, at: int, to: int) -> bool:
        """Whether an edit of `at` up to `to` would change a pinned character or part two of them."""
        first = bisect_right(self.pins, at, key=lambda pin: pin.to)
        return first < len(self.pins) and self.pins[first].at < to

    def strip(self) -> Mapped:
        """Without the white space around it."""
        at, to = len(self.text) - len(self.text.lstrip()), len(self.text.rstrip())
        return self if to - at == len(self.text) else self[at:to]

    def __len__(self) -> int:
        return len(self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Mapped({self.text!r} of {self.origin()})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapped):
            return NotImplemented
        return (
            self.text == other.text
            and self.starts == other.starts
            and self.ends == other.ends
            and self.pins == other.pins
        )

    def __hash__(self) -> int:
        return hash((self.text, self.pins))


class _Builder:
    """A `Mapped` under construction: stretches of others are added behind each other."""

    __slots__ = ("_ends", "_pins", "_starts", "_texts")

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._starts: array[int] = array("q")
        self._ends: array[int] = array("q")
        self._pins: list[Pin] = []

    @property
    def empty(self) -> bool:
        """Whether nothing was ever added, not even an empty stretch."""
        return not self._texts

    def add(self, source: Mapped, at: int, to: int) -> None:
        """Add `source`'s characters `at` up to `to`, with the pins that lie whole in them."""
        if source.pins:
            shift = len(self._starts) - at
            first = bisect_left(source.pins, at, key=lambda pin: pin.at)
            last = bisect_right(source.pins, to, key=lambda pin: pin.to)
            self._pins.extend(Pin(p.at + shift, p.to + shift, p.ipa) for p in source.pins[first:last])
        self._texts.append(source.text[at:to])
        self._starts += source.starts[at:to]
        self._ends += source.ends[at:to]

    def add_new(self, text: str, start: int, end: int) -> None:
        """Add text that stands for the original's characters `start` up to `end`."""
        self._texts.append(text)
        self._starts += array("q", (start,)) * len(text)
        self._ends += array("q", (end,)) * len(text)

    def build(self, anchor: int) -> Mapped:
        return Mapped("".join(self._texts), self._starts, self._ends, tuple(self._pins), anchor)
