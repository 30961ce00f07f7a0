"""Whether a stop ends its sentence, and when that is proved."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import regex

from rtvoice.text.abbreviations import After, Orthography

if TYPE_CHECKING:
    from rtvoice.text.nesting import Nesting

FULL_STOPS = "。｡।॥۔։።៕။"
"""Marks that do nothing but end a sentence: they prove it by themselves, unless a closing quotation mark may follow."""

WIDE_STOPS = "！？．؟჻፧།༎៖‼⁇⁈⁉"
"""Marks of scripts that put no space behind them: any following character proves the end."""

STOPS = ".!?…‽" + FULL_STOPS + WIDE_STOPS

TOKEN_REACH = 64
"""Characters looked at before a stop. A longer run without a space is no abbreviation."""

_WORD_REACH = 32

_RUN = regex.compile(f"[{STOPS}]++")
_CLOSERS = regex.compile(
    r"""(?: ["'”’“‘»«)\]}*_~`＂」』）】〉》〕］｝]     # quotation marks, brackets, emphasis, code
          | \[\^?\w{1,4}\]                        # a footnote's mark
          | [\N{SUPERSCRIPT TWO}\N{SUPERSCRIPT THREE}\N{SUPERSCRIPT ONE}⁰⁴-⁹]
          | \p{Extended_Pictographic}[\p{EMod}\uFE0F\u200D]*
        )*+""",
    regex.VERBOSE,
)
_FOOTNOTE = regex.compile(r"\[\^?\w{1,4}\]")
_HALF_FOOTNOTE = regex.compile(r"\[\^?\w{0,4}\Z")
_QUOTES = frozenset("\"'”’“‘»«)]＂」』）】〉》〕］")
_AFTER = regex.compile(r"""(?P<space>\s*+)(?:["'“‘«„(\[{*_~`¿¡</])*+""")
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}'’]*+")
_BLANK_LINE = regex.compile(r"\n[^\S\n]*\n")
_PLAIN_WORD = regex.compile(r"(?:\p{L}[\p{Ll}'’]+|\d[\d,]*)\Z")
_TITLES = frozenset({"Mr", "Mrs", "Ms", "Dr", "Prof"})
_WIDE_LETTER = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
_EXCLAIMED = frozenset({"yahoo", "jeopardy", "wham", "panic"})  # names that have their mark always
_FIRST_PERSON = frozenset({"I", "I'm", "I've", "I'll", "I'd"})  # a capital that says nothing
_WORD_DECIDES = frozenset({After.STARTER, After.NO_DATE, After.NEW_SENTENCE})
_PARTICLES = frozenset("とってなのはがをにも、，,;；:：")
_CONTINUES = frozenset(",;:–—-/&+=%)]}>|·•")


class Ruling(NamedTuple):
    """What was decided about a place.

    Attributes:
        ends: whether the segment ends.
        at: index where it ends and the next begins; else where to read on.
    """

    ends: bool
    at: int


def rule(
    text: str, at: int, *, nesting: Nesting, start: int, first: int, orthography: Orthography, final: bool
) -> Ruling | None:
    """Decide whether the stop at `text[at]` ends its segment.

    Args:
        text: the text under way, from the segment's first character.
        at: index of the stop.
        nesting: what is open before it.
        start: place of `text[0]` in the whole, in which nesting counts.
        first: index of the segment's first character that is no white space.
        orthography: how the language writes its stops.
        final: no more text will come.

    Returns:
        The ruling, or None if only text that has not come yet can tell.
    """
    if text[at] in FULL_STOPS and not nesting.quoted(start + at):
        return Ruling(True, at + 1)
    run = _RUN.match(text, at)
    stops = run[0] if run else text[at]  # no run: a semicolon, which asks in Greek
    closed = _CLOSERS.match(text, at + len(stops))
    assert closed is not None  # noqa: S101 (it matches the empty string)
    end = closed.end()
    if end == len(text) or _HALF_FOOTNOTE.match(text, end):
        return Ruling(False, end) if final else None
    if nesting.through(text, at, end, start, first=first).holds(start + at):
        return Ruling(False, end)
    if any(char in FULL_STOPS or char in WIDE_STOPS for char in stops):
        return _wide(text, end, closed[0], stops)
    trails_off = "…" in stops or ".." in stops
    if not text[end].isspace():
        if not trails_off and _WIDE_LETTER.match(text, end) and _WIDE_LETTER.match(text, at - 1):
            return _wide(text, end, closed[0], stops)
        return Ruling(False, end) if closed[0] else _unspaced(text, at, end, orthography, final=final)
    if _QUOTES.intersection(_FOOTNOTE.sub("", closed[0])):
        after = After.NOT_LOWER
    elif trails_off:
        after = After.NEW_SENTENCE
    elif stops != ".":
        after = After.STARTER if _token(text, at).lower() in _EXCLAIMED else After.SPACE
    else:
        after = orthography.after(_token(text, at))
    return _spaced(text, end, after, orthography, final=final)


def ends_sentence(text: str) -> bool:
    """Whether a segment's text ends as sentences do: with its line, or in a stop, closing marks aside."""
    ink = text.rstrip()
    if "\n" in text[len(ink) :]:
        return True
    return ink.rstrip("".join(_QUOTES) + "*_~`")[-1:] in set(STOPS)


def _token(text: str, at: int) -> str:
    """The run of characters without a space that ends before `at`, without the marks that open it."""
    before = text[max(0, at - TOKEN_REACH) : at].rsplit(None, 1)
    return before[-1].lstrip("\"'“‘«„([{*_~`¿¡<") if before and not text[at - 1].isspace() else ""


def _wide(text: str, end: int, closers: str, run: str) -> Ruling:
    """Rule on a stop of a script that writes no space behind it. `text[end]` is there."""
    following = text[end]
    if run == "．" and following.isdecimal():
        return Ruling(False, end)
    if closers and (following in _PARTICLES or following.islower()):
        return Ruling(False, end)  # 「はい。」と言った: the sentence around the quotation goes on
    return Ruling(True, end + following.isspace())


def _unspaced(text: str, at: int, end: int, orthography: Orthography, *, final: bool) -> Ruling | None:
    """Rule on a stop with no space behind it: an ordinary character, unless a sentence plainly starts there."""
    if not text[end].isupper() or not orthography.starters or not _PLAIN_WORD.search(_token(text, at)):
        return Ruling(False, end)
    word = _WORD.match(text, end)
    if word is None or word.end() - end > _WORD_REACH:
        return Ruling(False, end)
    if word.end() == len(text) and not final:
        return None
    plain = word[0].replace("’", "'")
    following = text[word.end() : word.end() + 1]
    if plain in _TITLES and following == ".":
        return Ruling(True, end)
    stop = text[end - 1]
    starts = plain in orthography.starters or (stop != "." and plain[1:].islower())
    ends_word = not following or following.isspace() or following in (",?!" if stop == "." else ",?!.")
    return Ruling(starts and ends_word, end)


def _spaced(text: str, end: int, after: After, orthography: Orthography, *, final: bool) -> Ruling | None:
    """Rule on a stop with white space behind it, at `text[end]`."""
    if after is After.SPACE:
        return Ruling(True, end + 1)
    if after is After.NOTHING:
        return Ruling(False, end)
    following = _AFTER.match(text, end)
    assert following is not None  # noqa: S101 (it matches the empty string)
    begin, at = following.end("space"), following.end()
    if _BLANK_LINE.search(text, end, begin):
        return Ruling(False, end)  # the blank line itself ends the segment
    if at == len(text):
        return Ruling(False, end) if final else None
    char = text[at]
    if char in _CONTINUES or (char.islower() and after is not After.NO_DIGIT):
        return Ruling(False, end)
    if char.isdecimal():
        return Ruling(True, begin) if after is After.NOT_LOWER else Ruling(False, end)
    if after not in _WORD_DECIDES or not char.isalpha():
        return Ruling(True, begin)
    word = _WORD.match(text, at)
    assert word is not None  # noqa: S101 (its first letter is there)
    plain = word[0].replace("’", "'")
    if after is After.STARTER:
        ends, open_ended = plain in orthography.starters, True
    else:
        words = orthography.dates if after is After.NO_DATE else _FIRST_PERSON
        ends, open_ended = plain not in words, any(known.startswith(plain) for known in words)
    if open_ended and word.end() == len(text) and not final and len(plain) <= _WORD_REACH:
        return None
    return Ruling(True, begin) if ends else Ruling(False, end)
