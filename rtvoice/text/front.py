"""From text deltas to scripts: the door of the text layer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rtvoice.text.segment import Markup, Passage, Script, Segment, SpokenWord
from rtvoice.text.segmenter import Segmenter


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """How an utterance's text is read.

    Attributes:
        language: tag of the text's language: `en-us`, `en-gb`.
        markup: whose marks the text has.
    """

    language: str = "en-us"
    markup: Markup = "markdown"


class TextFront:
    """Cuts text into segments as it arrives and writes the script of each. One object an utterance."""

    def __init__(self, options: TextOptions) -> None:
        self._segmenter = Segmenter(options.language, options.markup)

    def push(self, delta: str) -> list[Script]:
        """Take text in; return the scripts of segments whose end it proves."""
        return [_script(segment) for segment in self._segmenter.push(delta)]

    def flush(self) -> list[Script]:
        """Return what is left. Text pushed later begins a new segment."""
        return [_script(segment) for segment in self._segmenter.flush()]


def _script(segment: Segment) -> Script:
    words = tuple(
        SpokenWord(w.start(), w.end(), segment.start + w.start(), segment.start + w.end())
        for w in re.finditer(r"[^\s.,;:!?…—\"()]+", segment.text)
    )
    return Script(segment, (Passage(segment.text, words),) if words else ())
