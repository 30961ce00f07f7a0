"""From text deltas to scripts: the door of the text layer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rtvoice.text.segment import Passage, Script, Segment, SpokenWord

_BOUNDARY = re.compile(r"[.!?…]+[\"')\]]*\s+|\n\s*\n\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """How an utterance's text is read. Attributes: language: `en-us`, `en-gb`."""

    language: str = "en-us"


class TextFront:
    """Cuts text into segments as it arrives and writes the script of each. One object an utterance."""

    def __init__(self, options: TextOptions) -> None:
        self._options = options
        self._text = ""
        self._start = 0

    def push(self, delta: str) -> list[Script]:
        """Take text in; return the scripts of segments whose end it proves."""
        self._text += delta
        found = []
        while (boundary := _BOUNDARY.search(self._text)) and boundary.end() < len(self._text):
            found.append(self._cut(boundary.end()))
        return found

    def flush(self) -> list[Script]:
        """Return what is left. Text pushed later begins a new segment."""
        return [self._cut(len(self._text))] if self._text.strip() else []

    def _cut(self, length: int) -> Script:
        segment = Segment(self._text[:length], self._start, self._start + length)
        self._text, self._start = self._text[length:], segment.end
        words = tuple(
            SpokenWord(w.start(), w.end(), segment.start + w.start(), segment.start + w.end())
            for w in re.finditer(r"[^\s.,;:!?…—\"()]+", segment.text)
        )
        return Script(segment, (Passage(segment.text, words),) if words else ())
