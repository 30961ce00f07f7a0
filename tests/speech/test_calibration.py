"""Measuring a machine, and keeping what was found."""

import json
import math
import os

import numpy as np
import openvino as ov
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openvino import opset13 as op

from rtvoice.config import Paths
from rtvoice.errors import SetupError
from rtvoice.speech import calibration
from rtvoice.speech.build import BuiltModel
from rtvoice.speech.calibration import calibrate, calibration_file, prepare_model, read_calibration
from rtvoice.speech.cores import Cores
from rtvoice.speech.costs import GUESS, UNMEASURED, Calibration, Cost
from rtvoice.speech.machine import this_machine
from rtvoice.speech.slices import STAGE1_LENGTHS, STAGE2_LENGTHS, STAGES

ONE = Cores(1, None)
SIDE = 64


def network(inputs, rows):
    """A network that multiplies its first input by its second some times over."""
    ports = [op.parameter(shape, kind, name=name) for name, (shape, kind) in inputs.items()]
    y = op.convert(ports[0], "f32")
    for _ in range(rows):
        y = op.matmul(op.tanh(y), op.convert(ports[1], "f32"), False, False)
    return ov.Model([op.reduce_sum(y, np.array([0, 1]), False)], ports, "network")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A folder with networks of the names and the kinds of inputs that the real ones have."""
    folder = tmp_path_factory.mktemp("networks")
    square = ([SIDE, SIDE], ov.Type.bf16)
    models = {
        "text": network({"ids": ([1, -1], ov.Type.i64), "m": ([-1, SIDE], ov.Type.f32)}, 1),
        "prosody": network({"en": ([-1, SIDE], ov.Type.f32), "kernel": square}, 20),
        "decoder": network({"f0": ([-1, SIDE], ov.Type.f32), "kernel": square}, 20),
    }
    for stage, lengths in (("stage1", STAGE1_LENGTHS), ("stage2", STAGE2_LENGTHS)):
        for length in lengths:
            models[f"{stage}-{length}"] = network({"x": ([20 * length, SIDE], ov.Type.f32), "kernel": square}, 20)
    for name, model in models.items():
        ov.save_model(model, folder / f"{name}.xml")
    return folder


@pytest.fixture
def folder(drawn, tmp_path):
    for file in drawn.iterdir():
        (tmp_path / file.name).symlink_to(file)
    return tmp_path


def test_a_machine_is_measured_and_the_result_kept(folder):
    assert read_calibration(folder) is None
    found = calibrate(folder, ONE)
    assert found.costs.keys() == {"text", "prosody", "decoder", *STAGES}
    assert found.speedups == {}  # one core has nothing to try
    longest, shortest = found.costs[f"stage1-{STAGE1_LENGTHS[-1]}"], found.costs[f"stage1-{STAGE1_LENGTHS[0]}"]
    assert longest.fixed_s > 2 * shortest.fixed_s > 0
    assert read_calibration(folder) == found
    assert json.loads(calibration_file(folder).read_bytes())["machine"] == str(this_machine())


def test_more_threads_are_tried_where_nobody_else_uses_the_cores(folder, monkeypatch):
    took = {1: (1.0, 1.1), 2: (1.0, 0.55), 4: (1.0, 0.4)}
    monkeypatch.setattr(
        calibration._Bench, "run", lambda self, name, size=0, threads=1: calibration._Took(*took[threads])
    )
    assert calibrate(folder, Cores(8, None)).speedups == pytest.approx({2: 2.0, 4: 2.75})
    assert calibrate(folder, Cores(8, 3.5)).speedups == pytest.approx({2: 2.0})
    took[1] = (1.0, 1.5)
    assert calibrate(folder, Cores(8, None)).speedups == {}


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: "nonsense",
        lambda data: [],
        lambda data: {},
        lambda data: data | {"costs": {}},
        lambda data: data | {"costs": {name: cost for name, cost in data["costs"].items() if name != "text"}},
        lambda data: data | {"costs": data["costs"] | {"text": {"fixed_s": -1.0, "each_s": 0.0}}},
        lambda data: data | {"costs": data["costs"] | {"text": {"fixed_s": math.nan, "each_s": 0.0}}},
        lambda data: data | {"costs": data["costs"] | {"text": 3}},
        lambda data: data | {"speedups": {"2": 0.0}},
        lambda data: data | {"speedups": {"two": 2.0}},
        lambda data: data | {"speedups": None},
    ],
)
def test_what_cannot_be_read_counts_as_none(tmp_path, damage):
    stored = {"costs": {name: {"fixed_s": 1.0, "each_s": 0.1} for name in GUESS}, "speedups": {"2": 1.8}}
    calibration_file(tmp_path).write_text(json.dumps(stored))
    assert read_calibration(tmp_path) == Calibration(dict.fromkeys(GUESS, Cost(1.0, 0.1)), {2: 1.8})
    calibration_file(tmp_path).write_text(json.dumps(damage(stored)))
    assert read_calibration(tmp_path) is None
    calibration_file(tmp_path).write_bytes(b"\xff{")
    assert read_calibration(tmp_path) is None


def test_a_folder_that_can_only_be_read_does_for_this_time(folder, monkeypatch):
    def refuse(path, data):
        raise SetupError("cannot be written to")

    monkeypatch.setattr(calibration, "write_atomically", refuse)
    assert calibrate(folder, ONE).costs
    assert read_calibration(folder) is None


def test_a_model_that_does_not_load_says_what_to_run(folder):
    (folder / "text.xml").unlink()
    (folder / "text.xml").write_text("<net>")
    with pytest.raises(SetupError, match="rtvoice build"):
        calibrate(folder, ONE)


def test_another_kind_of_machine_has_a_file_of_its_own(tmp_path):
    def described(text):
        file = tmp_path / "cpuinfo"
        file.write_text(text)
        return this_machine.__wrapped__(file)

    first = described(
        "processor\t: 0\nmodel name\t: EPYC\nflags\t\t: avx2 fma\n\nprocessor\t: 1\nmodel name\t: other\n"
    )
    assert (first.model, first.flags, first.cores) == ("EPYC", {"avx2", "fma"}, os.cpu_count())
    assert first.key == described("flags : fma avx2\nmodel name : EPYC\n").key
    assert first.key != described("flags : fma avx2 amx_bf16\nmodel name : EPYC\n").key
    assert first.key != described("flags : fma avx2\nmodel name : Xeon\n").key
    arm = described("processor : 0\nFeatures : asimd sve\nCPU part : 0xd40\n")
    assert (arm.model, arm.flags) == ("0xd40", {"asimd", "sve"})
    assert this_machine.__wrapped__(tmp_path / "nothing").flags == frozenset()


@given(st.floats(0, 10), st.floats(0, 10))
def test_no_cost_is_negative_however_measurements_scatter(small, large):
    cost = calibration._line((20, 100), [small, large])
    assert cost.fixed_s > 0
    assert cost.each_s >= 0
    assert cost.of(100) >= large * 0.99 or small > large


def test_costs_on_more_threads():
    measured = Calibration({"a": Cost(1.0, 0.5)}, {2: 1.6})
    assert measured.on(1) == {"a": Cost(1.0, 0.5)}
    assert measured.on(2)["a"].of(2) == pytest.approx(2.0 / 1.6)
    assert measured.on(4)["a"].fixed_s == pytest.approx(1 / 3.2)  # assumed
    assert UNMEASURED.work_s(1) > UNMEASURED.work_s(2) > 0


def test_whoever_builds_measures_as_well(tmp_path, monkeypatch):
    measured, told = [], []
    paths, model = Paths(cache=tmp_path, data=tmp_path), BuiltModel(tmp_path / "m", tmp_path / "m" / "compiled", "f32")
    monkeypatch.setattr(calibration, "calibrate", lambda folder, cores: measured.append(folder))

    def ensure(paths, checkpoint, progress, **_):
        if not told:
            progress(1.0, "built")
        return model

    monkeypatch.setattr("rtvoice.speech.build.ensure_model", ensure)
    assert prepare_model(paths, progress=lambda done, what: told.append((done, what))) is model
    assert measured == [model.folder]
    assert told == [(1.0, "built"), (1.0, "measuring this machine"), (1.0, "built and measured")]
    assert prepare_model(paths) is model
    assert measured == [model.folder]
