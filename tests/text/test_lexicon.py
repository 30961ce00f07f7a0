"""How names are said: entries, files, and what a lexicon does to a text."""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.errors import InvalidInput
from rtvoice.text.lexicon import Entry, Lexicon, LexiconFile
from rtvoice.text.mapped import Mapped, Pin
from scripts.write_text_docs import DOCS

FILE = """
[words]
Nguyen = "/wˈɪn/"
kubectl = "cube control"
"C. elegans" = "see elegans"
US = { say = "U S", case = true }
gigachad = { say = "giga chad", whole = false }
"""


def said(lexicon, text):
    return lexicon.apply(Mapped.of(text))[0].text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run kubectl now", "run cube control now"),
        ("KubeCtl!", "cube control!"),
        ("kubectls", "kubectls"),
        ("my_kubectl", "my_kubectl"),
        ("C. elegans is small", "see elegans is small"),
        ("the US asks us", "the U S asks us"),
        ("megaGigachads", "megagiga chads"),
        ("", ""),
    ],
)
def test_words(text, expected):
    assert said(Lexicon.parse(FILE), text) == expected


def test_the_example_in_the_page_is_a_lexicon():
    example = DOCS.read_text(encoding="utf-8").split("```toml")[1].split("```")[0]
    assert Lexicon.parse(example).entries[0] == Entry("Nguyen", ipa="wˈɪn")


def test_phonemes_are_pinned_where_the_word_stands():
    text, written = Lexicon.parse(FILE).apply(Mapped.of("Ask Nguyen, nguyen.", 50))
    assert text.text == "Ask Nguyen, nguyen."
    assert text.pins == (Pin(4, 10, "wˈɪn"), Pin(12, 18, "wˈɪn"))
    assert text.origin(4, 10) == (54, 60)
    assert written == ("Nguyen",)


def test_words_know_what_they_stand_for():
    text, _ = Lexicon.of({"kubectl": "cube control"}).apply(Mapped.of("run kubectl now"))
    assert text.origin(4, 16) == (4, 11)


def test_pinned_words_are_passed_by():
    text = Mapped.of("kubectl").pin(0, 7)
    assert Lexicon.of({"kubectl": "cube control"}).apply(text)[0].text == "kubectl"


def test_curly_apostrophes_are_apostrophes():
    assert said(Lexicon.of({"O'Brien": "oh bryan"}), "Ask O’Brien.") == "Ask oh bryan."
    assert said(Lexicon.of({"O’Brien": "oh bryan"}), "Ask O'Brien.") == "Ask oh bryan."


def test_the_longer_entry_wins_and_whole_words_before_parts():
    lexicon = Lexicon.of({"New York": "big apple", "New": "old", "york": {"say": "yorick", "whole": False}})
    assert said(lexicon, "New York, New, Yorkshire") == "big apple, old, yorickshire"


def test_as_written_goes_before_any_case():
    lexicon = Lexicon.of({"it": "that", "IT": {"say": "I T", "case": True}})
    assert said(lexicon, "IT runs it") == "I T runs that"


def test_signs_are_literal():
    assert said(Lexicon.of({"C++": "see plus plus", ".*": "anything"}), "C++ .* C+ x") == "see plus plus anything C+ x"


def test_a_word_may_be_silent():
    assert said(Lexicon.of({"um": ""}), "well um yes") == "well  yes"


def test_the_other_lexicon_counts_where_both_have_an_entry():
    both = Lexicon.of({"a1": "one", "b1": "two"}) | Lexicon.of({"B1": "three"})
    assert said(both, "a1 b1") == "one three"


def test_letters_that_fold_in_unusual_ways_do_no_harm():
    lexicon = Lexicon.of({"istanbul": "x", "straße": "y"})
    assert said(lexicon, "İstanbul STRASSE straße") == "İstanbul STRASSE y"


def test_an_empty_lexicon_changes_nothing():
    text = Mapped.of("kubectl")
    assert Lexicon().apply(text) == (text, ())


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"x": 5}, "say is a text"),
        ({"x": {"case": True}}, "say is a text"),
        ({"x": {"say": "y", "whole": "yes"}}, "true or false"),
        ({"x": {"say": "y", "cases": True}}, "unknown cases"),
        ({"": "y"}, "what is written"),
        ({" x": "y"}, "what is written"),
        ({"x" * 201: "y"}, "what is written"),
        ({"x": "y" * 201}, "what is written"),
        ({"x": "/wˈ1n/"}, "no phonemes"),
    ],
)
def test_entries_that_are_not_right_are_refused_by_name(words, problem):
    with pytest.raises(InvalidInput, match=problem) as caught:
        Lexicon.of(words, field="options.lexicon")
    assert caught.value.field == f"options.lexicon.{next(iter(words))}"


def test_too_many_entries_are_refused():
    with pytest.raises(InvalidInput, match="100,000"):
        Lexicon.of({f"w{i}": "x" for i in range(100_001)})


@pytest.mark.parametrize("toml", ["[words", "[other]\nx = 'y'", "words = 5", "[words]\nx = 'y'\nx = 'z'"])
def test_files_that_are_not_right_are_refused(toml):
    with pytest.raises(InvalidInput):
        Lexicon.parse(toml)


def test_a_file_is_read_again_when_it_has_changed(tmp_path):
    path = tmp_path / "lexicon.toml"
    path.write_text("[words]\nfoo = 'bar'\n", encoding="utf-8")
    first = LexiconFile.read(path)
    assert first.lexicon.entries == (Entry("foo", say="bar"),)
    assert first.refreshed() is first

    path.write_text("[words]\nfoo = 'baz'\n", encoding="utf-8")
    os.utime(path, ns=(1, 1))
    second = first.refreshed()
    assert said(second.lexicon, "foo") == "baz"
    assert said(first.lexicon, "foo") == "bar"


def test_a_file_that_was_damaged_or_removed_is_an_error_and_the_old_one_stays(tmp_path):
    path = tmp_path / "lexicon.toml"
    path.write_text("[words]\nfoo = 'bar'\n", encoding="utf-8")
    file = LexiconFile.read(path)
    path.write_text("[words]\nfoo = \n", encoding="utf-8")
    os.utime(path, ns=(1, 1))
    with pytest.raises(InvalidInput, match=r"lexicon\.toml"):
        file.refreshed()
    path.unlink()
    with pytest.raises(InvalidInput, match="cannot be read"):
        file.refreshed()
    assert said(file.lexicon, "foo") == "bar"


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "lexicon.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="cannot be read"):
        LexiconFile.read(path)


def test_time_does_not_grow_with_the_number_of_entries():
    text = Mapped.of("some words that are not in the lexicon at all, again and again " * 200)

    def seconds(entries):
        lexicon = Lexicon.of({f"word{i}x": "y" for i in range(entries)})
        lexicon.apply(text)
        started = time.process_time()
        lexicon.apply(text)
        return time.process_time() - started

    assert min(seconds(20_000) for _ in range(3)) < 5 * min(seconds(20) for _ in range(3)) + 0.01


@given(
    st.text(max_size=40),
    st.dictionaries(
        st.text("abAB'. ", min_size=1, max_size=3).filter(str.strip).map(str.strip),
        st.text("xy ", max_size=4),
        max_size=6,
    ),
)
def test_any_lexicon_applies_to_any_text(text, words):
    mapped, written = Lexicon.of(words).apply(Mapped.of(text))
    assert set(written) <= set(words)
    assert not written or mapped.text != text or any(words[w].lower() == w.lower() for w in written)
