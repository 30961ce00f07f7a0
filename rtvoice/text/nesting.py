"""What is open at a place in the text: brackets, code spans and quotation marks."""

from __future__ import annotations

from typing import NamedTuple, Self

REACH = 160
"""Characters after its opening for which a bracket or code span keeps a sentence together. One that is open for longer
was never meant to close, and holds nothing up."""

QUOTE_REACH = 320
"""Likewise for quotation marks, inside which there may be whole sentences."""

_OPENERS = "([（［"
_CLOSERS = ")]）］"
_QUOTE_OPENERS = "「『“«〈《【"
_QUOTE_CLOSERS = "」』”»〉》】"
_EYES = ":;=8-^'"

MARKS = _OPENERS + _CLOSERS + _QUOTE_OPENERS + _QUOTE_CLOSERS + '"`'


class Nesting(NamedTuple):
    """The marks open at a place. Immutable: a decision that waits for more text has changed nothing.

    Attributes:
        depth: brackets open.
        bracket: place of the first of them.
        code: place where a code span opened, or -1.
        quotes: quotation marks open.
        quote: place of the first of them.
        straight: place where a straight quotation mark opened, or -1.
    """

    depth: int = 0
    bracket: int = 0
    code: int = -1
    quotes: int = 0
    quote: int = 0
    straight: int = -1

    def holds(self, place: int) -> bool:
        """Whether a stop at `place` ends nothing because it lies inside brackets or code."""
        in_brackets = self.depth > 0 and place - self.bracket < REACH
        return in_brackets or (self.code >= 0 and place - self.code < REACH)

    def quoted(self, place: int) -> bool:
        """Whether `place` lies inside quotation marks, so that a closing one may follow a stop there."""
        return (
            (self.quotes > 0 and place - self.quote < QUOTE_REACH)
            or (self.straight >= 0 and place - self.straight < QUOTE_REACH)
            or self.holds(place)
        )

    def through(self, text: str, at: int, to: int, start: int, *, first: int) -> Self:
        """The state behind `text[at:to]`.

        Args:
            text: the text under way.
            at: where to begin reading.
            to: where to stop.
            start: place of `text[0]` in the whole.
            first: index of the segment's first character that is no white space: a bracket there is no parenthesis
                inside a sentence but one around sentences.
        """
        state = self
        for index in range(at, to):
            char = text[index]
            if char in MARKS:
                state = state._read(char, start + index, text[index - 1] if index else "", opens=index == first)
        return state

    def _read(self, char: str, place: int, before: str, *, opens: bool) -> Self:
        if char in _OPENERS:
            if (char in "(（" and opens) or (char == "(" and before in _EYES and before):
                return self
            if self.depth and place - self.bracket < REACH:
                return self._replace(depth=self.depth + 1)
            return self._replace(depth=1, bracket=place)
        if char in _CLOSERS:
            return self._replace(depth=max(0, self.depth - 1))
        if char == "`":
            return self._replace(code=place if self.code < 0 or place - self.code >= REACH else -1)
        if char in _QUOTE_OPENERS:
            if self.quotes and place - self.quote < QUOTE_REACH:
                return self._replace(quotes=self.quotes + 1)
            return self._replace(quotes=1, quote=place)
        if char in _QUOTE_CLOSERS:
            return self._replace(quotes=max(0, self.quotes - 1))
        closes = self.straight >= 0 and place - self.straight < QUOTE_REACH
        return self._replace(straight=-1 if closes else place)
