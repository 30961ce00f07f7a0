"""The segmenter: the cases, the two properties that hold for every text, and its bounds."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rtvoice.text.segment import settled
from rtvoice.text.segmenter import MAX_CHARACTERS, Segmenter
from tests.text.segmenting import cases, cuttings, pieces, run, spoken, texts

CASES = cases("segmenting.jsonl", "boundaries.jsonl")
LANGUAGES = st.sampled_from(["en-us", "en-gb", "de", "ja", "zh", "el", "hi"])
MARKUPS = st.sampled_from(["markdown", "plain", "ssml"])


def of_case(case):
    return case.get("lang", "en-us"), case.get("markup", "markdown")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case):
    segments, before_flush = run(case["deltas"], *of_case(case))
    assert spoken(segments) == case["segments"]
    assert before_flush >= case.get("early", 0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case_cut_at_every_place_and_character_by_character(case):
    text = "".join(case["deltas"])
    whole, _ = run([text], *of_case(case))
    assert run(text, *of_case(case))[0] == whole
    for at in range(len(text) + 1):
        assert run([text[:at], text[at:]], *of_case(case))[0] == whole


@given(st.sampled_from(CASES), st.data())
def test_case_cut_anyhow(case, data):
    text = "".join(case["deltas"])
    segments, _ = run(data.draw(cuttings(text)), *of_case(case))
    assert spoken(segments) == case["segments"]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(texts(), LANGUAGES, MARKUPS, st.data())
def test_segments_do_not_depend_on_how_the_text_is_cut(text, language, markup, data):
    whole, _ = run([text], language, markup)
    assert run(data.draw(cuttings(text)), language, markup)[0] == whole


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(texts(), LANGUAGES, MARKUPS)
@example("  \n ", "en-us", "markdown")
@example(" " * 3000 + "a", "en-us", "markdown")
@example("a" + " " * 3000, "en-us", "markdown")
@example("今日は。\n\n", "ja", "markdown")
def test_joined_the_segments_are_the_text(text, language, markup):
    segments, _ = run(text, language, markup)
    end = segments[-1].end if segments else 0
    assert "".join(segment.text for segment in segments) == text[:end]
    assert not text[end:].strip()
    for segment in segments:
        assert text[segment.start : segment.end] == segment.text
        assert 0 < len(segment.text) <= MAX_CHARACTERS
    settlement = settled(segments, space=text[end:])
    if text.strip():
        assert "".join(segment.text for segment in settlement) == text
    for number, segment in enumerate(settlement):
        assert text[segment.start : segment.end] == segment.text
        assert segment.text.strip()
        assert number == 0 or not segment.text[0].isspace()


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(texts(20), texts(20))
def test_what_has_left_is_never_taken_back(before, after):
    segmenter = Segmenter()
    left = segmenter.push(before)
    assert run([before + after])[0][: len(left)] == left


# The text up to where a boundary is proved, and the number of segments that have come then: one less before its last
# character.
PROVED = [
    ("That is all. ", 1),
    ("Really? ", 1),
    ("You did what?! ", 1),
    ("今日は。", 1),
    ("今日は！と", 1),
    ("यह एक वाक्य है।", 1),
    ("「今日は。明", 1),
    ("Disks, etc. T", 1),
    ("I live in the U.S. How ", 1),
    ("At 5 p.m. W", 0),
    ("At 5 p.m. Wh", 1),
    ('"Stop." T', 1),
    ("He left... T", 1),
    ("It is No. W", 1),
    ("That is all.The ", 1),
    ("A heading\n\n", 1),
    ("# A heading\n", 1),
    ("You need:\n- ", 1),
    ("You need:\n2. ", 1),
    ("Run this:\n```", 1),
    ("```\ncode\n```\n", 1),
    ("| a | b |\n", 1),
    ("**Bold line**\n", 1),
    ("Roses are red\nV", 1),
    ("x" * MAX_CHARACTERS, 1),
]


@pytest.mark.parametrize(("text", "count"), PROVED)
def test_a_segment_leaves_when_its_end_is_proved_and_no_earlier(text, count):
    segmenter = Segmenter()
    assert len(segmenter.push(text[:-1])) == 0
    assert len(segmenter.push(text[-1])) == count


@pytest.mark.parametrize(
    "text",
    [
        "It is $29.",
        "It is $29. 9",
        "See Dr. ",
        "the U.S. The",
        "the U.S. Theresa ",
        "etc. 5",
        '"Stop." he',
        "Wait... w",
    ],
)
def test_what_is_not_proved_does_not_leave(text):
    assert Segmenter().push(text) in ([], run(["It is $29. "])[0])


def test_text_without_a_stop_is_cut_at_its_last_clause_then_at_a_space_then_anywhere():
    clause = "word " * 80 + "then, "
    assert run([clause + "word " * 200])[0][0].text == clause
    assert [len(segment.text) for segment in run(["word " * 300])[0]] == [600, 600, 300]
    assert [len(segment.text) for segment in run(["x" * 1500])[0]] == [599, 599, 302]


def test_a_forced_cut_parts_no_character_and_no_brackets():
    family = "👩‍👩‍👧‍👦"
    assert run(["a" * 590 + family * 20])[0][0].text == "a" * 590 + family
    link = "word " * 98 + "well, [" + "a, " * 60 + "](http://x.example/y) end"
    assert run([link])[0][0].text.endswith("well, ")


def test_flush_begins_a_new_segment_and_a_new_line():
    segmenter = Segmenter()
    assert segmenter.push("Half a sent") == []
    first = segmenter.flush()
    assert [segment.text for segment in first] == ["Half a sent"]
    second = segmenter.push("# ence. A\n")
    assert [(segment.text, segment.start) for segment in second] == [("# ence. ", 11), ("A\n", 19)]
    assert segmenter.flush() == []


def test_flush_leaves_fenced_code_open_until_its_fence():
    segmenter = Segmenter()
    segmenter.push("```\nx. Y")
    segmenter.flush()
    assert segmenter.push(" z. More") == []
    assert [segment.text for segment in segmenter.push("\n```\nDone. ")] == [" z. More\n```\n", "Done. "]


def test_flush_with_a_fence_as_the_last_line_closes_it():
    segmenter = Segmenter()
    segmenter.push("```\nx\n```")
    segmenter.flush()
    assert [segment.text for segment in segmenter.push("Done. ")] == ["Done. "]


def test_cut_takes_what_is_pending():
    segmenter = Segmenter()
    segmenter.push("First of all, we")
    assert segmenter.pending == "First of all, we"
    assert segmenter.cut(14).text == "First of all, "
    assert [(s.text, s.start, s.end) for s in segmenter.push(" go. ")] == [("we go. ", 14, 21)]
    for length in (0, 1):
        with pytest.raises(ValueError, match="pending"):
            segmenter.cut(length)


def test_an_unknown_language_still_has_boundaries():
    assert spoken(run(["Muraho. Amakuru? Ni meza."], "rw")[0]) == ["Muraho.", "Amakuru?", "Ni meza."]


PATHOLOGICAL = {
    "dots": "a.",
    "digits": "9",
    "ats": "a@",
    "brackets": "[",
    "parentheses": "(",
    "angles": "<",
    "open tags": "<a ",
    "attributes": '<a b="',
    "comments": "<!--",
    "backticks": "`",
    "stars": "*a",
    "quotes": '"',
    "line feeds": "\n",
    "spaces": " ",
    "stops": ".",
    "spaced stops": ". ",
    "full stops": "。",
    "bars": "|a",
    "quote marks": "> ",
    "numbers": "1.",
    "hashes": "#",
    "abbreviations": "etc. ",
    "initials": "A. ",
    "footnotes": ".[1",
    "emoji": ".🎉",
}


@pytest.mark.parametrize("unit", PATHOLOGICAL.values(), ids=PATHOLOGICAL)
def test_time_is_linear_and_memory_bounded_for_any_text(unit):
    def seconds(characters: int) -> float:
        text = unit * (characters // len(unit))
        segmenter = Segmenter()
        begin = time.process_time()
        for at in range(0, len(text), 3):
            segmenter.push(text[at : at + 3])
            assert len(segmenter.pending) <= MAX_CHARACTERS
        segmenter.flush()
        return time.process_time() - begin

    short = min(seconds(4_000) for _ in range(3))
    # Eight times the text would take sixty-four times as long if time were quadratic; the room is for a busy machine.
    assert seconds(32_000) < 24 * max(short, 0.002)


@given(st.integers(1, 9))
def test_deltas_of_one_length(length):
    text = "".join("".join(case["deltas"]) + "\n\n" for case in CASES[:16])
    assert run(pieces(text, range(length, len(text), length)))[0] == run([text])[0]
