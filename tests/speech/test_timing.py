"""Word times from durations."""

import numpy as np

from rtvoice.speech.phonemes import PhonemeWord
from rtvoice.speech.pieces import cut
from rtvoice.speech.timing import WordClock
from rtvoice.text.segment import SpokenWord


def clock_of(*words):
    """Words as (spoken, source range, phonemes); the passage is the spoken words with a space between."""
    spoken, pronounced, at = [], [], 0
    for text, source, phonemes in words:
        spoken.append(SpokenWord(at, at + len(text), *source))
        pronounced.append(PhonemeWord(at, at + len(text), phonemes, space=True))
        at += len(text) + 1
    return WordClock(spoken, pronounced), pronounced


def test_a_word_lasts_from_its_first_phoneme_to_its_last():
    clock, words = clock_of(("hi", (0, 2), "ha"), ("you", (3, 6), "ju"))
    (piece,) = cut(words)
    durations = np.array([4, 1, 2, 8, 3, 5, 6], np.float32)  # silence, h, a, space, j, u, silence
    first, second = clock.times(piece, durations, 10.0)
    assert (first.start, first.end, second.start, second.end) == (0, 2, 3, 6)
    np.testing.assert_allclose([first.start_s, first.end_s], [10 + 0.1, 10 + 0.175])
    np.testing.assert_allclose([second.start_s, second.end_s], [10 + 0.375, 10 + 0.575])


def test_words_that_came_from_the_same_characters_are_one_word():
    clock, words = clock_of(("five", (0, 2), "fI"), ("dollars", (0, 2), "dɑ"), ("now", (3, 6), "nW"))
    (piece,) = cut(words)
    times = clock.times(piece, np.ones(len(piece.phonemes) + 2, np.float32), 0.0)
    assert [(time.start, time.end) for time in times] == [(0, 2), (3, 6)]
    np.testing.assert_allclose([times[0].start_s, times[0].end_s], [0.025, 0.025 * 6])


def test_punctuation_has_no_time():
    words = [PhonemeWord(0, 2, "ha", space=False), PhonemeWord(2, 3, ",", space=False)]
    (piece,) = cut(words)
    (time,) = WordClock([SpokenWord(0, 2, 0, 2)], words).times(piece, np.ones(5, np.float32), 0.0)
    np.testing.assert_allclose([time.start_s, time.end_s], [0.025, 0.075])


def test_a_word_cut_in_two_is_told_once():
    clock, words = clock_of(("long", (0, 4), "l" * 12))
    first, second = cut(words, target=6, limit=6)
    assert len(clock.times(first, np.ones(8, np.float32), 0.0)) == 1
    assert clock.times(second, np.ones(8, np.float32), 0.2) == []
