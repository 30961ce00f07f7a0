"""What the table says, and what it must not keep quiet about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.baselines import Row
from benchmarks.engine import Round, as_json, doubts, main, summarise
from benchmarks.process import Load, Spoken
from benchmarks.settings import Settings
from benchmarks.workload import load_sentences

FIRST = Row(name="first", label="First", environment="reference", target="", options={})
SECOND = Row(name="second", label="Second", environment="serving", target="", options={})
OTHER_WEIGHTS = Row(name="second", label="Second", environment="serving", target="", options={}, caveat="int8")


def measured(cpu_s, *, samples=48_000, level=0.1):
    """One sentence of 2 s, which took twice the CPU time in wall time."""
    load = Load(1.0, 1.0, {"library": "1"})
    return Round(load, (Spoken(samples, level, wall_s=2 * cpu_s, cpu_s=cpu_s),), 300_000_000)


def test_a_round_sums_up_its_sentences():
    load = Load(1.0, 1.0, {})
    done = Round(load, (Spoken(24_000, 0.1, 1.0, 0.5), Spoken(72_000, 0.1, 3.0, 1.5)), 1)
    assert done.audio_s == 4
    assert done.audio_s_per_cpu_s == 2
    assert done.rtf == 1


def test_ratios_are_taken_within_a_round():
    # The machine was half as fast in the second round, for both alike.
    rounds = [{"first": measured(2.0), "second": measured(1.0)}, {"first": measured(4.0), "second": measured(2.0)}]
    lines = summarise((FIRST, SECOND), rounds).splitlines()
    assert "1.00 x" in lines[2]
    assert "2.00 x" in lines[3]
    assert "1.50 (1.00-2.00)" in lines[3]


@pytest.mark.parametrize(
    ("row", "second", "says"),
    [
        (SECOND, measured(1.0, samples=40_000), "another length"),
        (SECOND, measured(1.0, level=0.0), "not as loud"),
        (OTHER_WEIGHTS, measured(1.0), "int8"),
    ],
)
def test_what_cannot_be_compared_is_said(row, second, says):
    (doubt,) = doubts((FIRST, row), [{"first": measured(1.0), "second": second}])
    assert doubt.startswith("Second: ")
    assert says in doubt


def test_an_unquiet_machine_is_said():
    rounds = [{"first": measured(1.0), "second": measured(cpu_s)} for cpu_s in (1.0, 1.5)]
    assert [doubt for doubt in doubts((FIRST, SECOND), rounds) if "not quiet" in doubt]


def test_nothing_is_said_where_all_is_well():
    assert doubts((FIRST, SECOND), [{"first": measured(1.0), "second": measured(1.0)}] * 2) == []


def test_the_result_names_machine_weights_and_sentences():
    settings = Settings(rows=(FIRST, SECOND), threads=1, rounds=1, pythons={}, cache=Path())
    rounds = [{"first": measured(2.0), "second": measured(1.0)}]
    document = json.loads(as_json(settings, load_sentences(quick=True), rounds))
    assert document["machine"]["cores"] >= 1
    assert len(document["weights_sha256"]) == len(document["sentences_sha256"]) == 64
    assert [row["rounds"][0]["audio_s_per_cpu_s"] for row in document["rows"]] == [1.0, 2.0]


def test_an_unknown_row_is_refused_with_those_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["--rows", "none"])
    assert "pytorch-eager" in capsys.readouterr().err


def test_a_missing_environment_is_named_with_what_to_run(tmp_path, capsys):
    assert main(["--rows", "pytorch-eager", "--reference-python", str(tmp_path / "python")]) == 1
    assert "make benchmark-engine" in capsys.readouterr().err


def test_the_sentences_are_as_described():
    sentences = load_sentences()
    assert len(sentences) == 20
    assert len({sentence.voice for sentence in sentences}) == 6
    assert all(len(sentence.style) == 256 for sentence in sentences)
    assert len(load_sentences(quick=True)) == 5
