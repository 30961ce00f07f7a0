"""Every stage against upstream's, each fed upstream's own inputs, so that no stage can hide behind another."""

from __future__ import annotations

import numpy as np
import pytest

from rtvoice.speech import host
from rtvoice.speech.vocabulary import ids
from rtvoice.speech.weights import load_weights

pytestmark = pytest.mark.reference

FULL_SCALE_SHARE = 1e-3
"""How far a value may be off, as a share of the largest magnitude upstream has in that place."""


def assert_equal_to(expected, found):
    assert found.shape == expected.shape
    assert np.isfinite(found).all()
    off = np.abs(found - expected).max() / np.abs(expected).max()
    assert off <= FULL_SCALE_SHARE, f"off by {off:.1e} of full scale"


def test_text(recording, networks):
    inputs = {
        "ids": np.array([ids(recording.phonemes)], np.int64),
        "style": recording.style,
        "speed": np.ones(1, np.float32),
    }
    outputs = networks["text"](inputs)

    np.testing.assert_array_equal(outputs["durations"], recording.durations)
    assert_equal_to(recording.d, outputs["d"])
    assert_equal_to(recording.t_en, outputs["t_en"])


def test_alignment(recording):
    np.testing.assert_array_equal(host.align(recording.d, recording.durations), recording.en)
    np.testing.assert_array_equal(host.align(recording.t_en, recording.durations), recording.asr)


def test_prosody(recording, networks):
    outputs = networks["prosody"]({"en": recording.en, "style": recording.style})

    assert_equal_to(recording.f0, outputs["f0"])
    assert_equal_to(recording.energy, outputs["energy"])


def test_decoder(recording, networks, kernels):
    inputs = {"asr": recording.asr, "f0": recording.f0, "energy": recording.energy, "style": recording.style}

    assert_equal_to(recording.x, networks["decoder"](inputs | {"kernel.ups.0": kernels["kernel.ups.0"]})["x"])


def test_harmonic_source(recording):
    # Upstream sums phases in float32, which drifts; what it would compute without drift is what has to come out.
    weights = load_weights()
    linear = "decoder.generator.m_source.l_linear"
    source = host.harmonic_source(recording.f0, weights[f"{linear}.weight"], weights[f"{linear}.bias"], recording.noise)

    assert_equal_to(recording.exact_source, source)


def test_stft(recording):
    # Where a magnitude is tiny its angle means nothing, and one of pi may be one of -pi: compare complex numbers.
    def spectrum(har):
        return har[:, :11] * np.exp(1j * har[:, 11:])

    assert_equal_to(spectrum(recording.har), spectrum(host.stft(recording.source)))


def test_generator(recording, networks, kernels):
    outputs = networks["generator"]({"x": recording.x, "har": recording.har, "style": recording.style, **kernels})

    assert_equal_to(recording.post, outputs["post"])


def test_inverse_stft(recording):
    assert_equal_to(recording.audio, host.istft(recording.post))
