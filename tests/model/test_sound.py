"""The sound itself: loud enough and even, silent where it should be, without clicks."""

import numpy as np
import pytest

from tests.model.sentences import SENTENCES, VOICES
from tests.model.sound import loudness_db, roughness, silences_s, smoothest_sound

pytestmark = pytest.mark.model

# Speech reached 10.2 at most in 30 recordings; a stray sample of 0.15 in a vowel stands out by 30 at least.
CLICK = 13.0


@pytest.fixture(params=VOICES)
def voice(request, recordings):
    return [recordings[request.param, text] for text in SENTENCES]


def test_samples_are_sound_within_full_scale(voice):
    for samples in voice:
        assert samples.dtype == np.float32
        assert np.isfinite(samples).all()
        assert 0.2 < np.abs(samples).max() < 1.0
        assert abs(samples.mean()) < 0.001, "a constant part"


def test_loudness_is_even(voice):
    levels = [loudness_db(samples) for samples in voice]
    assert min(levels) > -30
    assert max(levels) < -19
    assert max(levels) - min(levels) < 4  # the exact form spreads over 1.5, predicted statistics over up to 3.3


def test_silence_is_at_the_ends_only(voice):
    for samples in voice:
        before, inside, behind = silences_s(samples)
        assert before < 0.6
        assert inside < 0.6
        assert behind < 0.9
        assert np.abs(samples[[0, -1]]).max() < 0.001, "starts or ends in the midst of a sound"


def test_pace_is_that_of_speech(recordings):
    for (_, text), samples in recordings.items():
        assert 2.0 < len(text.split()) / (len(samples) / 24_000) < 4.5, text


def test_no_clicks(voice):
    for samples in voice:
        assert roughness(samples).max() < CLICK


@pytest.mark.parametrize("fault", ["a stray sample", "a step"])
def test_the_click_check_hears_clicks(voice, fault):
    for samples in voice:
        spoiled = samples.copy()
        place = smoothest_sound(samples)
        spoiled[place : place + 1 if fault == "a stray sample" else None] += 0.15
        assert roughness(spoiled).max() >= CLICK
