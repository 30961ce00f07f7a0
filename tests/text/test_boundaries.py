"""The segmenter's parts: abbreviations, nesting, line beginnings, clauses, and moved white space."""

from __future__ import annotations

import pytest

from rtvoice.text.abbreviations import After, orthography
from rtvoice.text.clauses import clause_edge, forced_edge
from rtvoice.text.lines import Line, closes_fence, is_title, opening, second_mark
from rtvoice.text.nesting import QUOTE_REACH, REACH, Nesting
from rtvoice.text.segment import Segment, settled
from rtvoice.text.stops import Ruling, rule

# What must follow the full stop behind a word.


@pytest.mark.parametrize(
    ("word", "language", "after"),
    [
        ("Dr", "en-us", After.NOTHING),
        ("e.g", "en-us", After.NOTHING),
        ("etc", "en-gb", After.CAPITAL),
        ("ft", "en-us", After.STARTER),
        ("No", "en-us", After.NO_DIGIT),
        ("U.S", "en-us", After.STARTER),
        ("p.m", "en-us", After.NO_DATE),
        ("J", "en-us", After.STARTER),
        ("J.R", "en-us", After.STARTER),
        ("B.Sc", "en-us", After.STARTER),
        ("a", "en-us", After.CAPITAL),
        ("네", "ko", After.SPACE),
        ("io.js", "en-us", After.SPACE),
        ("blvd", "de", After.CAPITAL),
        ("29", "en-us", After.SPACE),
        ("29", "de", After.NOTHING),
        ("1990", "de", After.SPACE),
        ("z.B", "de-at", After.NOTHING),
        ("usw", "de", After.CAPITAL),
        ("Mme", "fr", After.NOTHING),
        ("Mme", "en-us", After.SPACE),
        ("dhr", "nl", After.NOTHING),
        ("word", "xx", After.SPACE),
        ("", "en-us", After.SPACE),
    ],
)
def test_what_must_follow_a_full_stop(word, language, after):
    assert orthography(language).after(word) is after


# What is open at a place.


def nesting(text: str, first: int = -1) -> Nesting:
    return Nesting().through(text, 0, len(text), 0, first=first)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("so (as he", True),
        ("so (as he (and she) knew", True),
        ("so (as he) knew", False),
        ("so [as he", True),
        ("so （as", True),
        ("so ) as", False),
        ("so :( as", False),
        ("run `a", True),
        ("run `a` and", False),
        ("so (" + "a" * REACH, False),
        ("so (" + "a" * REACH + "(b", True),
        ("run `" + "a" * REACH, False),
        ("run `" + "a" * REACH + "`b", True),
    ],
)
def test_brackets_and_code_hold_a_sentence_together_for_a_while(text, holds):
    assert nesting(text).holds(len(text)) is holds


def test_a_parenthesis_around_sentences_holds_nothing():
    assert not nesting("(As he", first=0).holds(6)
    assert nesting("[As he", first=0).holds(6)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("「今日", True),
        ("「今日」", False),
        ("「『今』", True),
        ('he said "no', True),
        ('he said "no"', False),
        ("“no", True),
        ("「" + "今" * QUOTE_REACH, False),
        ("「" + "今" * QUOTE_REACH + "「", True),
        ('"' + "a" * QUOTE_REACH + '"b', True),
        ("(as", True),
    ],
)
def test_quotation_marks(text, quoted):
    assert nesting(text).quoted(len(text)) is quoted


# How a line begins.


@pytest.mark.parametrize(
    ("text", "kind", "end"),
    [
        ("word", Line.PROSE, 0),
        ("- a", Line.ITEM, 2),
        ("-a", Line.PROSE, 0),
        ("12. a", Line.ITEM, 4),
        ("1234. a", Line.PROSE, 0),
        ("iv. a", Line.ITEM, 4),
        ("b) a", Line.ITEM, 3),
        ("**1. a", Line.ITEM, 5),
        ("## a", Line.HEADING, 3),
        ("#a", Line.PROSE, 0),
        ("> a", Line.QUOTE, 1),
        ("| a", Line.ROW, 1),
        ("```py", Line.FENCE, 3),
        ("~~~", Line.FENCE, 3),
        ("``a", Line.PROSE, 0),
    ],
)
def test_line_openings(text, kind, end):
    assert opening(text, 0, markdown=True, final=False) == (kind, end)
    assert opening(text, 0, markdown=True, final=True) == (kind, end)


@pytest.mark.parametrize("text", ["-", "1", "12.", "#", "##", "``", "~", "*", "**", "**1", "a", "iv"])
def test_a_mark_that_may_not_be_complete_waits(text):
    assert opening(text, 0, markdown=True, final=False) is None
    assert opening(text, 0, markdown=True, final=True) is not None


