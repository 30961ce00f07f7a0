"""The whole way from phonemes to sound, given the same noise as upstream."""

from __future__ import annotations

import pesq
import pytest
import soxr

from rtvoice.config import SAMPLE_RATE

pytestmark = pytest.mark.reference

PESQ_RATE = 16_000
LEAST_PESQ = 4.5
"""Of at most 4.64. Another draw of the model's own noise scores 4.52."""


def test_it_sounds_the_same(recording, engine):
    # Not the same samples: upstream's float32 phases drift apart from exact ones, which nobody hears.
    samples = engine.speak(recording.phonemes, recording.style, 1.0)

    assert samples.shape == recording.audio.shape
    reference, degraded = (soxr.resample(x, SAMPLE_RATE, PESQ_RATE) for x in (recording.audio, samples))
    assert pesq.pesq(PESQ_RATE, reference, degraded, "wb") >= LEAST_PESQ
