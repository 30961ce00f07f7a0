"""The steps of synthesis between the networks, in numpy: alignment, harmonic source, STFT and its inverse.

Here and wherever speech is made, products are sums by `einsum`: BLAS would wake threads for them, one for each core,
which then spin for longer than the product takes, on cores where inferences run.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rtvoice.config import SAMPLE_RATE

Floats = NDArray[np.float32]

SAMPLES_PER_FRAME = 600
"""Samples of one frame of duration, 25 ms."""

_STEP = 300  # samples of one value of f0
_VOICED_HZ = 10.0  # below, a sound has no pitch
_SINE, _VOICED_NOISE = 0.1, 0.003  # amplitudes; noise of what is not voiced has a third of the sine's

N_FFT, HOP = 20, 5
_WINDOW = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(N_FFT) / N_FFT)).astype(np.float32)  # periodic Hann
_SPECTRUM = N_FFT // 2 + 1  # 11 bins


def _transform() -> Floats:
    """Return the matrix that windows 20 samples and makes 11 real and 11 imaginary parts of them."""
    time, bin_ = np.arange(N_FFT)[:, None], np.arange(_SPECTRUM)[None]
    turn = 2 * np.pi * (time * bin_ % N_FFT) / N_FFT
    sines = np.where(bin_ % (N_FFT // 2) == 0, 0.0, -np.sin(turn))  # the outer bins have no imaginary part at all
    return (np.concatenate([np.cos(turn), sines], axis=1) * _WINDOW[:, None]).astype(np.float32)


_TRANSFORM = _transform()


def align(rows: Floats, durations: Floats) -> Floats:
    """Repeat each row [T, C] by its duration in frames."""  # (F, C)
    return np.repeat(rows, durations.astype(np.int64), axis=0)


def harmonic_source(
    f0: Floats, mix: Floats, bias: Floats, noise: Floats, *, start: int = 0, stop: int | None = None
) -> Floats:
    """Make the excitation that the generator shapes: nine harmonics of the pitch where there is one, noise elsewhere.

    The model's random initial phase never reaches its output (its down-sampling skips the first sample), so only the
    noise is random. Phases are summed in float64; upstream sums in float32 and is off by up to 6e-3.

    Harmonic k has k times the phase of the pitch, so their sum follows from one sine and one cosine (Clenshaw). Noise
    is added once, not to each harmonic: the sum of nine independent normal values, each multiplied by its weight, is
    one whose deviation is the weights' norm.

    Args:
        f0: pitch [2F] in Hz.
        mix: weights of the harmonics, [1, 9].
        bias: added to their sum, [1].
        noise: standard normal values for the samples that are made, [300 (stop - start)].
        start: the first value of f0 for which samples are made.
        stop: the value behind the last, None for all.

    Returns:
        300 samples for each value of f0, within -1..1.
    """
    stop = len(f0) if stop is None else stop
    turns = np.cumsum(f0.astype(np.float64) / SAMPLE_RATE) * _STEP  # of the pitch, in the middle of each step
    at = np.clip((np.arange(start * _STEP, stop * _STEP) + 0.5) / _STEP - 0.5, 0, len(f0) - 1)
    left = at.astype(np.int64)
    right = np.minimum(left + 1, len(f0) - 1)
    turn = turns[left] + (turns[right] - turns[left]) * (at - left)
    phase = (turn % 1 * (2 * np.pi)).astype(np.float32)
    sine, twice_cosine = np.sin(phase), 2 * np.cos(phase)
    total, before = np.zeros_like(sine), np.zeros_like(sine)
    for weight in mix.reshape(-1)[::-1]:
        total, before = weight + twice_cosine * total - before, total
    # upstream takes each step's turns modulo 1, which puts half a turn on the way to a pitch below zero
    amplitude = np.where(f0[right] < 0, -_SINE, _SINE).astype(np.float32)
    voiced = np.repeat(f0[start:stop] > _VOICED_HZ, _STEP)
    deviation = np.where(voiced, np.float32(_VOICED_NOISE), np.float32(_SINE / 3)) * np.linalg.norm(mix)
    source: Floats = np.tanh(np.where(voiced, amplitude * sine * total, 0) + noise * deviation + bias)
    return source


class SourceSpectra:
    """The spectra of a harmonic source, made from the beginning on as far as they are needed.

    Attributes:
        rows: as `stft` gives them, [margin + 120F + 1 + margin, 22]; zeros in the margins and where nothing was made.
    """

    def __init__(self, f0: Floats, mix: Floats, bias: Floats, noise: np.random.Generator, *, margin: int = 0) -> None:
        """Describe a source.

        Args:
            f0: pitch [2F] in Hz.
            mix: see `harmonic_source`.
            bias: see `harmonic_source`.
            noise: where standard normal values are drawn from, one a sample.
            margin: rows of zeros before and behind.
        """
        self._f0, self._mix, self._bias, self._noise, self._margin = f0, mix, bias, noise, margin
        samples = len(f0) * _STEP
        self._length = samples // HOP + 1
        self._source = np.zeros(samples + N_FFT, np.float32)  # with what is mirrored at its ends
        self._excited = self._made = 0  # steps of f0, rows
        self.rows = np.zeros((margin + self._length + margin, 2 * _SPECTRUM), np.float32)

    def make(self, stop: int) -> None:
        """Make the rows up to `stop`, or to the end if that comes before."""
        start, stop = self._made, min(stop, self._length)
        if stop <= start:
            return
        self._excite(min(len(self._f0), -(-(stop * HOP + N_FFT // 2) // _STEP)))
        samples = self._source[start * HOP : (stop - 1) * HOP + N_FFT]
        self.rows[self._margin + start : self._margin + stop] = _spectra(samples)
        self._made = stop

    def _excite(self, stop: int) -> None:
        start, half = self._excited, N_FFT // 2
        if stop <= start:
            return
        noise = self._noise.standard_normal((stop - start) * _STEP, np.float32)
        made = harmonic_source(self._f0, self._mix, self._bias, noise, start=start, stop=stop)
        self._source[half + start * _STEP : half + stop * _STEP] = made
        if start == 0:
            self._source[:half] = self._source[2 * half : half : -1]
        if stop == len(self._f0):
            self._source[-half:] = self._source[-half - 2 : -2 * half - 2 : -1]
        self._excited = stop


def _spectra(samples: Floats) -> Floats:
    """Return magnitudes, then angles, of the spectra of all windows in `samples`."""  # (T, 22)
    frames = np.lib.stride_tricks.sliding_window_view(samples, N_FFT)[::HOP]
    parts = np.einsum("tn,nk->tk", frames, _TRANSFORM)
    real, imaginary = parts[:, :_SPECTRUM], parts[:, _SPECTRUM:]
    return np.concatenate([np.hypot(real, imaginary), np.arctan2(imaginary, real)], axis=1)


def stft(source: Floats) -> Floats:
    """Return magnitudes, then angles, of the spectra of `source` [600F], mirrored at its ends."""  # (120F + 1, 22)
    return _spectra(np.pad(source, N_FFT // 2, mode="reflect"))


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


def window_norm(rows: int) -> Floats:
    """Return what sums of the windows of `rows` spectra are multiplied by, for each sample."""  # (rows - 1, 5)
    power = (_WINDOW**2).reshape(N_FFT // HOP, HOP)
    norm = np.zeros((rows + N_FFT // HOP - 1, HOP), np.float32)
    for k in range(N_FFT // HOP):
        norm[k : k + rows] += power[k]
    half = N_FFT // HOP // 2
    return np.reciprocal(np.maximum(norm[half:-half], np.float32(1e-11)))
