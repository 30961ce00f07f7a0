"""Control marks: pauses and inline phonemes, and that they act only where they may."""

from __future__ import annotations

import pytest

from rtvoice.speech.vocabulary import vocabulary
from rtvoice.text.ipa import MAX_IPA, PHONEMES, is_phonemes, is_plainly_phonemes
from rtvoice.text.markup import Stretch
from rtvoice.text.markup.reader import MAX_PAUSE_S
from rtvoice.text.segment import Pause
from tests.text.marking import left_of, parts_of

MARKUPS = ["markdown", "plain", "ssml"]


@pytest.mark.parametrize("markup", MARKUPS)
@pytest.mark.parametrize(
    ("mark", "seconds"),
    [("0.8s", 0.8), ("800ms", 0.8), ("2 S", 2.0), (" 0s", 0.0), ("99999s", MAX_PAUSE_S)],
)
def test_pause(markup, mark, seconds):
    parts, rules = parts_of(f"Wait [pause:{mark}] go.", markup)
    assert [part.seconds if isinstance(part, Pause) else part.text.text for part in parts] == ["Wait ", seconds, " go."]
    assert rules == ["pause"]


@pytest.mark.parametrize("mark", ["[pause]", "[pause:]", "[pause:-1s]", "[pause:1]", "[pause:1h]", "[pause:1e9s]"])
def test_what_is_no_pause_is_text(mark):
    parts, _ = parts_of(f"Wait {mark} go.", "plain")
    assert [part.text.text for part in parts if isinstance(part, Stretch)] == [f"Wait {mark} go."]


def test_pauses_at_the_ends_and_in_a_row():
    assert left_of("[pause:1s][pause:2s]a[pause:3s]") == "<1><2>a<3>"
    assert left_of("[pause:1s]") == "<1>"


@pytest.mark.parametrize("markup", MARKUPS)
def test_phonemes_are_pinned(markup):
    parts, rules = parts_of("Meet [Zefira Li](/zɛfˈɪɹə lˈi/) at nine.", markup)
    (part,) = parts
    assert isinstance(part, Stretch)
    assert part.text.text == "Meet Zefira Li at nine."
    assert [(pin.at, pin.to, pin.ipa) for pin in part.text.pins] == [(5, 14, "zɛfˈɪɹə lˈi")]
    assert part.text.origin(5, 14) == (6, 15)
    assert rules == ["inline phonemes"]


@pytest.mark.parametrize("target", ["/about/", "/a.b/", "/über/us/", "/", "//", "/ɛ5/", "https://x.example/ɛ/"])
def test_what_is_no_phonemes_is_a_link(target):
    parts, _ = parts_of(f"Read [about us]({target}) first.")
    (part,) = parts
    assert isinstance(part, Stretch)
    assert not part.text.pins
    assert part.text.text == "Read about us first."


@pytest.mark.parametrize("markup", MARKUPS)
def test_untrusted_text_switches_nothing_on(markup):
    parts, rules = parts_of("Wait [pause:9s] and [say](/zɛfˈɪɹə/) it.", markup, control=False)
    assert all(isinstance(part, Stretch) and not part.text.pins for part in parts)
    assert {"pause", "inline phonemes"}.isdisjoint(rules)


def test_the_phonemes_are_the_models_without_its_punctuation():
    assert {char for char in vocabulary() if char.isalpha() or char == "\N{COMBINING TILDE}"} == PHONEMES


def test_is_phonemes():
    assert is_phonemes("zɛfˈɪɹə lˈi")
    assert not is_phonemes("")
    assert not is_phonemes(" ")
    assert not is_phonemes("zɛf!")
    assert is_phonemes("about")
    assert not is_plainly_phonemes("about us")
    assert is_plainly_phonemes("əbˈWt")
    assert 2 * MAX_IPA < 510  # with what stands around it a word still fits one call
