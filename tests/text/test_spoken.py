"""From spoken text to a passage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.text.mapped import Mapped
from rtvoice.text.normaliser import normalise
from rtvoice.text.spoken import passage


def words(text, start=0):
    made = passage(Mapped.of(text, start))
    return [(made.text[w.at : w.to], w.start, w.end) for w in made.words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello there.", ["Hello", "there"]),
        ("It's the dogs' well-known bowl", ["It's", "the", "dogs'", "well-known", "bowl"]),
        ("“Yes” — no… (maybe)", ["Yes", "no", "maybe"]),
        ("naïve Zoë 今日は", ["naïve", "Zoë", "今日は"]),
    ],
)
def test_words(text, expected):
    assert [word for word, _, _ in words(text)] == expected


def test_words_know_where_they_came_from():
    assert words("  so it is  ", 40) == [("so", 42, 44), ("it", 45, 47), ("is", 48, 50)]


@pytest.mark.parametrize("text", ["", "  ", "…!?", "— “”"])
def test_nothing_to_say_is_no_passage(text):
    assert passage(Mapped.of(text)) is None


def test_rate_and_voice_are_passed_on():
    made = passage(Mapped.of("so"), rate=1.5, voice="af_heart")
    assert (made.rate, made.voice) == (1.5, "af_heart")


def test_phonemes_given_for_a_word():
    made = passage(Mapped.of("Meet Zefira now.", 10).pin(5, 11, "zɛfˈɪɹə"))
    word = made.words[1]
    assert (made.text[word.at : word.to], word.start, word.end, word.ipa) == ("Zefira", 15, 21, "zɛfˈɪɹə")
    assert [w.ipa for w in made.words] == [None, "zɛfˈɪɹə", None]


@pytest.mark.parametrize(
    ("written", "shown"), [("k8s", "ks"), ("New York", "New York"), ("C++", "C"), ("♥", "sound"), ("42", "sound")]
)
def test_phonemes_given_for_what_is_no_plain_word(written, shown):
    made = passage(Mapped.of(f"a {written} b").pin(2, 2 + len(written), "ˈʌ"))
    assert made.text == f"a {shown} b"
    assert [(made.text[w.at : w.to], w.start, w.end) for w in made.words][1:] == [
        (shown, 2, 2 + len(written)),
        ("b", 3 + len(written), 4 + len(written)),
    ]


@pytest.mark.parametrize(("ipa", "ending"), [("wˈɪn", "z"), ("ʤˈæk", "s"), ("ɹˈQs", "ɪz")])
def test_a_possessive_belongs_to_the_word_whose_phonemes_were_given(ipa, ending):
    made = passage(Mapped.of("Nguyen's cat").pin(0, 6, ipa))
    assert [(made.text[w.at : w.to], w.ipa) for w in made.words] == [("Nguyen's", ipa + ending), ("cat", None)]


def test_pins_without_phonemes_are_ordinary_words():
    made = passage(Mapped.of("say so now").pin(4, 10))
    assert [made.text[w.at : w.to] for w in made.words] == ["say", "so", "now"]


@given(st.text(max_size=40), st.integers(0, 100))
def test_words_lie_in_order_in_the_passage_and_in_the_original(text, start):
    made = passage(normalise(Mapped.of(text, start), "en-us").text)
    if made is None:
        return
    places = [edge for word in made.words for edge in (word.at, word.to)]
    assert places == sorted(places)
    assert places[-1] <= len(made.text)
    assert all(start <= word.start <= word.end <= start + len(text) for word in made.words)
    assert [word.start for word in made.words] == sorted(word.start for word in made.words)