@pytest.mark.parametrize(
    ("text", "end"), [("1. a", 3), (" - a", 3), ("> iv. a", 6), ("word", 0), ("-a", 0), ("5 a", 0)]
)
def test_a_second_mark(text, end):
    assert second_mark(text, 0, final=False) == end


@pytest.mark.parametrize("text", ["", "1", "1.", " -", "**1", "> ", "b"])
def test_a_second_mark_may_wait(text):
    assert second_mark(text, 0, final=False) is None
    assert second_mark(text, 0, final=True) == 0


def test_plain_text_has_items_only():
    assert opening("# a", 0, markdown=False, final=False) == (Line.PROSE, 0)
    assert opening("- a", 0, markdown=False, final=False) == (Line.ITEM, 2)


@pytest.mark.parametrize(
    "line", ["---\n", "===\r\n", "* * *\n", " ___\n", "**Label**\n", "__Label:__ \n", "**Label**:\n"]
)
def test_titles(line):
    assert is_title(line)


@pytest.mark.parametrize("line", ["--\n", "a ---\n", "**a** b\n", "- - b\n", "** a **\n"])
def test_no_titles(line):
    assert not is_title(line)


def test_fences_close_with_a_fence_alone():
    assert closes_fence("```\n")
    assert closes_fence("  ~~~~ \r\n")
    assert not closes_fence("``` x\n")
    assert not closes_fence("``\n")


# Clauses.


@pytest.mark.parametrize(
    ("text", "edge"),
    [
        ("First, then", 7),
        ("First, then; last", 13),
        ("1,000 of them", None),
        ("So (a, b) it is", None),
        ("So [a, b](c), it is", 14),
        ("So `a, b` it is", None),
        ('<i a="x, y">so</i> it', None),
        ("5 < 6, then", 7),
        ("こう、そして", 3),
        ("none", None),
    ],
)
def test_clause_edge(text, edge):
    assert clause_edge(text) == edge


@pytest.mark.parametrize(
    ("text", "edge"),
    [
        ("a" * 60 + ", " + "b" * 38, 62),
        ("a, " + "b" * 60 + " " + "c" * 36, 64),
        ("<i>" * 30 + "<i a", 90),
        ("(" + "a" * 60 + " " + "b" * 38, 62),
        ("a" * 99 + "b", 99),
        ("a" * 98 + "e\u0301", 98),
    ],
)
def test_forced_edge(text, edge):
    assert forced_edge(text) == edge


# Stops that wait.


@pytest.mark.parametrize(
    ("text", "at", "ruling"),
    [
        ("It is 29.", 8, None),
        ("It is 29. ", 8, Ruling(True, 10)),
        ("It is 29.9", 8, Ruling(False, 9)),
        ("So etc. ", 6, None),
        ("So etc. t", 6, Ruling(False, 7)),
        ("So etc. T", 6, Ruling(True, 8)),
        ("So etc. (t", 6, Ruling(False, 7)),
        ("So etc.\n\n", 6, Ruling(False, 7)),
        ("So it is.[1", 8, None),
        ("So it is.[1] ", 8, Ruling(True, 13)),
        ("So it is.” A", 8, Ruling(True, 11)),
        ("So it is.” a", 8, Ruling(False, 10)),
        ("So it is.” – a", 8, Ruling(False, 10)),
        ("The U.S. The", 7, None),
        ("The U.S. The ", 7, Ruling(True, 9)),
        ("The U.S. Then", 7, None),
        ("The U.S. Senate ", 7, Ruling(False, 8)),
        ("At 5 p.m. M", 8, None),
        ("At 5 p.m. Mx", 8, Ruling(True, 10)),
        ("今日は。", 3, Ruling(True, 4)),
        ("今日は？", 3, None),
    ],
)
def test_ruling(text, at, ruling):
    kwargs = {"nesting": Nesting(), "start": 0, "first": 0, "orthography": orthography("en-us")}
    assert rule(text, at, **kwargs, final=False) == ruling
    final = rule(text, at, **kwargs, final=True)
    assert final is not None
    assert ruling is None or final == ruling


# White space.


def test_white_space_is_moved_to_the_segment_before_it():
    sent = [Segment(" \n", 0, 2), Segment(" a. ", 2, 6), Segment("\n\nb.", 6, 10), Segment("  ", 10, 12)]
    assert settled(sent, space="\n") == [Segment(" \n a. \n\n", 0, 8), Segment("b.  \n", 8, 13)]
    assert settled([Segment("  ", 0, 2)], space=" ") == []
