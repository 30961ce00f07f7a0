"""What the beginning of a line says: list item, heading, quotation, table row, fenced code.

Only the marks that matter to where a segment ends. What they mean for speech is `rtvoice.text.markdown`'s affair.
"""

from __future__ import annotations

from enum import Enum, auto

import regex


class Line(Enum):
    """Kinds of line."""

    PROSE = auto()
    ITEM = auto()
    HEADING = auto()
    QUOTE = auto()
    ROW = auto()
    FENCE = auto()


LEADS = frozenset({Line.ITEM, Line.HEADING, Line.QUOTE})
"""Lines whose mark may be followed by an item's."""

STANDS_ALONE = frozenset({Line.HEADING, Line.ROW})
"""Lines that end with their line, stop or not."""

_NUMBER = r"(?:\d{1,3}+[.)]|[a-z]\)|[ivx]{1,5}+[.)])"
_ITEM = rf"(?:[*_]{{1,3}}+{_NUMBER}|{_NUMBER}|[-+*•‣◦▪–])[ \t]"
_PLAIN_MARKS = regex.compile(f"(?P<item>{_ITEM})")
_MARKDOWN_MARKS = regex.compile(
    rf"(?P<fence>`{{3}}|~{{3}})|(?P<heading>\#{{1,6}}+[ \t])|(?P<quote>>)|(?P<row>\|)|(?P<item>{_ITEM})"
)
_ITEM_INSIDE = regex.compile(rf"[ \t>]*+{_ITEM}")
_KINDS = {
    "item": Line.ITEM,
    "heading": Line.HEADING,
    "quote": Line.QUOTE,
    "row": Line.ROW,
    "fence": Line.FENCE,
}
_RULE = regex.compile(r"[ \t]*+(?:(?:=[ \t]*+){3,}+|(?:-[ \t]*+){3,}+|(?:\*[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)\s*+")
_BOLD = regex.compile(r"[ \t]*+(\*\*\*?|__)(?=[^\s*_])[^*_\n]++\1:?+\s*+")
_FENCE_END = regex.compile(r"[ \t]*+(?:`{3,}+|~{3,}+)[ \t]*+\r?+\n")

SHORT = 48
"""Characters. Prose that is wrapped fills its lines; one this short was ended there by its author if the next begins
with a capital (verse, addresses, labels)."""


def opening(text: str, at: int, *, markdown: bool, final: bool) -> tuple[Line, int] | None:
    """Tell the kind of the line whose first character that is no white space is `text[at]`.

    Returns:
        The kind and the index behind its mark, or None if the mark may not be complete.
    """
    marks = (_MARKDOWN_MARKS if markdown else _PLAIN_MARKS).match(text, at, partial=not final)
    if marks is None:
        return Line.PROSE, at
    if marks.partial:
        return None
    return _KINDS[marks.lastgroup or ""], marks.end()


def second_mark(text: str, at: int, *, final: bool) -> int | None:
    """Index behind an item's mark that follows another mark (`## 1. Setup`, `> - this`); `at` if none does.

    None if it may not be complete.
    """
    item = _ITEM_INSIDE.match(text, at, partial=not final)
    if item is None:
        return at
    return None if item.partial else item.end()


def is_title(line: str) -> bool:
    """Whether a whole line, given to its end, is a rule, an underline or a label in bold: it ends with its line."""
    return bool(_RULE.fullmatch(line) or _BOLD.fullmatch(line))


def closes_fence(line: str) -> bool:
    """Whether a whole line, its line feed included, closes fenced code."""
    return bool(_FENCE_END.fullmatch(line))
