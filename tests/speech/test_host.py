"""The steps between the networks."""

import numpy as np
import pytest

from rtvoice.speech import host

MIX = np.full((1, 9), 0.3, np.float32)
BIAS = np.zeros(1, np.float32)


def pitch(steps=40):
    at = np.arange(steps)
    return np.where(at % 17 < 12, 180 + 30 * np.sin(at / 5), 0).astype(np.float32)


def test_align_repeats_each_row_by_its_duration():
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.testing.assert_array_equal(host.align(rows, np.array([2, 1, 3], np.float32))[:, 0], [0, 0, 2, 4, 4, 4])


def test_a_voiced_source_has_the_pitch_and_its_harmonics():
    f0 = np.full(80, 200, np.float32)  # a second
    source = host.harmonic_source(f0, MIX, BIAS, np.zeros(24_000, np.float32))
    spectrum = np.abs(np.fft.rfft(source))
    loudest = np.sort(np.argsort(spectrum)[-9:])
    np.testing.assert_allclose(loudest, np.arange(200, 2000, 200), atol=1)


def test_where_there_is_no_pitch_the_source_is_noise_alone():
    noise = np.random.default_rng(0).standard_normal((300 * 8, 9)).astype(np.float32)
    source = host.harmonic_source(np.zeros(8, np.float32), MIX, BIAS, noise.sum(1) / 3)
    np.testing.assert_allclose(source, np.tanh(noise.sum(1) * 0.3 * 0.1 / 3), atol=1e-6)


def test_each_harmonic_has_its_own_weight_and_a_multiple_of_the_phase():
    f0, mix = pitch(), np.linspace(0.9, -0.4, 9, dtype=np.float32)[None]
    f0[13] = -3.0  # not voiced, and upstream's remainder puts half a turn before it
    source = host.harmonic_source(f0, mix, BIAS + 0.01, np.zeros(300 * len(f0), np.float32))
    turns = np.cumsum(f0[:, None].astype(float) * np.arange(1, 10) / 24_000 % 1, axis=0) * 300
    at = np.clip((np.arange(300 * len(f0)) + 0.5) / 300 - 0.5, 0, len(f0) - 1)
    turn = np.stack([np.interp(at, np.arange(len(f0)), turns[:, k]) for k in range(9)], 1)
    sines = 0.1 * np.sin(2 * np.pi * turn) * np.repeat(f0 > 10, 300)[:, None]
    np.testing.assert_allclose(source, np.tanh(sines @ mix[0] + 0.01), atol=2e-6)


@pytest.mark.parametrize("stops", [[1, 2, 3, 4, 5], [7, 700, 701, 2401], [2400], [1000, 500, 3000]])
def test_spectra_made_bit_by_bit_are_those_made_at_once(stops):
    f0 = pitch()
    made = host.SourceSpectra(f0, MIX, BIAS, np.random.default_rng(3), margin=10)
    for stop in stops:
        made.make(stop)
    made.make(10_000)
    noise = np.random.default_rng(3).standard_normal(300 * len(f0), np.float32)
    whole = host.stft(host.harmonic_source(f0, MIX, BIAS, noise))
    assert len(whole) == 60 * len(f0) + 1
    np.testing.assert_allclose(made.rows[10:-10, :11], whole[:, :11], atol=1e-6)
    turn = np.angle(np.exp(1j * (made.rows[10:-10, 11:] - whole[:, 11:])))  # angles may differ by whole turns
    np.testing.assert_allclose(turn[whole[:, :11] > 1e-3], 0, atol=1e-3)
    assert not made.rows[:10].any()
    assert not made.rows[-10:].any()


def test_spectra_are_made_no_further_than_asked():
    made = host.SourceSpectra(pitch(), MIX, BIAS, np.random.default_rng(3))
    made.make(100)
    assert made.rows[:100].any(axis=1).all()
    assert not made.rows[100:].any()


def test_the_inverse_adds_up_windows_and_divides_by_their_power():
    rng = np.random.default_rng(0)
    post = rng.standard_normal((25, 22)).astype(np.float32)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(20) / 20)
    total, power = np.zeros(24 * 5 + 20), np.zeros(24 * 5 + 20)
    for row, values in enumerate(post.astype(float)):
        spectrum = np.exp(values[:11]) * np.exp(1j * np.sin(values[11:]))
        total[row * 5 : row * 5 + 20] += np.fft.irfft(spectrum, 20) * window
        power[row * 5 : row * 5 + 20] += window**2
    np.testing.assert_allclose(host.istft(post), (total / np.maximum(power, 1e-11))[10:-10], rtol=1e-4, atol=1e-5)


def test_window_norm_makes_overlapping_windows_sum_to_one():
    norm = host.window_norm(9)
    assert norm.shape == (8, 5)
    np.testing.assert_allclose(norm[3:-3], 1 / 1.5, rtol=1e-6)
    assert (norm[0] >= norm[4]).all()
