"""What is made of the times at which speech came."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.baselines import Row
from benchmarks.process import Streamed
from benchmarks.settings import Settings
from benchmarks.streaming import LENGTHS, Results, Turn, as_json, criteria, of_length, plots, summarise
from benchmarks.workload import Sentence

NAMES = ("onnxruntime-default", "piper", "rtvoice-exact", "rtvoice")
ROWS = tuple(Row(name=name, label=name.title(), environment="serving", target="", options={}) for name in NAMES)
SETTINGS = Settings(rows=ROWS, threads=2, rounds=1, pythons={}, cache=Path())


def whole(at_s, length):
    return Streamed(((at_s, round(24_000 * length)),), cpu_s=length)


def turns(own, number=0):
    """Every length once: ONNX Runtime in real time, Piper in a tenth of it, the exact form in 0.8 of it."""
    others = {"onnxruntime-default": 1.0, "piper": 0.1, "rtvoice-exact": 0.8}
    made = [
        Turn(row, s, i, number, whole(factor * s, s)) for row, factor in others.items() for i, s in enumerate(LENGTHS)
    ]
    return [*made, *(Turn("rtvoice", s, i, number, own(s)) for i, s in enumerate(LENGTHS))]


def test_a_listener_runs_dry_by_the_longest_wait():
    streamed = Streamed(((1.0, 24_000), (1.5, 24_000), (3.25, 2_400), (3.3, 24_000)), cpu_s=1.0)
    assert streamed.first_audio_s == 1.0
    assert streamed.whole_s == 3.3
    assert streamed.audio_s == pytest.approx(3.1)
    assert streamed.dry_s == pytest.approx(0.25)  # after two seconds of sound, 2.25 s behind the first


def test_a_listener_who_always_has_something_never_runs_dry():
    assert Streamed(((1.0, 24_000), (1.9, 24_000), (2.9, 24_000)), cpu_s=1.0).dry_s == 0


def test_sentences_are_found_by_their_length():
    sentences = [Sentence("", "v", "x" * phonemes, ()) for phonemes in (10, 30, 35, 80, 140)]
    assert [len(sentence.phonemes) for sentence in of_length(sentences, 2.0, 2)] == [35, 30]


def test_shares_are_of_the_same_sentence_in_the_same_round():
    # The machine was half as fast in the second round, for both alike.
    slow = [
        Turn(turn.row, turn.length, turn.sentence, 1, whole(2 * turn.streamed.first_audio_s, turn.length))
        for turn in turns(lambda s: whole(0.2 * s, s))
    ]
    results = Results([*turns(lambda s: whole(0.2 * s, s)), *slow])
    assert results.share("rtvoice", "onnxruntime-default", 5.0) == pytest.approx(0.2)
    assert results.first_audio("rtvoice", 5.0).high == pytest.approx(2.0)
    assert results.audio_s_per_cpu_s("rtvoice") == pytest.approx(1.0)


def test_what_is_asked_is_kept_or_not():
    soon = criteria(SETTINGS, Results(turns(lambda s: whole(0.2, s))))
    assert [one.kept for one in soon] == [True] * 7
    late = criteria(SETTINGS, Results(turns(lambda s: whole(0.9 * s, s))))
    assert [one.kept for one in late] == [False] * 6 + [True]


def test_running_dry_counts_where_the_exact_form_is_in_real_time():
    halting = Results(turns(lambda s: Streamed(((0.1, 2_400), (0.1 + s, round(24_000 * s))), cpu_s=s)))
    assert not criteria(SETTINGS, halting)[-1].kept
    slow_exact = [
        turn if turn.row != "rtvoice-exact" else Turn(turn.row, turn.length, turn.sentence, 0, whole(9.0, turn.length))
        for turn in turns(lambda s: Streamed(((0.1, 2_400), (0.1 + s, round(24_000 * s))), cpu_s=s))
    ]
    assert criteria(SETTINGS, Results(slow_exact))[-1].kept
    assert "(0 sentences)" in criteria(SETTINGS, Results(slow_exact))[-1].what


def test_nothing_is_asked_where_this_engine_does_not_run():
    settings = Settings(rows=ROWS[:1], threads=2, rounds=1, pythons={}, cache=Path())
    assert criteria(settings, Results(turns(lambda s: whole(s, s)))) == []


def test_the_table_the_plots_and_the_document_have_every_engine():
    measured = turns(lambda s: Streamed(((0.5, 12_000), (1.0, round(24_000 * s))), cpu_s=s))
    results = Results(measured)
    table = summarise(SETTINGS, results)
    assert all(row.label in table for row in ROWS)
    assert "never" in table
    for svg in plots(SETTINGS, results).values():
        assert all(row.label in svg for row in ROWS)
    document = json.loads(as_json(SETTINGS, measured, criteria(SETTINGS, results)))
    assert len(document["turns"]) == len(measured)
    assert all("kept" in one for one in document["criteria"])
