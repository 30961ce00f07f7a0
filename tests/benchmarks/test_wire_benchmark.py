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
    async def measure(streams, seconds, cancels, *, profile):
        assert not profile
        return wire.Load(streams, 10.0, 0.05, 0.5, 100, 7, 1.0, 2.0, cancels)

    monkeypatch.setattr(wire, "measure", measure)
    assert wire.main(["--quick", "--json", str(tmp_path / "wire.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "10 streams, 10 s of prepared audio in 100 frames"
    assert [line.split()[-1] for line in lines[4:7]] == ["yes", "NO", "yes"]
    written = json.loads((tmp_path / "wire.json").read_text())
    assert written["load"]["overhead_percent"] == 0.5
    assert written["machine"]["cores"] >= 1


async def test_what_the_servers_time_goes_into(capfd):
    await wire.measure(streams=1, seconds=1.0, cancels=1, profile=True)
    assert "session.py" in capfd.readouterr().err
