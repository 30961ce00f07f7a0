"""What all readers have in common, and the reader of text without marks."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from rtvoice.text.ipa import is_plainly_phonemes
from rtvoice.text.mapped import Edit, Mapped
from rtvoice.text.segment import Pause

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtvoice.text.segment import Segment

Code = Literal["notice", "skip"]
"""What is said for fenced code: that there is some, or nothing."""

MAX_PAUSE_S = 10.0
"""Longest silence one mark can ask for."""

_PAUSE = re.compile(r"\[pause:\s{0,3}(\d{1,5}(?:\.\d{1,3})?)\s?(ms|s)\]", re.IGNORECASE)
_SPOKEN_IPA = re.compile(r"\[([^\[\]]{1,100})\]\(/([^/()\s][^/()]{0,200})/\)")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Text to be said in one voice at one pace.

    Attributes:
        text: what is left to say, marks removed; not yet in spoken form.
        rate: factor on the utterance's speed.
        voice: a voice other than the utterance's, or None.
    """

    text: Mapped
    rate: float = 1.0
    voice: str | None = None


class Reading(NamedTuple):
    """What a segment's marks leave to say, in order, and the names of the rules that fired."""

    parts: tuple[Stretch | Pause, ...]
    rules: tuple[str, ...] = ()


class Reader(ABC):
    """Reads the marks of one utterance's segments."""

    @abstractmethod
    def read(self, segment: Segment, *, begins_line: bool) -> Reading:
        """Read the next segment.

        Args:
            segment: segments come in order, none left out.
            begins_line: whether its first character is the first of a line.
        """


class PlainReader(Reader):
    """Reads text without marks; only control marks act, if they may.

    Args:
        control: whether pauses and inline phonemes act.
    """

    def __init__(self, *, control: bool) -> None:
        self._control = control

    def read(self, segment: Segment, *, begins_line: bool) -> Reading:
        """Read the next segment."""
        text = Mapped.of(segment.text, segment.start)
        rules: list[str] = []
        if self._control:
            text = pin_phonemes(text, rules)
        return Reading(tuple(pauses(Stretch(text), rules) if self._control else (Stretch(text),)), tuple(rules))


def pin_phonemes(text: Mapped, rules: list[str]) -> Mapped:
    """Replace each `[word](/phonemes/)` by its word, pinned to these phonemes.

    Anything else in that form is a link and stays as it is.
    """
    edits = []
    for match in _SPOKEN_IPA.finditer(text.text):
        if is_plainly_phonemes(match[2]):
            word = text[match.start(1) : match.end(1)]
            edits.append(Edit(match.start(), match.end(), word.pin(0, len(word), match[2].strip())))
    if edits:
        rules.append("inline phonemes")
    return text.edit(edits)


def pauses(stretch: Stretch, rules: list[str]) -> Iterable[Stretch | Pause]:
    """Cut a stretch at its `[pause:0.8s]` marks."""
    text, at = stretch.text, 0
    for match in _PAUSE.finditer(text.text):
        if match.start() > at:
            yield Stretch(text[at : match.start()], stretch.rate, stretch.voice)
        yield Pause(seconds(match[1], match[2]))
        at = match.end()
    if at:
        rules.append("pause")
    if at < len(text) or not at:
        yield Stretch(text[at:] if at else text, stretch.rate, stretch.voice)


def seconds(number: str, unit: str) -> float:
    """`("800", "ms")` -> 0.8, at most `MAX_PAUSE_S`."""
    return min(float(number) / (1000 if unit.lower() == "ms" else 1), MAX_PAUSE_S)
