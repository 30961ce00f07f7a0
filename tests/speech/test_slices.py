"""Which slices are made, in which order; the networks are not run."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtvoice.speech.costs import GUESS, Costs
from rtvoice.speech.host import SourceSpectra
from rtvoice.speech.norms import CHANNELS, NORMS, Norms
from rtvoice.speech.pace import Pace
from rtvoice.speech.slices import (
    LOOK_AHEAD,
    SAMPLES_PER_ROW,
    STAGE1_LENGTHS,
    STAGE2_LENGTHS,
    Progress,
    SlicedGeneration,
    Step,
    margin,
)

NOTHING = tuple(np.zeros((NORMS, c), np.float32) for c in CHANNELS)


PACE = Pace(GUESS, Costs(GUESS), STAGE1_LENGTHS, STAGE2_LENGTHS)


def generation(rows):
    mix, bias = np.zeros((1, 9), np.float32), np.zeros(1, np.float32)
    f0 = np.full(rows, 100, np.float32)
    source = SourceSpectra(f0, mix, bias, np.random.default_rng(0), margin=margin())
    return SlicedGeneration(np.ones((rows, 512), np.float32), source, Norms(NOTHING, NOTHING))


def walk(rows):
    """Run through a generation with networks that give their slice's length; yields (stage, length, samples)."""
    made = generation(rows)
    for step in PACE.plan(rows):
        call = made.call(step)
        assert call.network == step.network
        if step.stage == 1:
            outputs = {"y": np.ones((10 * step.length, 256), np.float32)}
        else:
            assert call.inputs["x"][12 : 12 + 10 * min(step.length, 1)].all()  # stage 1 has been there
            outputs = {"samples": np.zeros(SAMPLES_PER_ROW * step.length, np.float32)}
        samples = made.take(outputs)
        yield step.stage, step.length, 0 if samples is None else len(samples)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 900))
def test_whatever_the_length_all_samples_are_given_and_no_more(rows):
    steps = list(walk(rows))
    assert sum(samples for _, _, samples in steps) == rows * SAMPLES_PER_ROW
    assert all(samples for stage, _, samples in steps if stage == 2)


def test_the_first_sound_takes_one_slice_of_each_stage_and_the_shortest():
    assert list(walk(400))[:2] == [(1, STAGE1_LENGTHS[0], 0), (2, STAGE2_LENGTHS[0], 300 * STAGE2_LENGTHS[0])]


def test_progress_counts_no_more_than_there_is():
    progress = Progress(100).after(Step(1, 48))
    assert progress.missing(16) == 0
    assert progress.missing(64) == 64 + LOOK_AHEAD - 48
    progress = progress.after(Step(1, 150)).after(Step(2, 64))
    assert progress == Progress(100, made=100, spoken=64)
    assert progress.missing(64) == 0
    assert progress.after(Step(2, 64)).spoken == 100


def test_a_call_may_be_asked_for_again():
    made, step = generation(50), Step(1, STAGE1_LENGTHS[0])
    first, second = made.call(step), made.call(step)
    assert first.network == second.network
    for name in first.inputs:
        np.testing.assert_array_equal(first.inputs[name], second.inputs[name])


@pytest.mark.parametrize("rows", [2, 17, 18, 19, 400])
def test_networks_are_fed_whole_slices_whatever_the_length(rows):
    made = generation(rows)
    for step in PACE.plan(rows):
        call, length = made.call(step), step.length
        if step.stage == 1:
            assert call.inputs["x"].shape == (length + 14, 512)
            assert call.inputs["har"].shape == (60 * length + 1158, 22)
            assert call.inputs["mask"].shape == (10 * length + 192, 1)
            made.take({"y": np.ones((10 * length, 256), np.float32)})
        else:
            assert call.inputs["x"].shape == (10 * length + 24, 256)
            assert call.inputs["har"].shape == (*call.inputs["mask"].shape[:1], 22) == (60 * length + 249, 22)
            assert call.inputs["first"].shape == (60 * length + 129, 1)
            assert call.inputs["norm"].shape == (60 * length, 5)
            made.take({"samples": np.zeros(300 * length, np.float32)})
        assert all(array.flags.c_contiguous for array in call.inputs.values())
