"""Times of single characters, as ElevenLabs' protocol has them, from the times of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtvoice.protocol.messages import Word


@dataclass(frozen=True, slots=True)
class Alignment:
    """A run of characters and when they are heard.

    Attributes:
        characters: one by one. White space is a space.
        starts_ms: when each begins.
        durations_ms: how long each lasts. The next run's time goes on where the last character's ends.
    """

    characters: tuple[str, ...]
    starts_ms: tuple[int, ...]
    durations_ms: tuple[int, ...]


class Aligner:
    """Gives an utterance's characters their times, each exactly once and in order, as its words become known.

    Between words time stands still until the next one begins; within a word it passes evenly.

    Args:
        absolute: whether times count from the utterance's first sample; else from the end of the run before.
    """

    def __init__(self, *, absolute: bool) -> None:
        self._absolute = absolute
        self._text = ""
        self._next = 0  # the first character that has no time yet
        self._ends_ms = 0  # of the last that has

    def push(self, text: str) -> None:
        """Add text that arrived."""
        self._text += text

    def align(self, words: Sequence[Word], within: int) -> Alignment | None:
        """Give times to the characters up to the last of these words, and to the marks and spaces behind it.

        Args:
            words: that follow those given before.
            within: index behind the last character of their segment: nothing behind it is given a time.

        Returns:
            The run, or None if it has no character.
        """
        run = _Run(self._ends_ms)
        for word in words:
            start_ms, end_ms = round(word.start_s * 1000), round(word.end_s * 1000)
            if word.end <= self._next:  # another word said for the same characters
                run.extend(end_ms)
                continue
            run.wait(self._text[self._next : word.start], start_ms)
            run.say(self._text[max(self._next, word.start) : word.end], start_ms, end_ms)
            self._next = word.end
        behind = self._behind(within)
        run.wait(self._text[self._next : behind], run.ends_ms)
        self._next = behind
        return self._finish(run)

    def rest(self) -> Alignment | None:
        """Give the time of the end to all characters that are left, with a space at the end if there is none.

        Readers that take words from characters take one for finished when a space follows.
        """
        run = _Run(self._ends_ms)
        left = self._text[self._next :]
        if self._text and not self._text[-1].isspace():
            left += " "
        run.wait(left, run.ends_ms)
        self._next = len(self._text)
        return self._finish(run)

    def _behind(self, within: int) -> int:
        """Index of the first character that belongs to the next word."""
        at = self._next
        while at < within and not self._text[at].isalnum() and not self._text[at].isspace():
            at += 1
        while at < within and self._text[at].isspace():
            at += 1
        return at

    def _finish(self, run: _Run) -> Alignment | None:
        if not run.characters:
            return None
        base = 0 if self._absolute else self._ends_ms
        self._ends_ms = run.ends_ms
        starts = tuple(start - base for start in run.starts)
        return Alignment(tuple(" " if letter.isspace() else letter for letter in run.characters), starts, run.lengths)


class _Run:
    """Characters that are being given times, which never fall."""

    def __init__(self, begins_ms: int) -> None:
        self.characters = ""
        self.starts: list[int] = []
        self.ends_ms = begins_ms

    @property
    def lengths(self) -> tuple[int, ...]:
        ends = [*self.starts[1:], self.ends_ms]
        return tuple(end - start for start, end in zip(self.starts, ends, strict=True))

    def wait(self, characters: str, until_ms: int) -> None:
        """Characters that are not heard; the last of them lasts until then."""
        self.characters += characters
        self.starts += [self.ends_ms] * len(characters)
        if characters:
            self.ends_ms = max(self.ends_ms, until_ms)

    def say(self, characters: str, start_ms: int, end_ms: int) -> None:
        """Characters that are heard in that time."""
        if self.characters:
            self.extend(start_ms)
        start = max(start_ms, self.ends_ms)
        end = max(end_ms, start)
        self.starts += [start + (end - start) * number // len(characters) for number in range(len(characters))]
        self.characters += characters
        self.ends_ms = end

    def extend(self, end_ms: int) -> None:
        """Let the last character last until then."""
        if self.characters:
            self.ends_ms = max(self.ends_ms, end_ms)
