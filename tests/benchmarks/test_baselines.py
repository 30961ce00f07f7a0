"""The list of engines, and what of them needs no engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.baselines import ROWS, STEPS, Baseline, find_row
from benchmarks.baselines.piper import symbol_ids


class Whole(Baseline):
    def load(self):
        pass

    def speak(self, phonemes, style, speed):
        return np.full(len(phonemes), speed, np.float32)


def test_an_engine_that_gives_sentences_as_a_whole_streams_one_piece():
    (piece,) = Whole(Path(), 1).stream("abc", np.zeros((1, 256), np.float32), 2.0)
    assert piece.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("name", [*ROWS, *STEPS])
def test_every_row_can_be_made_without_its_libraries(name, tmp_path):
    baseline = find_row(name).baseline(tmp_path, 2)
    assert baseline.threads == 2
    assert 1 <= baseline.at_once <= 2


def test_streams_are_for_cores_that_are_there(tmp_path):
    row = find_row("openvino-sized")
    assert [row.baseline(tmp_path, threads).at_once for threads in (1, 2, 4, 32)] == [1, 2, 2, 8]


def test_phonemes_are_written_out_and_padded_for_piper():
    table = {symbol: [number] for number, symbol in enumerate("_^$ˈdeɪt.ʃ")}
    padded = "".join(dict(enumerate("_^$ˈdeɪt.ʃ"))[number] for number in symbol_ids("dˈAʧ…", table))
    assert padded == "^_d_ˈ_e_ɪ_t_ʃ_._$"


def test_what_piper_has_no_symbol_for_falls_away():
    assert symbol_ids("aʲ", {"_": [0], "^": [1], "$": [2], "a": [3]}) == [1, 0, 3, 0, 2]
