"""Samples to bytes and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.audio import FADE_SAMPLES, Fader, cut, decode, encode
from rtvoice.config import PCM_FORMATS
from rtvoice.errors import InvalidInput

_samples = st.lists(st.floats(-1, 1, width=32), max_size=50).map(lambda values: np.array(values, np.float32))


def test_bytes_of_16_bit():
    assert encode(np.array([0, 1, -1, 2, -2], np.float32), "pcm_s16le") == bytes.fromhex("0000 ff7f 0180 ff7f 0180")


@given(_samples)
def test_floats_are_exact(samples):
    np.testing.assert_array_equal(decode(encode(samples, "pcm_f32le"), "pcm_f32le"), samples)


@given(_samples)
def test_16_bit_is_within_half_a_step(samples):
    back = decode(encode(samples, "pcm_s16le"), "pcm_s16le")
    assert back.dtype == np.float32
    assert len(back) == len(samples)
    assert np.all(np.abs(back - samples) <= 0.5 / 32_767 + 1e-7)


@pytest.mark.parametrize("audio_format", ["pcm_s16le", "pcm_f32le"])
def test_every_format_has_whole_samples(audio_format):
    data = encode(np.zeros(3, np.float32), audio_format)
    with pytest.raises(InvalidInput):
        decode(data[:-1], audio_format)


def test_formats_that_are_none():
    with pytest.raises(InvalidInput) as caught:
        encode(np.zeros(1, np.float32), "mp3")
    assert (caught.value.field, caught.value.allowed) == ("format", tuple(PCM_FORMATS))


@given(st.integers(0, 100), st.integers(1, 30))
def test_pieces_joined_are_the_whole(samples, length):
    whole = np.arange(samples, dtype=np.float32)
    stretches = list(cut(whole, length))
    assert all(0 < len(stretch) <= length for stretch in stretches)
    np.testing.assert_array_equal(np.concatenate([np.zeros(0, np.float32), *stretches]), whole)


@given(st.lists(st.integers(0, 200), max_size=8))
def test_a_fade_is_the_same_however_sound_is_cut(lengths):
    fader, whole = Fader(), Fader()
    stretches = [np.ones(length, np.float32) for length in lengths]
    faded = np.concatenate([*(fader.push(stretch) for stretch in stretches), fader.finish()])
    at_once = np.concatenate([whole.push(np.ones(sum(lengths), np.float32)), whole.finish()])
    np.testing.assert_array_equal(faded, at_once)
    assert len(faded) == sum(lengths)


def test_a_fade_touches_the_ends_only():
    fader = Fader()
    for _ in range(2):  # a stretch, and another one
        faded = np.concatenate([fader.push(np.ones(1_000, np.float32)), fader.finish()])
        assert faded[0] < 0.01
        assert faded[-1] < 0.01
        assert np.all(np.diff(faded[:FADE_SAMPLES]) > 0)
        assert np.all(faded[FADE_SAMPLES:-FADE_SAMPLES] == 1)
