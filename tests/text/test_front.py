"""The text front: what is said for a text, where each word came from, and what the options change."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import HealthCheck, given, settings

from rtvoice.text.front import TextFront, TextOptions
from rtvoice.text.lengths import EarlyCut, Lengths
from rtvoice.text.lexicon import Lexicon
from rtvoice.text.segment import Passage, Pause
from tests.text.segmenting import cases, texts

SPEAKING = cases("speaking.jsonl")
PLAIN = {"lengths": None, "control": True}


def scripts_of(text: str, **options):
    front = TextFront(TextOptions(**{**PLAIN, **options}))
    return front.push(text) + front.flush()


def passages_of(text: str, **options) -> list[Passage]:
    return [part for script in scripts_of(text, **options) for part in script.parts if isinstance(part, Passage)]


def said(text: str, **options) -> str:
    return " ".join(passage.text for passage in passages_of(text, **options))


def heard(text: str) -> str:
    """Lower case, no marks."""
    return " ".join(re.findall(r"[\w']+", text.lower().replace("’", "'")))


@pytest.mark.parametrize("case", SPEAKING, ids=lambda case: case["id"])
def test_case(case):
    text = case.get("text") or case["text_repeat"][0] * case["text_repeat"][1]
    begin = time.process_time()
    scripts = scripts_of(text, language=case.get("lang", "en-us"))
    taken = time.process_time() - begin
    assert taken < case.get("within_s", 2.0)
    spoken = heard(" ".join(p.text for s in scripts for p in s.parts if isinstance(p, Passage)))
    at = 0
    for words in case.get("says", ()):
        assert words in spoken[at:], spoken
        at = spoken.index(words, at) + len(words)
    assert set(case.get("never", ())).isdisjoint(spoken.split())
    if "same_as" in case:
        assert spoken == heard(said(case["same_as"]))
    if "pause_s" in case:
        assert [p.seconds for s in scripts for p in s.parts if isinstance(p, Pause)] == [case["pause_s"]]


def words_of(text: str, **options) -> list[tuple[str, str]]:
    """Each spoken word, and the characters it came from."""
    return [
        (passage.text[word.at : word.to], text[word.start : word.end])
        for passage in passages_of(text, **options)
        for word in passage.words
    ]


def test_every_word_knows_the_characters_it_came_from():
    assert words_of("It cost **$5** &amp; more.") == [
        ("It", "It"),
        ("cost", "cost"),
        ("five", "$5"),
        ("dollars", "$5"),
        ("and", "&amp;"),
        ("more", "more"),
    ]
    assert words_of("1. Read [the guide](http://x.example/y).\n2. See `b`.") == [
        ("one", "1"),
        ("Read", "Read"),
        ("the", "the"),
        ("guide", "guide"),
        ("two", "2"),
        ("See", "See"),
        ("b", "b"),
    ]
    assert words_of('<sub alias="3 birds">B</sub>, [Zef](/zɛf/).', markup="ssml") == [
        ("three", "B"),
        ("birds", "B"),
        ("Zef", "Zef"),
    ]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(texts())
def test_words_lie_in_their_passages_and_their_segments(text):
    end = 0
    for script in scripts_of(text):
        assert script.segment.start == end
        end = script.segment.end
        for passage in script.parts:
            if isinstance(passage, Passage):
                assert passage.words
                at = 0
                for word in passage.words:
                    assert at <= word.at < word.to <= len(passage.text)
                    at = word.to
                    assert script.segment.start <= word.start <= word.end <= script.segment.end


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(texts())
def test_english_is_said_in_words_only(text):
    for passage in passages_of(text):
        given = {at for word in passage.words if word.ipa for at in range(word.at, word.to)}
        assert not [
            c for at, c in enumerate(passage.text) if at not in given and (c.isdecimal() or c in "#*`<>|{}~^=@")
        ]


def test_markup_options():
    assert said("# *One* | two", markup="markdown") == "One two"
    assert "asterisk" not in said("*One*", markup="plain")
    assert [p.rate for p in passages_of('<prosody rate="slow">a</prosody>', markup="ssml")] == [0.75]


def test_control_is_off_by_default():
    assert TextOptions().control is False
    (script,) = scripts_of("Wait [pause:2s] [now](/zɛf/).", control=False)
    assert not any(isinstance(part, Pause) for part in script.parts)
    assert not [w for p in script.parts if isinstance(p, Passage) for w in p.words if w.ipa == "zɛf"]


def test_emoji_and_code_options():
    assert heard(said("Great 🎉 team.")) == "great team"
    assert heard(said("Great 🎉 team.", emoji="names")) == "great party popper team"
    assert heard(said("```\nx\n```\nDone.")) == "code block done"
    assert heard(said("```\nx\n```\nDone.", code="skip")) == "done"


def test_the_lexicon_comes_before_the_normaliser():
    lexicon = Lexicon.of({"kubectl": "cube 2 control", "Nguyen": "/wɪn/"})
    assert said("Ask Nguyen to run kubectl.", lexicon=lexicon) == "Ask Nguyen to run cube two control."
    (script,) = scripts_of("Ask Nguyen to run `kubectl`.", lexicon=lexicon)
    assert {"lexicon: Nguyen", "lexicon: kubectl", "code span"} <= set(script.rules)
    assert [w.ipa for p in script.parts if isinstance(p, Passage) for w in p.words][1] == "wɪn"


def test_text_with_nothing_to_say_has_scripts_without_parts():
    assert scripts_of(" \n ") == []
    assert [script.parts for script in scripts_of("***")] == [()]


def test_lengths_join_and_cut_unless_switched_off():
    text = "Yes. No. Sure. " + "This goes on and on, " * 30 + "to here."
    off = scripts_of(text)
    assert [script.segment.text for script in off[:3]] == ["Yes. ", "No. ", "Sure. "]
    on = scripts_of(text, lengths=Lengths())
    assert on[0].segment.text == "Yes. No. Sure. "
    assert len(on[1].parts) > 2
    assert "".join(s.segment.text for s in on) == "".join(s.segment.text for s in off) == text


def test_by_default_what_is_said_does_not_depend_on_the_deltas():
    text = "Yes. No. Sure. " + "This goes on and on, " * 30 + "to here. # Not\n1. a [b](c)"

    def scripts(deltas):
        front = TextFront(TextOptions())
        return [script for delta in deltas for script in front.push(delta)] + front.flush()

    assert scripts([text]) == scripts(text)


def test_without_a_policy_no_passage_is_over_510():
    sizes = [len(part.text) for part in passages_of("so it goes " * 80)]
    assert sum(sizes) + len(sizes) - 1 == len("so it goes " * 80) - 1
    assert max(sizes) <= 510


WORDS = "If you look at the map of the city, then you see "


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_first_clause_goes_early_when_text_is_slow():
    clock = Clock()
    lengths = Lengths(early=EarlyCut(synthesis_s=0.1))
    front = TextFront(TextOptions(lengths=lengths), clock=clock)
    early = []
    for word in WORDS.split(" "):
        early += front.push(word + " ")
        clock.now += 0.1
    assert [script.segment.text for script in early] == ["If you look at the map of the city, "]
    rest = front.push("the river, which is wide. And ") + front.flush()
    assert [script.segment.text for script in rest] == ["then you see  the river, which is wide. ", "And "]


def test_the_first_clause_waits_when_text_is_fast_or_nothing_is_said_about_time():
    clock = Clock()
    for lengths, pace in ((Lengths(early=EarlyCut(synthesis_s=0.1)), 0.001), (Lengths(), 0.1), (None, 0.1)):
        front = TextFront(TextOptions(lengths=lengths), clock=clock)
        for word in WORDS.split(" "):
            assert front.push(word + " ") == []
            clock.now += pace


def test_a_flush_ends_the_line():
    front = TextFront(TextOptions(**PLAIN))
    assert front.push("We talked about") == []
    assert [script.segment.text for script in front.flush()] == ["We talked about"]
    (script,) = front.push("# One\n")
    assert "heading" in script.rules
