"""The benchmark of the text layer: its text, its figures, its files."""

from __future__ import annotations

import json

from benchmarks import text


def test_mixed_text_is_the_same_every_time_and_as_long_as_asked():
    assert text.mixed_text(5_000) == text.mixed_text(5_000)
    assert len(text.mixed_text(5_000)) == 5_000
    assert text.mixed_text(5_000, seed=1) != text.mixed_text(5_000)


def test_figures():
    reading = text.read_mixed(text.mixed_text(3_000))
    assert reading.characters == 3_000
    assert reading.segments > 20
    assert 0 < reading.read_per_s < reading.segmented_per_s
    slow = text.read_slow("a.", 2_000)
    assert slow.seconds > 0
    assert slow.growth > 0


def test_printed_and_written(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(text, "SLOW", ("a.",))
    monkeypatch.setattr(text, "mixed_text", lambda characters, whole=text.mixed_text: whole(characters // 50))
    assert text.main(["--quick", "--json", str(tmp_path / "text.json")]) == 0
    printed = capsys.readouterr().out
    assert "segmented and put into words" in printed
    assert '"a."' in printed
    written = json.loads((tmp_path / "text.json").read_text())
    assert written["mixed"][0]["characters"] == 2_000
    assert written["slow"][0]["unit"] == "a."
    assert written["machine"]["cores"] >= 1
