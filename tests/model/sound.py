"""What an ear notices, in figures: how loud, how silent, any click."""

import numpy as np

from rtvoice.config import SAMPLE_RATE

_AUDIBLE = 0.003  # -50 dBFS
_LONG, _SHORT = SAMPLE_RATE // 100, 3  # half of the surroundings, and of what may be a click, in samples
_FLOOR = 0.003


def loudness_db(samples):
    """Mean level of what is not silence, in dB of full scale."""
    return 20 * np.log10(np.sqrt(np.mean(samples[_level(samples) > _AUDIBLE] ** 2)))


def silences_s(samples):
    """Seconds of silence before the first sound, the longest between two, and behind the last."""
    sounding = np.flatnonzero(_level(samples) > _AUDIBLE)
    inside = np.diff(sounding).max()
    return sounding[0] / SAMPLE_RATE, inside / SAMPLE_RATE, (len(samples) - 1 - sounding[-1]) / SAMPLE_RATE


def roughness(samples):
    """How much each place's curvature stands out from the 20 ms around it.

    A click is a sample, or a step, that its neighbours do not lead to. Sibilants are as sharp, but all around.
    """
    curvature = np.abs(np.diff(samples.astype(np.float64), 2))
    energy = np.concatenate([[0.0], np.cumsum(curvature**2)])
    around, count = _window(energy, _LONG)
    here, few = _window(energy, _SHORT)
    return curvature / (np.sqrt((around - here) / (count - few)) + _FLOOR)


def smoothest_sound(samples):
    """The place in loud speech, a vowel, where the wave bends least in the 20 ms around it."""
    curvature = np.abs(np.diff(samples.astype(np.float64), 2))
    around, count = _window(np.concatenate([[0.0], np.cumsum(curvature**2)]), _LONG)
    loud = _level(samples)[:-2] > np.sqrt(np.mean(samples.astype(np.float64) ** 2))
    return int(np.argmin(np.where(loud, around / count, np.inf)))


def _window(cumulated, half):
    """Sum over the places within `half` of each, and how many they are."""
    places = np.arange(len(cumulated) - 1)
    first = np.maximum(places - half, 0)
    last = np.minimum(places + half + 1, len(places))
    return cumulated[last] - cumulated[first], last - first


def _level(samples):
    """Root mean square over 10 ms."""
    window = SAMPLE_RATE // 100
    return np.sqrt(np.convolve(samples.astype(np.float64) ** 2, np.full(window, 1 / window), "same"))
