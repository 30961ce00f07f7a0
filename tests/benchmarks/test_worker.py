"""Both ends of the pipe to an engine's process."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.baselines import ROWS, Baseline, Row
from benchmarks.process import EngineFailed, EngineProcess
from benchmarks.worker import serve
from benchmarks.workload import load_sentences


class Tone(Baseline):
    """100 samples a phoneme, as loud as the style says."""

    def load(self):
        self.loaded = True

    def speak(self, phonemes, style, speed):
        assert self.loaded
        assert style.shape == (1, 2)
        return np.full(int(100 * len(phonemes) / speed), style[0, 0], np.float32)

    def versions(self):
        return {"tone": "1"}


def ask(*requests, baseline=None):
    answers = io.StringIO()
    serve(baseline or Tone(Path(), 1), [json.dumps(request) + "\n" for request in requests], answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def test_an_engine_loads_and_speaks():
    prepared, loaded, spoken = ask(
        {"do": "prepare"},
        {"do": "load"},
        {"do": "speak", "phonemes": "abc", "style": [0.5, 0.0], "speed": 2.0},
    )
    assert prepared == {"versions": {"tone": "1"}, "files": []}
    assert loaded["versions"] == {"tone": "1"}
    assert spoken["samples"] == 150
    assert spoken["level"] == pytest.approx(0.5)
    assert spoken["wall_s"] > 0


def test_pieces_come_with_their_times():
    class Two(Tone):
        def stream(self, phonemes, style, speed):
            yield from np.split(self.speak(phonemes, style, speed), [50])

    _, streamed = ask(
        {"do": "load"}, {"do": "stream", "phonemes": "ab", "style": [0.5, 0.0], "speed": 1.0}, baseline=Two(Path(), 1)
    )
    (first_s, first), (second_s, second) = streamed["pieces"]
    assert (first, second) == (50, 150)
    assert 0 < first_s < second_s


def test_what_an_engine_raises_is_its_answer_and_the_next_request_is_served(capsys):
    failed, loaded = ask({"do": "speak", "phonemes": "a", "style": [1.0], "speed": 1.0}, {"do": "load"})
    assert failed["error"].startswith("AttributeError")
    assert "error" not in loaded
    assert "Traceback" in capsys.readouterr().err


def test_an_engine_that_cannot_start_is_named_with_what_it_printed(tmp_path):
    row = Row(name="none", label="No engine", environment="serving", target="none:None", options={})
    with EngineProcess(row, Path(sys.executable), tmp_path, 1) as engine, pytest.raises(EngineFailed) as failed:
        engine.load()
    assert "No engine" in str(failed.value)
    assert "KeyError: 'none'" in str(failed.value)


@pytest.mark.model
def test_this_engine_in_a_process_of_its_own(tmp_path):
    sentence = load_sentences()[0]
    with EngineProcess(ROWS["rtvoice"], Path(sys.executable), tmp_path, 1) as engine:
        engine.prepare()
        load = engine.load()
        spoken = engine.speak(sentence)
        assert load.cpu_s > 0
        assert load.versions.keys() >= {"openvino", "rtvoice"}
        assert 24_000 < spoken.samples < 48_000
        streamed = engine.stream(sentence)
        assert len(streamed.pieces) > 2
        assert sum(samples for _, samples in streamed.pieces) == spoken.samples
        assert streamed.first_audio_s < streamed.whole_s
        assert 0.01 < spoken.level < 0.5
        assert spoken.wall_s > 0
        assert 0 < spoken.cpu_s < 60
        assert engine.peak_resident_bytes() > 100e6
