"""Phoneme and word times from durations."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.speech.phonemes import PhonemeWord
from rtvoice.speech.pieces import cut
from rtvoice.speech.synthesizer import PhonemeTime
from rtvoice.speech.timing import WordClock, begun
from rtvoice.speech.vocabulary import sounds
from rtvoice.text.segment import SpokenWord


def clock_of(*words):
    """Words as (spoken, source range, phonemes); the passage is the spoken words with a space between."""
    spoken, pronounced, at = [], [], 0
    for text, source, phonemes in words:
        spoken.append(SpokenWord(at, at + len(text), *source))
        pronounced.append(PhonemeWord(at, at + len(text), phonemes, space=True))
        at += len(text) + 1
    return WordClock(spoken, pronounced), pronounced


def loud(durations):
    """Energy of sound that is never silent."""
    return np.full(2 * int(sum(durations)), 5.0, np.float32)


def test_a_word_lasts_from_its_first_phoneme_to_its_last():
    clock, words = clock_of(("hi", (0, 2), "ha"), ("you", (3, 6), "ju"))
    (piece,) = cut(words)
    durations = np.array([4, 1, 2, 8, 3, 5, 6], np.float32)  # silence, h, a, space, j, u, silence
    energy = loud(durations)
    energy[2 * 7 : 2 * 15] = energy[2 * 23 :] = -8.0
    _, (first, second) = clock.times(piece, durations, energy, 10.0)
    assert (first.start, first.end, second.start, second.end) == (0, 2, 3, 6)
    np.testing.assert_allclose([first.start_s, first.end_s], [10 + 0.1, 10 + 0.175])
    np.testing.assert_allclose([second.start_s, second.end_s], [10 + 0.375, 10 + 0.575])


def test_a_phoneme_lasts_until_the_next_with_its_marks():
    clock, words = clock_of(("hurt", (0, 4), "hˈɜːt"), ("a", (5, 6), "ə"))
    (piece,) = cut(words)
    durations = np.array([4, 1, 2, 3, 5, 6, 7, 8, 9], np.float32)  # silence, h, ˈ, ɜ, ː, t, space, ə, silence
    energy = loud(durations)
    energy[2 * 5 : 2 * 8] = energy[2 * 17 : 2 * 22] = energy[2 * 36 :] = -8.0  # a dip inside, the end of t, the end
    phonemes, _ = clock.times(piece, durations, energy, 10.0)
    assert [phoneme.phoneme for phoneme in phonemes] == ["h", "ˈɜː", "t", "ə"]
    np.testing.assert_allclose([phoneme.start_s for phoneme in phonemes], 10 + np.array([4, 5, 15, 28]) / 40)
    np.testing.assert_allclose([phoneme.end_s for phoneme in phonemes], 10 + np.array([5, 15, 17, 36]) / 40)


@pytest.mark.parametrize(("silent_from", "end"), [(9, 9), (5, 5), (4.5, 4.5), (3.5, 3.5), (3, 3), (2, 3)])
def test_sound_goes_on_through_a_space_until_it_falls_silent(silent_from, end):
    clock, words = clock_of(("ah", (0, 2), "a"), ("oh", (3, 5), "O"))
    (piece,) = cut(words)
    durations = np.array([2, 2, 5, 3, 1], np.float32)  # silence, a, space, O, silence
    energy = loud(durations)
    energy[int(2 * silent_from) : 2 * 8] = -8.0  # the next word is heard a frame early
    (first, _), (word, _) = clock.times(piece, durations, energy, 0.0)
    np.testing.assert_allclose([first.end_s, word.end_s], end * 0.025)


def test_what_has_begun_is_taken_once():
    times = [PhonemeTime("a", 0.0, 0.1), PhonemeTime("b", 0.1, 0.2), PhonemeTime("c", 0.2, 0.3)]
    assert [time.phoneme for time in begun(times, 0.2)] == ["a", "b"]
    assert begun(times, 0.2) == ()
    assert [time.phoneme for time in begun(times, 9.0)] == ["c"]


def test_words_that_came_from_the_same_characters_are_one_word():
    clock, words = clock_of(("five", (0, 2), "fI"), ("dollars", (0, 2), "dɑ"), ("now", (3, 6), "nW"))
    (piece,) = cut(words)
    durations = np.ones(len(piece.phonemes) + 2, np.float32)
    _, times = clock.times(piece, durations, loud(durations), 0.0)
    assert [(time.start, time.end) for time in times] == [(0, 2), (3, 6)]
    np.testing.assert_allclose([times[0].start_s, times[0].end_s], [0.025, 0.025 * 7])


def test_punctuation_has_no_time_where_it_is_a_pause():
    words = [PhonemeWord(0, 2, "ha", space=False), PhonemeWord(2, 3, ",", space=False)]
    (piece,) = cut(words)
    energy = np.array([5] * 6 + [-8] * 4, np.float32)
    _, (time,) = WordClock([SpokenWord(0, 2, 0, 2)], words).times(piece, np.ones(5, np.float32), energy, 0.0)
    np.testing.assert_allclose([time.start_s, time.end_s], [0.025, 0.075])


def test_a_word_cut_in_two_is_told_once():
    clock, words = clock_of(("long", (0, 4), "l" * 12))
    first, second = cut(words, target=6, limit=6)
    assert len(clock.times(first, np.ones(8, np.float32), loud([8]), 0.0)[1]) == 1
    phonemes, words = clock.times(second, np.ones(8, np.float32), loud([8]), 0.2)
    assert (len(phonemes), words) == (6, [])


def test_the_pause_behind_a_word_is_not_the_words():
    clock, words = clock_of(("hi", (0, 2), "ha"), ("you", (3, 6), "ju"))
    (piece,) = cut(words)
    durations = np.array([1, 1, 9, 1, 3, 9, 1], np.float32)  # a and u last nine frames, of which two can be heard
    energy = loud(durations)
    energy[2 * 4 : 2 * 12] = -3.0
    energy[2 * 17 :] = -8.0
    _, (first, second) = clock.times(piece, durations, energy, 0.0)
    np.testing.assert_allclose([first.start_s, first.end_s], [0.025, 4 * 0.025])
    np.testing.assert_allclose([second.start_s, second.end_s], [12 * 0.025, 17 * 0.025])


def test_a_dip_inside_the_last_phoneme_does_not_end_the_word():
    clock, words = clock_of(("it", (0, 2), "It"))
    (piece,) = cut(words)
    durations = np.array([1, 2, 4, 1], np.float32)  # the closure of t is silent, its release is not
    energy = np.array([5] * 6 + [-4] * 4 + [2, 2, -4, -4, -4, -4], np.float32)
    _, (word,) = clock.times(piece, durations, energy, 0.0)
    np.testing.assert_allclose([word.start_s, word.end_s], [0.025, 6 * 0.025])


def test_a_mark_inside_a_words_range_does_not_lengthen_it():
    words = [PhonemeWord(0, 2, "ha", space=False), PhonemeWord(2, 3, "…", space=False)]
    (piece,) = cut(words)
    energy = np.array([5] * 24 + [-8] * 16, np.float32)
    _, (time,) = WordClock([SpokenWord(0, 3, 0, 3)], words).times(piece, np.full(5, 4, np.float32), energy, 0.0)
    np.testing.assert_allclose(time.end_s, 12 * 0.025)


@given(
    st.lists(st.text("hal, ju", min_size=1, max_size=6), min_size=1, max_size=8),
    st.integers(0, 2**32 - 1),
)
def test_words_follow_each_other(phonemes, seed):
    random = np.random.default_rng(seed)
    clock, words = clock_of(*((f"w{n}", (3 * n, 3 * n + 2), said) for n, said in enumerate(phonemes)))
    at_s = ends_s = 0.0
    for piece in cut(words, target=12):
        durations = random.integers(1, 20, len(piece.phonemes) + 2).astype(np.float32)
        energy = random.uniform(-9, 9, 2 * int(durations.sum())).astype(np.float32)
        for word in clock.times(piece, durations, energy, at_s)[1]:
            assert ends_s - 1e-9 <= word.start_s < word.end_s
            ends_s = word.end_s
        at_s += 0.025 * float(durations.sum())
        assert ends_s <= at_s


@given(
    st.lists(st.text("haˈːl, ju", min_size=1, max_size=6), min_size=1, max_size=8),
    st.integers(0, 2**32 - 1),
)
def test_phonemes_tile_the_speech_and_words_are_made_of_them(phonemes, seed):
    random = np.random.default_rng(seed)
    clock, pronounced = clock_of(*((f"w{n}", (3 * n, 3 * n + 2), said) for n, said in enumerate(phonemes)))
    at_s = 0.0
    for piece in cut(pronounced, target=12):
        durations = random.integers(1, 20, len(piece.phonemes) + 2).astype(np.float32)
        energy = random.uniform(-9, 9, 2 * int(durations.sum())).astype(np.float32)
        heard, words = clock.times(piece, durations, energy, at_s)
        places = list(sounds(piece.phonemes))
        assert [phoneme.phoneme for phoneme in heard] == [piece.phonemes[at:to] for at, to in places]
        for (one, (_, to)), (other, (at, _)) in pairwise(zip(heard, places, strict=True)):
            assert one.start_s < one.end_s <= other.start_s
            if one.end_s < other.start_s:  # a rest only where a mark or a space is, and nothing is heard
                assert to < at
                assert energy[round((one.end_s - at_s) / 0.0125)] < -1
        begins = {phoneme.start_s for phoneme in heard}
        ends = {phoneme.end_s for phoneme in heard}
        assert all(word.start_s in begins and word.end_s in ends for word in words)
        at_s += 0.025 * float(durations.sum())
        assert all(phoneme.end_s <= at_s for phoneme in heard)
