"""From text deltas to scripts: the door of the text layer.

::

    delta -> segmenter -> markup -> lexicon -> normaliser -> passages -> lengths -> scripts
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from rtvoice.text.clauses import clause_edge
from rtvoice.text.lengths import MAX_PHONEMES, Lengths, estimated_phonemes, fitted, joined
from rtvoice.text.markup import Stretch, reader_for
from rtvoice.text.normaliser import normalise
from rtvoice.text.segment import Markup, Passage, Pause, Script, Segment
from rtvoice.text.segmenter import Segmenter
from rtvoice.text.spoken import passage

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtvoice.text.lengths import EarlyCut, PhonemeCounter
    from rtvoice.text.lexicon import Lexicon
    from rtvoice.text.markup import Code


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """How an utterance's text is read.

    Attributes:
        language: tag of the text's language: `en-us`, `en-gb`.
        markup: whose marks the text has. With `ssml` its tags act.
        control: whether `[pause:0.8s]` and `[word](/phonemes/)` act; leave it off for text from people not trusted.
        emoji: whether emoji are silent or their names are said.
        code: what is said for fenced code: a short notice, or nothing.
        lengths: the sizes aimed at; None leaves segments as they are. The default cuts what is long and joins
            nothing, so that what is heard does not depend on how the text was cut into deltas.
        lexicon: how some words are said, or None.
        voices: tells whether an SSML voice tag may name a voice or a blend; others change nothing. None allows any.
    """

    language: str = "en-us"
    markup: Markup = "markdown"
    control: bool = False
    emoji: Literal["silent", "names"] = "silent"
    code: Code = "notice"
    lengths: Lengths | None = field(default_factory=lambda: Lengths(least=0))
    lexicon: Lexicon | None = None
    voices: Callable[[str], bool] | None = None


class TextFront:
    """Cuts text into segments as it arrives and writes the script of each. One object an utterance.

    Work is linear in the text, about a millisecond for a few sentences: give long text in pieces of some hundred
    characters where an event loop must not wait. How it is cut changes no boundary.

    Args:
        options: how the text is read.
        count: counts the phonemes of a text in spoken form.
        clock: seconds that pass, to measure how fast text arrives.
    """

    def __init__(
        self,
        options: TextOptions,
        *,
        count: PhonemeCounter = estimated_phonemes,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._segmenter = Segmenter(options.language, options.markup)
        self._reader = reader_for(
            options.markup,
            language=options.language,
            control=options.control,
            code=options.code,
            voices=options.voices,
        )
        self._language = options.language
        self._emoji_names = options.emoji == "names"
        self._lexicon = options.lexicon
        self._lengths = options.lengths
        self._early = options.lengths.early if options.lengths else None
        self._count = count
        self._clock = clock
        self._began: float | None = None  # when the first text came
        self._characters = 0  # that came after it
        self._opening = True  # no segment has left yet
        self._begins_line = True

    def push(self, delta: str) -> list[Script]:
        """Take text in; return the scripts of segments whose end it proves."""
        segments = self._segmenter.push(delta)
        if self._opening and self._early is not None:
            segments = segments or self._first_clause(self._early, delta)
        return self._scripts(segments) if segments else []

    def flush(self) -> list[Script]:
        """Return what is left. Text pushed later begins a new segment."""
        segments = self._segmenter.flush()
        scripts = self._scripts(segments) if segments else []
        self._begins_line = True
        return scripts

    def _first_clause(self, early: EarlyCut, delta: str) -> list[Segment]:
        """The first clause of the utterance, if to speak it now pays."""
        now = self._clock()
        if self._began is None:
            self._began = now
            return []
        self._characters += len(delta)
        if now <= self._began:
            return []
        pending = self._segmenter.pending
        edge = clause_edge(pending)
        rate = self._characters / (now - self._began)
        if edge is None or not early.pays(self._count(pending[:edge]), len(pending), rate):
            return []
        return [self._segmenter.cut(edge)]

    def _scripts(self, segments: list[Segment]) -> list[Script]:
        scripts = [self._write(segment) for segment in segments]
        lengths = self._lengths
        if lengths is not None and len(scripts) > 1:
            scripts = joined(scripts, lengths, self._count, opening=self._opening)
        self._opening = False
        most, best = (MAX_PHONEMES, MAX_PHONEMES // 2) if lengths is None else (lengths.most, lengths.best)
        return [fitted(script, most, best, self._count) for script in scripts]

    def _write(self, segment: Segment) -> Script:
        """The script of a segment."""
        reading = self._reader.read(segment, begins_line=self._begins_line)
        self._begins_line = segment.text.endswith("\n")
        rules = list(reading.rules)
        parts: list[Passage | Pause] = []
        for part in reading.parts:
            said = self._say(part, rules) if isinstance(part, Stretch) else part
            if said is not None:
                parts.append(said)
        return Script(segment, tuple(parts), tuple(dict.fromkeys(rules)))

    def _say(self, stretch: Stretch, rules: list[str]) -> Passage | None:
        """Put a stretch into its spoken form."""
        text = stretch.text
        if self._lexicon is not None:
            text, replaced = self._lexicon.apply(text)
            rules += (f"lexicon: {written}" for written in replaced)
        said = normalise(text, self._language, emoji_names=self._emoji_names)
        rules += said.rules
        return passage(said.text, rate=stretch.rate, voice=stretch.voice)
