"""The lengths policy: joining, cutting, the limit of 510, and the early first clause."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.text.lengths import MAX_PHONEMES, EarlyCut, Lengths, estimated_phonemes, fitted, joined, phonemes
from rtvoice.text.segment import Passage, Pause, Script, Segment, SpokenWord


def letters(text: str) -> int:
    """A counter for tests: one phoneme a letter."""
    return sum(char.isalpha() for char in text)


def script(text: str, start: int = 0, **passage) -> Script:
    """A script that says `text` as it stands."""
    words = tuple(SpokenWord(*m.span(), start + m.start(), start + m.end()) for m in re.finditer(r"\w+", text))
    return Script(Segment(text + " ", start, start + len(text) + 1), (Passage(text, words, **passage),))


def scripts(*texts: str) -> list[Script]:
    """Scripts of segments that follow each other."""
    made, start = [], 0
    for text in texts:
        made.append(script(text, start))
        start += len(text) + 1
    return made


def words_of(said: Script) -> list[str]:
    """The words of a script, each by the range it is found at."""
    return [p.text[w.at : w.to] for p in said.parts if isinstance(p, Passage) for w in p.words]


def sizes(said: Script, count=letters) -> list[int]:
    return [count(p.text) for p in said.parts if isinstance(p, Passage)]


LENGTHS = Lengths(least=10, best=40, most=50, first=20)


def test_short_segments_are_joined_with_what_is_at_hand():
    made = joined(scripts("Yes.", "That is so.", "I am quite sure of it."), LENGTHS, letters, opening=False)
    one, other = made
    assert one.segment == Segment("Yes. That is so. ", 0, 17)
    assert other.segment.text == "I am quite sure of it. "
    (passage,) = one.parts
    assert isinstance(passage, Passage)
    assert passage.text == "Yes. That is so."
    assert [(w.start, w.end) for w in passage.words] == [(w.at, w.to) for w in passage.words]
    assert one.rules == ("joined",)


def test_the_first_segment_is_not_joined_past_its_own_bound():
    texts = ("Yes.", "I am quite sure of it indeed.", "So there.")
    assert [s.segment.text for s in joined(scripts(*texts), LENGTHS, letters, opening=True)] == [
        "Yes. ",
        "I am quite sure of it indeed. So there. ",
    ]


def test_long_segments_stay_alone():
    texts = ("I am quite sure of it indeed.", "And so is everyone I know.")
    assert len(joined(scripts(*texts), LENGTHS, letters, opening=False)) == 2


def test_joining_keeps_pauses_voices_and_ends_of_lines_apart():
    first, second = scripts("A heading", "Yes.")
    (one,) = joined([first, second], LENGTHS, letters, opening=False)
    assert [p.text for p in one.parts if isinstance(p, Passage)] == ["A heading. Yes."]
    paused = replace(first, parts=(*first.parts, Pause(0.5)))
    (one,) = joined([paused, second], LENGTHS, letters, opening=False)
    assert [type(part) for part in one.parts] == [Passage, Pause, Passage]
    other = replace(second, parts=script("Yes.", 10, voice="am_michael").parts)
    (one,) = joined([first, other], LENGTHS, letters, opening=False)
    assert [p.voice for p in one.parts if isinstance(p, Passage)] == [None, "am_michael"]


def test_a_long_passage_is_cut_at_its_best_clause_edge_then_at_a_word():
    clauses = script("The first part of it goes on so far, the second goes on farther, and then it comes to its end.")
    assert [p.text for p in fitted(clauses, 50, 40, letters).parts if isinstance(p, Passage)] == [
        "The first part of it goes on so far,",
        "the second goes on farther, and then it comes to its end.",
    ]
    plain = script("word " * 30 + "word")
    cut = fitted(plain, 50, 40, letters)
    assert sizes(cut) == [40, 40, 44]
    assert words_of(cut) == ["word"] * 31


def test_opening_marks_go_with_their_word_and_closing_ones_with_theirs():
    text = 'She was said to have said so then: "go (if you can) to the place where all of it began, or do not go."'
    pieces = [p.text for p in fitted(script(text), 40, 30, letters).parts if isinstance(p, Passage)]
    assert pieces[0].endswith("then:")
    assert pieces[1].startswith('"go')
    assert " ".join(pieces) == text


@pytest.mark.parametrize("count", [509, 510, 511, 512, 1019, 1020, 1021])
def test_nothing_is_over_510_and_nothing_lost(count):
    one_word = script("x" * count)
    cut = fitted(one_word, MAX_PHONEMES, MAX_PHONEMES // 2, letters)
    assert max(sizes(cut)) <= MAX_PHONEMES
    assert "".join(words_of(cut)) == "x" * count
    spaced = script(" ".join(["x"] * count))
    cut = fitted(spaced, MAX_PHONEMES, MAX_PHONEMES // 2, letters)
    assert max(sizes(cut)) <= MAX_PHONEMES
    assert words_of(cut) == ["x"] * count
    assert (len(cut.parts) == 1) is (count <= MAX_PHONEMES)


@given(
    st.lists(st.sampled_from(["a", "word", "and,", "so;", "x" * 70, "é", "(well)", "—"]), min_size=1, max_size=200),
    st.integers(60, MAX_PHONEMES),
    st.data(),
)
def test_cutting_keeps_every_word_its_place_and_the_bound(words, most, data):
    text = " ".join(words)
    whole = script(text)
    if not words_of(whole):
        return
    cut = fitted(whole, most, data.draw(st.integers(30, most)), len)
    assert words_of(cut) == words_of(whole)
    assert " ".join(p.text for p in cut.parts if isinstance(p, Passage)).replace(" ", "") == text.replace(" ", "")
    ranges = [(w.start, w.end) for p in cut.parts if isinstance(p, Passage) for w in p.words]
    assert ranges == [(w.start, w.end) for p in whole.parts if isinstance(p, Passage) for w in p.words]
    assert all(size <= max(most, 76) for size in sizes(cut, len))


def test_given_phonemes_count_as_such():
    passage = Passage(
        "Meet Zed now", (SpokenWord(0, 4, 0, 4), SpokenWord(5, 8, 5, 8, "z" * 30), SpokenWord(9, 12, 9, 12))
    )
    said = Script(Segment("Meet Zed now", 0, 12), (passage,))
    assert phonemes(said, letters) == 37
    assert [p.text for p in fitted(said, 35, 35, letters).parts if isinstance(p, Passage)] == ["Meet Zed", "now"]


def test_pauses_stay_where_they_are():
    said = Script(Segment("a b", 0, 3), (*script("a " * 40 + "a").parts, Pause(1.0), *script("b").parts))
    cut = fitted(said, 30, 25, letters)
    assert [type(part).__name__ for part in cut.parts] == ["Passage", "Passage", "Pause", "Passage"]
    assert fitted(cut, 30, 25, letters) is cut


def test_sizes_out_of_order_are_refused():
    for sizes_ in ({"least": -1}, {"best": 300}, {"most": 511}, {"least": 230}):
        with pytest.raises(ValueError, match="order"):
            Lengths(**sizes_)


def test_the_estimate_is_rather_too_much():
    assert estimated_phonemes("and pay five dollars.") >= len("ænd pˈA fˈIv dˈɑləɹz.")
    assert estimated_phonemes("今日は") > 3 * estimated_phonemes("abc") / 3


def test_an_early_cut_pays_when_the_rest_is_slow_to_come_but_can_be_bridged():
    early = EarlyCut(synthesis_s=0.2, gain_s=0.4, least=20, sentence=90)
    assert early.pays(phonemes=40, written=40, rate=40)  # 1.25 s until the sentence is there, 2.9 s of speech
    assert not early.pays(phonemes=19, written=40, rate=40)  # too short a clause
    assert not early.pays(phonemes=40, written=40, rate=400)  # the rest is there in no time
    assert not early.pays(phonemes=40, written=40, rate=5)  # the listener would wait in the middle
    assert not early.pays(phonemes=40, written=40, rate=0)
    assert not replace(early, synthesis_s=5.0).pays(phonemes=40, written=40, rate=40)  # a slow machine
