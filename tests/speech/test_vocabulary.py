"""Phonemes to numbers."""

from __future__ import annotations

import pytest

from rtvoice.speech.g2p.notation import PUNCTUATION
from rtvoice.speech.vocabulary import LEADING, MAX_PHONEMES, TRAILING, config_file, ids, sounds, vocabulary


def test_the_vocabulary_is_upstreams():
    assert len(vocabulary()) == 114
    assert vocabulary()[" "] == 16
    assert max(vocabulary().values()) == 177
    assert all(len(character) == 1 for character in vocabulary())


def test_ids_stand_between_zeros():
    assert ids("hˈA!") == (0, 50, 156, 24, 5, 0)
    assert ids("") == (0, 0)


def test_an_unknown_character_is_named():
    with pytest.raises(ValueError, match="vocabulary: 7 é"):
        ids("a7é")


@pytest.mark.parametrize(
    ("phonemes", "found"),
    [
        ("həlˈO", "h ə l ˈO"),
        ("ʧˈɜːʧ, ˌɛ̃ː!", "ʧ ˈɜː ʧ ˌɛ̃ː"),
        ("tʰʲ↘ᵊl", "tʰʲ↘ ᵊ l"),
        ("“ˈ” — …", ""),
        ("ˈ aˌ ː", "a"),
    ],
)
def test_a_sound_is_a_character_with_its_marks(phonemes, found):
    assert [phonemes[at:to] for at, to in sounds(phonemes)] == found.split()


def test_every_character_is_a_sound_or_a_mark_of_one_or_silence():
    alone = {character for character in vocabulary() if list(sounds(character))}
    assert vocabulary().keys() - alone == {*LEADING, *TRAILING, *PUNCTUATION, " "}


def test_the_limit_is_510():
    assert len(ids("a" * MAX_PHONEMES)) == 512
    with pytest.raises(ValueError, match="511 phonemes"):
        ids("a" * 511)


def test_the_vocabulary_cannot_be_changed():
    with pytest.raises(TypeError):
        vocabulary()["q"] = 1


def test_the_config_file_is_one_that_can_be_opened():
    assert config_file().is_file()
