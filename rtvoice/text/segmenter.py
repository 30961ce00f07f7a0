"""Cuts text into segments as it arrives.

A segment leaves at the first moment the text that has come proves where it ends, whatever the text's pieces were:
every decision reads a fixed stretch of text behind its place, waits until that stretch is there, and is never
taken back. Time is linear in the text, memory is bounded by `MAX_CHARACTERS`.
"""

from __future__ import annotations

import regex

from rtvoice.text import lines
from rtvoice.text.abbreviations import orthography
from rtvoice.text.clauses import forced_edge
from rtvoice.text.lines import Line
from rtvoice.text.nesting import MARKS, Nesting
from rtvoice.text.segment import Markup, Segment
from rtvoice.text.stops import STOPS, Ruling, rule

MAX_CHARACTERS = 600
"""Length of the longest segment: about 40 s of speech. Text that reaches it without an end is cut at its last clause
edge, else at its last space, else between two characters."""

# A full stop inside a number, a name or an address is passed over here, which is what most of them are.
_EVENT = rf"[{regex.escape((STOPS + MARKS).replace('.', ''), special_only=True)}<\n]|\.(?![a-z0-9])"
_EVENTS = regex.compile(_EVENT)
_EVENTS_GREEK = regex.compile(_EVENT + "|;")
_SPACE = regex.compile(r"\s*+")
_WORD = regex.compile(r"[\p{L}\p{N}]")
_TAG = regex.compile(
    r"""</?[A-Za-z][\w:-]*+
        (?:\s++[\w:-]++(?:\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+'|[^\s"'<>=`]++))?+)*+
        \s*+/?>""",
    regex.VERBOSE,
)
_TAG_REACH = 300
_PARAGRAPH_END = regex.compile(r"</(?:p|s|speak)\s*>\Z")
_COMMENT, _COMMENT_END = "<!--", "-->"


