"""What is spoken while memory is looked at, and what is asked of it."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.memory import LONGEST, SHORTEST, Cancelled, Waits, criteria, sentence, spoken_words
from rtvoice.speech.vocabulary import ids

FLAT = [(10, 500_000_000), (20, 600_000_000), (200, 610_000_000)]
FREED = [Cancelled(1.0, heard=True, freed_s=0.1, held_s=0.2)]


@given(st.integers(SHORTEST, LONGEST), st.integers(0, 100))
def test_sentences_can_be_spoken_and_are_as_long_as_asked(length, seed):
    phonemes = sentence(random.Random(seed), spoken_words(), length)  # noqa: S311  # lengths, no secrets
    assert ids(phonemes)
    assert length - 1 <= len(phonemes) <= length


def test_an_account_keeps_what_each_inference_held():
    waits = Waits()
    waits.charge(0.5, 0.1, 1.0)
    waits.charge(0.25, 0.0, 2.0)
    assert waits.held_s == [0.5, 0.25]
    assert waits.used_s == 0.75


def test_all_is_kept_where_memory_is_flat_and_places_come_back():
    assert all(one.kept for one in criteria(FLAT, 2, FREED))


def test_memory_is_compared_with_that_after_twenty_sentences():
    grown = [*FLAT, (210, 630_000_000)]
    assert [one.kept for one in criteria(grown, 2, FREED)] == [False, True, True]


def test_limits_go_by_streams():
    large = [(20, 750_000_000), (200, 750_000_000)]
    assert [one.kept for one in criteria(large, 1, FREED)] == [True, False, True]
    assert [one.kept for one in criteria(large, 2, FREED)] == [True, True, True]
    assert len(criteria(large, 4, FREED)) == 2


def test_a_place_comes_back_when_what_ran_has_ended():
    assert criteria(FLAT, 2, [Cancelled(1.0, heard=True, freed_s=0.2, held_s=0.2)])[-1].kept
    assert not criteria(FLAT, 2, [*FREED, Cancelled(1.0, heard=True, freed_s=0.3, held_s=0.2)])[-1].kept
