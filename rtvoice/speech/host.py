"""The steps of synthesis between the networks, in numpy: alignment, harmonic source, STFT and its inverse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rtvoice.config import SAMPLE_RATE

Floats = NDArray[np.float32]

SAMPLES_PER_FRAME = 600
"""Samples of one frame of duration, 25 ms."""

_STEP = 300  # samples of one value of f0
_HARMONICS = 9
_VOICED_HZ = 10.0  # below, a sound has no pitch
_SINE, _VOICED_NOISE = 0.1, 0.003  # amplitudes; noise of what is not voiced has a third of the sine's

N_FFT, HOP = 20, 5
_WINDOW = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(N_FFT) / N_FFT)).astype(np.float32)  # periodic Hann
_SPECTRUM = N_FFT // 2 + 1  # 11 bins


def align(rows: Floats, durations: Floats) -> Floats:
    """Repeat each row [T, C] by its duration in frames."""  # (F, C)
    return np.repeat(rows, durations.astype(np.int64), axis=0)


def harmonic_source(f0: Floats, weight: Floats, bias: Floats, noise: Floats) -> Floats:
    """Make the excitation that the generator shapes: nine harmonics of the pitch where there is one, noise elsewhere.

    The model's random initial phase never reaches its output (its down-sampling skips the first sample), so only the
    noise is random. Phases are summed in float64; upstream sums in float32 and is off by up to 6e-3.

    Args:
        f0: pitch [2F] in Hz.
        weight: how harmonics are mixed, [1, 9].
        bias: added to the mix, [1].
        noise: standard normal, [600F, 9].

    Returns:
        The source [600F], within -1..1.
    """
    turns = np.cumsum(f0[:, None].astype(np.float64) * np.arange(1, _HARMONICS + 1) / SAMPLE_RATE % 1, axis=0) * _STEP
    at = np.clip((np.arange(len(f0) * _STEP) + 0.5) / _STEP - 0.5, 0, len(f0) - 1)
    left = at.astype(np.int64)
    right = np.minimum(left + 1, len(f0) - 1)
    between = turns[left] + (turns[right] - turns[left]) * (at - left)[:, None]
    sines = np.sin(2 * np.pi * (between % 1)).astype(np.float32)  # (600F, 9)
    voiced = np.repeat(f0 > _VOICED_HZ, _STEP)[:, None].astype(np.float32)
    excitation = sines * (_SINE * voiced) + noise * (voiced * _VOICED_NOISE + (1 - voiced) * (_SINE / 3))
    mixed: Floats = np.tanh(excitation @ weight.reshape(-1, 1) + bias)[:, 0]
    return mixed


def stft(source: Floats) -> Floats:
    """Return magnitudes, then angles, of the spectra of `source` [600F], mirrored at its ends."""  # (120F + 1, 22)
    padded = np.pad(source, N_FFT // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, N_FFT)[::HOP] * _WINDOW
    spectrum = np.fft.rfft(frames, axis=1)
    return np.concatenate([np.abs(spectrum), np.angle(spectrum)], axis=1).astype(np.float32)


def istft(post: Floats) -> Floats:
    """Return the samples [600F] of the generator's log magnitudes and phases [120F + 1, 22]."""
    spectrum = np.exp(post[:, :_SPECTRUM]) * np.exp(1j * np.sin(post[:, _SPECTRUM:]))
    frames = (np.fft.irfft(spectrum, N_FFT, axis=1) * _WINDOW).reshape(-1, N_FFT // HOP, HOP)
    power = (_WINDOW**2).reshape(N_FFT // HOP, HOP)
    samples = np.zeros((len(frames) + N_FFT // HOP - 1, HOP))
    norm = np.zeros_like(samples)
    for k in range(N_FFT // HOP):  # every sample is the sum of four frames that overlap
        samples[k : k + len(frames)] += frames[:, k]
        norm[k : k + len(frames)] += power[k]
    ends = slice(N_FFT // 2, -(N_FFT // 2))
    whole: Floats = (samples.reshape(-1)[ends] / np.maximum(norm.reshape(-1)[ends], 1e-11)).astype(np.float32)
    return whole