class Segmenter:
    """Cuts one utterance's text into segments.

    Joined, the segments are the text. White space belongs to the segment before it, as far as it had come when that
    one left: where a single space or a full-width stop proves the end, more white space opens the next segment
    (`settled` in `rtvoice.text.segment` moves it back). White space alone is no segment.

    Args:
        language: tag of the text's language (`en-us`, `de`); decides abbreviations and ordinals.
        markup: whose marks the text has.
    """

    def __init__(self, language: str = "en-us", markup: Markup = "markdown") -> None:
        self._orthography = orthography(language)
        self._markup = markup
        self._events = _EVENTS_GREEK if language.partition("-")[0] == "el" else _EVENTS
        self._text = ""  # what no segment has taken yet; indices below count in it
        self._start = 0  # its place in the whole text
        self._at = 0  # read up to here
        self._wordless = 0  # there is no word before this
        self._nesting = Nesting()
        self._line = 0  # where the line that is being read began; negative if in an earlier segment
        self._kind = Line.PROSE
        self._opening = True  # at the beginning of a line, whose kind is not known yet
        self._marked = False  # behind a mark there, which an item's mark may follow
        self._broken = False  # a line break is being read that may yet end the segment
        self._short = False  # the line before it is shorter than wrapped prose
        self._fenced = False  # inside fenced code
        self._comment = False  # inside an HTML comment

    @property
    def pending(self) -> str:
        """The text that has come and belongs to no segment yet."""
        return self._text

    def push(self, delta: str) -> list[Segment]:
        """Take text in; return the segments whose end it proves, in order."""
        if self._is_uneventful(delta):
            self._text += delta
            self._at = len(self._text)
            return []
        segments: list[Segment] = []
        taken = 0
        while taken < len(delta):
            # The window, not the delta, decides what is seen at once: a long delta is cut as many short ones are.
            piece = delta[taken : taken + MAX_CHARACTERS - len(self._text)]
            taken += len(piece)
            self._text += piece
            segments += self._read(final=False)
            if len(self._text) >= MAX_CHARACTERS:
                segments.append(self._cut(forced_edge(self._text)))
        return segments

    def flush(self) -> list[Segment]:
        """Return what is left as segments. Text pushed later begins a new segment."""
        segments = self._read(final=True)
        if self._fenced and self._line >= 0 and self._kind is not Line.FENCE:
            self._fenced = not lines.closes_fence(self._text[self._line :] + "\n")
        if self._text.strip():
            segments.append(self._cut(len(self._text)))
        self._start += len(self._text)
        self._text = ""
        self._nesting = Nesting()
        self._at = self._line = self._wordless = 0
        self._kind, self._opening, self._marked, self._broken = Line.PROSE, True, False, False
        return segments

    def cut(self, length: int) -> Segment:
        """Take the first `length` pending characters as a segment, though nothing proves that it ends there.

        Raises:
            ValueError: `length` is not between 1 and the number of pending characters.
        """
        if not 1 <= length <= len(self._text):
            raise ValueError(f"{length} of {len(self._text)} pending characters")
        return self._cut(length)

    def _cut(self, length: int) -> Segment:
        segment = Segment(self._text[:length], self._start, self._start + length)
        self._text = self._text[length:]
        self._start += length
        self._at = max(0, self._at - length)
        self._wordless = 0
        self._line -= length
        return segment

    def _is_uneventful(self, delta: str) -> bool:
        """Whether `delta` only goes on with a line that has been read to its end. Most deltas do."""
        return (
            self._at == len(self._text)
            and len(self._text) + len(delta) < MAX_CHARACTERS
            and not (self._opening or self._marked or self._fenced or self._comment)
            and self._events.search(delta) is None
        )

    def _read(self, *, final: bool) -> list[Segment]:
        """Read on as far as the text allows."""
        segments = []
        while (ruling := self._next(final=final)) is not None:
            if ruling.ends and self._has_word(ruling.at):
                segments.append(self._cut(ruling.at))
        return segments

    def _has_word(self, to: int) -> bool:
        """Whether there is anything to say before `to`. Marks alone are no segment."""
        word = _WORD.search(self._text, self._wordless, to)
        self._wordless = word.start() if word else max(self._wordless, to)
        return word is not None

    def _next(self, *, final: bool) -> Ruling | None:
        """Decide about the next place that may end a segment; None if there is none yet."""
        if self._comment:
            return self._read_comment()
        if self._opening:
            return self._read_opening(final=final)
        if self._marked:
            return self._read_second_mark(final=final)
        if self._fenced:
            feed = self._text.find("\n", self._at)
            self._at = feed if feed >= 0 else len(self._text)
            return self._read_line_end(feed) if feed >= 0 else None
        event = self._events.search(self._text, self._at)
        if event is None:
            self._at = len(self._text)
            return None
        self._at = at = event.start()
        char = self._text[at]
        if char == "\n":
            return self._read_line_end(at)
        if char == "<":
            return self._read_tag(at, final=final)
        if char in MARKS:
            return self._go_on(at + 1)
        ruling = rule(
            self._text,
            at,
            nesting=self._nesting,
            start=self._start,
            first=self._first,
            orthography=self._orthography,
            final=final,
        )
        if ruling is None:
            return None
        self._go_on(ruling.at)
        feed = self._text.rfind("\n", at, ruling.at)
        if feed >= 0:
            self._begin_line(feed + 1, broken=False)
        return ruling

    @property
    def _first(self) -> int:
        """Index of the first character that is no white space."""
        space = _SPACE.match(self._text)
        return space.end() if space else 0

    def _go_on(self, to: int) -> Ruling:
        """Read up to `to`, minding what opens and closes on the way."""
        self._nesting = self._nesting.through(self._text, self._at, to, self._start, first=self._first)
        self._at = to
        return Ruling(False, to)

    def _begin_line(self, at: int, *, broken: bool) -> None:
        self._at = self._line = at
        self._opening, self._broken = True, broken

    def _read_line_end(self, at: int) -> Ruling:
        """Rule on the line feed at `at`."""
        line = self._text[max(0, self._line) : at + 1]
        whole = self._line >= 0
        if self._fenced:
            self._fenced = not (whole and self._kind is not Line.FENCE and lines.closes_fence(line))
            self._kind = Line.PROSE
            ends = not self._fenced
        else:
            ends = self._kind in lines.STANDS_ALONE or (whole and lines.is_title(line))
        self._short = whole and len(line) <= lines.SHORT
        self._begin_line(at + 1, broken=not ends and not self._fenced)
        return Ruling(ends, at + 1)

    def _read_opening(self, *, final: bool) -> Ruling | None:
        """Tell what kind of line begins, and whether that ends the segment before it."""
        text = self._text
        feed = text.find("\n", self._at)
        space = _SPACE.match(text, self._at)
        at = space.end() if space else self._at
        if self._at <= feed < at:
            ends, self._broken = self._broken, False
            self._kind = Line.PROSE
            self._at = self._line = feed + 1
            return Ruling(ends, feed + 1)
        if at == len(text):
            return None
        if self._fenced:
            self._opening = False
            return Ruling(False, at)
        opening = lines.opening(text, at, markdown=self._markup == "markdown", final=final)
        if opening is None:
            return None
        before, (kind, end) = self._kind, opening
        ends = self._broken and (
            kind in (Line.ITEM, Line.HEADING, Line.FENCE, Line.ROW)
            or (kind is Line.QUOTE and before is not Line.QUOTE)
            or (kind is Line.PROSE and self._short and text[at].isupper())
        )
        self._kind, self._opening, self._broken = kind, False, False
        self._fenced = kind is Line.FENCE
        self._marked = kind in lines.LEADS
        self._at = end
        if ends and self._has_word(at):
            return Ruling(True, at)
        return Ruling(False, end)

    def _read_second_mark(self, *, final: bool) -> Ruling | None:
        """Step over an item's mark behind another mark: the stop in it counts as little."""
        end = lines.second_mark(self._text, self._at, final=final)
        if end is None:
            return None
        self._at = end
        self._marked = False
        return Ruling(False, end)

    def _read_tag(self, at: int, *, final: bool) -> Ruling | None:
        """Step over a tag or comment that begins at `at`, so that no stop in it counts."""
        if self._markup == "plain":
            return self._go_on(at + 1)
        if _COMMENT.startswith(self._text[at : at + 4]) and self._markup == "markdown":
            if len(self._text) - at < len(_COMMENT) and not final:
                return None
            self._comment = self._text.startswith(_COMMENT, at)
            return self._go_on(min(len(self._text), at + len(_COMMENT)))
        tag = _TAG.match(self._text, at, at + _TAG_REACH, partial=not final)
        if tag is not None and tag.partial and len(self._text) < at + _TAG_REACH:
            return None
        if tag is None or tag.partial:
            return self._go_on(at + 1)
        self._at = tag.end()
        return Ruling(self._markup == "ssml" and bool(_PARAGRAPH_END.search(tag[0])), tag.end())

    def _read_comment(self) -> Ruling | None:
        end = self._text.find(_COMMENT_END, self._at)
        if end < 0:
            self._at = max(self._at, len(self._text) - len(_COMMENT_END) + 1)
            return None
        self._comment = False
        self._at = end + len(_COMMENT_END)
        return Ruling(False, self._at)
