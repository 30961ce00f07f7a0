"""The measures of likeness, on sounds of which the answer is known."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from benchmarks.measures import (
    Measures,
    Words,
    groups,
    join_steps,
    level_difference,
    log_spectral_distance,
    plain,
)
from benchmarks.quality import by_voice, criteria, error_rate, worst
from benchmarks.recordings import ANSWERS, held_out

RNG = np.random.default_rng(0)
NOISE = RNG.standard_normal(24_000).astype(np.float32)

GOOD = Measures(
    voice="af_heart",
    text="Good morning.",
    seconds=1.0,
    pesq=4.5,
    pesq_floor=4.5,
    distance=2.0,
    distance_floor=2.0,
    level_db=0.1,
    dnsmos=3.2,
    dnsmos_exact=3.2,
    join_step=0.1,
    other_step=0.2,
    join_mean=1.0,
)
HEARD = [Words("af_heart", form, 1, 100) for form in ("default", "exact", "other")]


def test_a_factor_is_as_far_as_it_is_loud():
    assert log_spectral_distance(NOISE, NOISE) == 0
    assert log_spectral_distance(10 * NOISE, NOISE) == pytest.approx(20, abs=0.01)
    assert level_difference(10 * NOISE, NOISE) == pytest.approx(20, abs=0.01)
    assert level_difference(NOISE / 2, NOISE) == pytest.approx(-6.02, abs=0.01)


def test_what_lies_under_the_floor_counts_as_the_floor():
    tone = np.sin(np.arange(24_000) * 2 * np.pi * 94 / 1024).astype(np.float32)  # in the middle of a bin
    assert log_spectral_distance(tone + 1e-6 * NOISE, tone) < 0.1
    assert log_spectral_distance(tone + 1e-2 * NOISE, tone) > 10


def test_a_sound_shorter_than_a_window_has_a_distance():
    assert log_spectral_distance(2 * NOISE[:500], NOISE[:500]) == pytest.approx(6.02, abs=0.01)


def test_a_step_at_a_join_is_found():
    smooth = np.sin(np.arange(4_000) / 50).astype(np.float32)
    assert join_steps(smooth, [1_000, 2_000])[2] == pytest.approx(1, abs=0.7)
    stepped = np.where(np.arange(4_000) < 2_000, smooth, smooth + np.float32(0.5))
    at, elsewhere, mean = join_steps(stepped, [1_000, 2_000])
    assert at > 0.45
    assert elsewhere < 0.03
    assert mean > 10
    # the same step where no slices join
    at, elsewhere, _ = join_steps(stepped, [1_000, 1_999])
    assert at < 0.03
    assert elsewhere > 0.45


def test_without_joins_there_is_no_step():
    assert join_steps(np.array([0, 0.5, 0.25], np.float32), []) == (0.0, 0.5, 1.0)


def test_groups_keep_the_order_and_the_limit():
    assert groups([3, 3, 5, 1, 9], 6) == [[0, 1], [2, 3], [4]]
    assert groups([], 6) == []


def test_texts_are_compared_by_their_words():
    assert plain("“Twenty-two!” — it’s  the U.S. team's") == "twenty two its the us teams"


def test_all_is_kept_where_slices_are_as_near_as_the_noise():
    assert all(one.kept for one in criteria([GOOD], HEARD))


@pytest.mark.parametrize(
    "changed",
    [
        {"pesq": 4.44},
        {"distance": 2.8},
        {"dnsmos": 3.1},
        {"level_db": -0.6},
        {"join_step": 0.21},
        {"pesq": float("nan")},
    ],
)
def test_each_measure_can_fail(changed):
    assert not all(one.kept for one in criteria([dataclasses.replace(GOOD, **changed)], HEARD))


def test_one_sentence_far_under_its_own_floor_is_enough():
    measured = [*[dataclasses.replace(GOOD, pesq=4.6)] * 9, dataclasses.replace(GOOD, pesq=4.0, text="The worst.")]
    failed = [one.what for one in criteria(measured, HEARD) if not one.kept]
    assert failed == ["PESQ-WB under its own floor, worst sentence"]
    assert "The worst." in worst(measured).splitlines()[2]


def test_level_is_asked_of_each_voice_and_told_of_the_sentence_that_is_furthest_off():
    louder = dataclasses.replace(GOOD, level_db=0.9)
    softer = dataclasses.replace(GOOD, level_db=-0.8)
    other = dataclasses.replace(GOOD, voice="bf_emma")
    words = [*HEARD, *(dataclasses.replace(one, voice="bf_emma") for one in HEARD)]
    assert all(one.kept for one in criteria([louder, softer, other], words))
    assert not all(one.kept for one in criteria([louder, louder, other, other], words))
    heart, emma, both = by_voice([louder, softer, other], words).splitlines()[2:]
    assert [line.split()[6:8] for line in (heart, emma, both)] == [["0.05", "0.90"], ["0.10", "0.10"], ["0.07", "0.90"]]


def test_words_heard_wrong_are_counted_against_those_of_the_exact_form():
    words = [Words("a", "default", 4, 100), Words("b", "default", 0, 300), *HEARD[1:]]
    assert error_rate(words, "default") == pytest.approx(1.0)
    assert all(one.kept for one in criteria([GOOD], words))
    words.append(Words("c", "default", 9, 100))
    assert not all(one.kept for one in criteria([GOOD], words))


def test_the_table_has_a_row_for_each_voice_and_one_for_all():
    other = dataclasses.replace(GOOD, voice="bf_emma", pesq=4.3)
    words = [*HEARD, *(dataclasses.replace(one, voice="bf_emma") for one in HEARD)]
    lines = by_voice([GOOD, other], words).splitlines()
    assert [line.split()[:2] for line in lines[2:]] == [["af_heart", "4.50"], ["bf_emma", "4.30"], ["all", "4.40"]]


def test_the_held_out_sentences_are_none_that_maps_are_fitted_to():
    from rtvoice.speech.fitting import sentences

    assert len(held_out()) == len(set(held_out())) == 40
    assert len(held_out(ANSWERS)) == len(set(held_out(ANSWERS))) == 22
    assert len(held_out(count=8)) == 8
    assert not {*held_out(), *held_out(ANSWERS)} & set(sentences())
