"""A wrong row cannot hide: each way of doctoring results is told. And what is said of the paper's ratios."""

from __future__ import annotations

import dataclasses

import pytest

from benchmarks.report.bill import PAPER
from benchmarks.report.plan import SKIPPED, Cell
from benchmarks.report.records import End, encoded
from benchmarks.report.results import Results
from benchmarks.report.subjects import SUBJECTS
from benchmarks.report.verdicts import doubts, verdicts
from tests.benchmarks.measured import CONTEXT, MB, PLAN, doctored, good_lines, line, load, serve


def told(lines):
    """What is doubted beyond what is always said."""
    return [doubt for doubt in doubts(Results(lines), PLAN) if doubt not in ALWAYS]


def with_heard(change):
    """A result of which each sentence was changed."""
    one = serve()
    heard = tuple(change(i, heard) for i, heard in enumerate(one.load.heard))
    return encoded(dataclasses.replace(one, load=dataclasses.replace(one.load, heard=heard)))


ALWAYS = [
    f"{SUBJECTS['piper'].label}: {SUBJECTS['piper'].caveat}",
    *(f"{name} is not measured: {why}" for name, why in SKIPPED.items()),
]


def test_of_good_results_nothing_is_doubted_but_what_always_is():
    assert doubts(Results(good_lines()), PLAN) == ALWAYS


@pytest.mark.parametrize("cell", PLAN, ids=lambda cell: cell.name)
def test_a_row_that_is_missing_is_told(cell):
    (doubt,) = told([one for one in good_lines() if one.cell != cell.name])
    assert doubt == f"not measured: {cell.name}"


def test_what_a_run_left_out_is_told():
    end = line(Cell(kind="end", subject="run"), End(("serve/piper/1",)))
    (doubt,) = told([*(one for one in good_lines() if one.cell != "serve/piper/1"), end])
    assert doubt == "left out for lack of time: serve/piper/1"


def test_a_row_that_failed_is_told_with_its_reason():
    lines = doctored("lifecycle/piper/0", measured=None, error="ServerFailed: no such weights\n    somewhere")
    assert told(lines) == ["lifecycle/piper/0 failed: ServerFailed: no such weights"]


def test_a_row_that_failed_later_counts_as_failed():
    later = [one for one in doctored("serve/rtvoice/0", measured=None, error="EngineFailed: gone") if one.error]
    assert told([*good_lines(), *later])[0] == "serve/rtvoice/0 failed: EngineFailed: gone"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("weights_sha256", "others", "other weights"),
        ("sentences_sha256", "others", "other sentences"),
        ("machine", CONTEXT["machine"] | {"cores": 64}, "other machine"),
        ("rtvoice", "0.9", "other rtvoice"),
        ("code", "4567", "other code"),
        ("threads", 1, "other threads"),
        ("profile", "full", "other profile"),
    ],
)
def test_a_row_that_was_measured_with_something_else_is_told(field, value, said):
    (doubt,) = told(doctored("serve/kokoro-onnx/1", context=CONTEXT | {field: value}))
    assert doubt == f"measured with {said} than most: serve/kokoro-onnx/1"


def test_a_row_without_a_word_on_its_weights_is_told():
    context = {name: value for name, value in CONTEXT.items() if name != "weights_sha256"}
    (doubt,) = told(doctored("serve/rtvoice/0", context=context))
    assert "other weights" in doubt


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda i, heard: dataclasses.replace(heard, sentence=heard.sentence + (i == 3)), "other sentences"),
        (lambda i, heard: dataclasses.replace(heard, audio_s=heard.audio_s * (1.1 if i < 2 else 1.0)), "2 of 8"),
        (lambda i, heard: dataclasses.replace(heard, level=0.0 if i == 7 else heard.level), "1 of 8"),
    ],
    ids=["other sentences", "other lengths", "silence"],
)
def test_a_row_that_did_not_speak_the_same_is_told(change, said):
    found = told(doctored("serve/openvino-sized/0", measured=with_heard(change)))
    assert any(said in doubt and SUBJECTS["openvino-sized"].label in doubt for doubt in found)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (serve(speed=1.25), "audio-s/CPU-s differs by"),
        (serve(warm=1300 * MB), "memory differs by"),
        (serve(cold_start_s=6.0), "cold start differs by 40% between 2 rounds"),
    ],
)
def test_rounds_that_differ_are_told(result, said):
    found = told(doctored("serve/onnxruntime-default/1", measured=encoded(result)))
    assert any(said in doubt and SUBJECTS["onnxruntime-default"].label in doubt for doubt in found)


def test_a_row_that_computes_in_less_is_told():
    (doubt,) = told(doctored("serve/rtvoice/1", versions={"openvino": "1", "precision": "bf16"}))
    assert doubt == "rtvoice: it computes in bf16 where most compute in float32"


def test_rounds_within_the_bound_are_not():
    assert told(doctored("serve/onnxruntime-default/1", measured=encoded(serve(speed=1.14)))) == []


def test_ratios_are_of_the_right_figures_and_say_whether_they_are_met():
    speed, cost, memory, restore, median, late = verdicts(Results(good_lines()), PAPER)
    assert speed.ours == pytest.approx(5.0)
    assert cost.ours == pytest.approx(5.0)
    assert memory.ours == pytest.approx(10.0)
    assert restore.ours == pytest.approx(0.1)
    assert median.ours == late.ours == pytest.approx(5.0)
    assert all(one.met for one in (speed, cost, memory, restore, median, late))


def test_ratios_that_are_not_met_are_not_said_to_be():
    slow = encoded(dataclasses.replace(serve(speed=0.5), load=load(0.5)))
    lines = [
        dataclasses.replace(one, measured=slow) if one.cell.startswith("serve/rtvoice/") else one
        for one in good_lines()
    ]
    speed, cost, *_, median, late = verdicts(Results(lines), PAPER)
    assert [one.met for one in (speed, cost, median, late)] == [False] * 4


def test_the_row_of_float32_is_compared_as_well():
    speed, _, memory, restore, *_ = verdicts(Results(good_lines()), PAPER, "rtvoice-f32")
    assert speed.ours == pytest.approx(2.0)
    assert memory.ours is None  # it is not released
    assert restore.ours is None


@pytest.mark.parametrize("missing", ["pytorch-eager", "rtvoice"])
def test_ratios_of_what_was_not_measured_are_none(missing):
    lines = [one for one in good_lines() if one.subject != missing]
    assert [(one.ours, one.met) for one in verdicts(Results(lines), PAPER)] == [(None, False)] * 6
