"""The benchmark of the wire: a small load, its figures, its file."""

from __future__ import annotations

import json

import pytest

from benchmarks import wire


async def test_a_small_load():
    load = await wire.measure(streams=2, seconds=4.0, cancels=3)
    assert load.audio_s == pytest.approx(8.0)
    assert load.frames >= 80
    assert load.cancels == 3
    assert 0 < load.cancel_p50_ms <= load.cancel_p99_ms
    assert load.overhead_percent >= 0


def test_printed_and_written(capsys, monkeypatch, tmp_path):
    async def measure(streams, seconds, cancels):
        return wire.Load(streams, 10.0, 0.05, 0.5, 100, 0, 1.0, 2.0, cancels)

    monkeypatch.setattr(wire, "measure", measure)
    assert wire.main(["--quick", "--json", str(tmp_path / "wire.json")]) == 0
    assert "0 of 100" in capsys.readouterr().out
    written = json.loads((tmp_path / "wire.json").read_text())
    assert written["load"]["overhead_percent"] == 0.5
    assert written["machine"]["cores"] >= 1
