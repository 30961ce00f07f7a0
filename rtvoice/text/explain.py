"""Why something is said as it is: an account of every segment, for people and for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from rtvoice.text.front import TextFront
from rtvoice.text.segment import Passage, Script, Segment, settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rtvoice.text.front import TextOptions
    from rtvoice.text.segment import SpokenWord


class Pronounced(Protocol):
    """A word or mark of a passage as it is pronounced, as `rtvoice.speech.phonemes.PhonemeWord`."""

    @property
    def at(self) -> int:
        """Index in the passage's text of its first character."""

    @property
    def to(self) -> int:
        """Index behind its last."""

    @property
    def phonemes(self) -> str:
        """How it sounds."""

    @property
    def space(self) -> bool:
        """Whether a space follows."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is said for a text.

    Attributes:
        text: all of it.
        segments: those with more than white space, each with the white space behind it.
        scripts: what is said for each of them.
        before_flush: how many of them had come out before the end of the text was known.
    """

    text: str
    segments: tuple[Segment, ...]
    scripts: tuple[Script, ...]
    before_flush: int

    @property
    def passages(self) -> tuple[Passage, ...]:
        """All passages, in order."""
        return tuple(part for script in self.scripts for part in script.parts if isinstance(part, Passage))

    def as_json(
        self, pronounce: Callable[[Passage], Sequence[Pronounced] | None] = lambda _passage: None
    ) -> dict[str, Any]:
        """The account as it is printed.

        Args:
            pronounce: gives a passage's words and marks as they are pronounced, or None where that is not known.
        """
        return {
            "segments": [
                _account(segment, script, self.text, pronounce)
                for segment, script in zip(self.segments, self.scripts, strict=True)
            ],
            "before_flush": self.before_flush,
        }


def explain(deltas: Iterable[str], options: TextOptions) -> Explanation:
    """Read a text that comes in `deltas` and flush it."""
    front = TextFront(options)
    deltas = list(deltas)
    pushed = [script for delta in deltas for script in front.push(delta)]
    scripts = [script for script in (*pushed, *front.flush()) if script.segment.text.strip()]
    text = "".join(deltas)
    end = scripts[-1].segment.end if scripts else len(text)
    return Explanation(
        text=text,
        segments=tuple(settled((script.segment for script in scripts), space=text[end:])),
        scripts=tuple(scripts),
        before_flush=sum(bool(script.segment.text.strip()) for script in pushed),
    )


def _account(
    segment: Segment, script: Script, text: str, pronounce: Callable[[Passage], Sequence[Pronounced] | None]
) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    for part in script.parts:
        if isinstance(part, Passage):
            parts.append(_passage(part, text, pronounce(part)))
        else:
            parts.append({"pause_s": part.seconds})
    passages = [part for part in parts if "text" in part]
    known = all(part["phonemes"] is not None for part in passages)
    return {
        "text": segment.text,
        "range": [segment.start, segment.end],
        "spoken": " ".join(part["text"] for part in passages),
        "phonemes": " ".join(part["phonemes"] for part in passages) if known else None,
        "rules": list(script.rules),
        "parts": parts,
    }


def _passage(passage: Passage, text: str, pronounced: Sequence[Pronounced] | None) -> dict[str, Any]:
    return {
        "text": passage.text,
        "phonemes": None if pronounced is None else _joined(pronounced),
        "rate": passage.rate,
        "voice": passage.voice,
        "words": [_word(word, passage, text, pronounced) for word in passage.words],
    }


def _word(word: SpokenWord, passage: Passage, text: str, pronounced: Sequence[Pronounced] | None) -> dict[str, Any]:
    phonemes = word.ipa
    if pronounced is not None:
        phonemes = _joined([p for p in pronounced if word.at <= p.at and p.to <= word.to]) or phonemes
    return {
        "spoken": passage.text[word.at : word.to],
        "text": text[word.start : word.end],
        "range": [word.start, word.end],
        "phonemes": phonemes,
    }


def _joined(pronounced: Sequence[Pronounced]) -> str:
    return "".join(word.phonemes + " " * word.space for word in pronounced).strip()
