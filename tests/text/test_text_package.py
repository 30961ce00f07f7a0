"""The text layer's public door."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rtvoice.text

NAMES = {
    "EarlyCut",
    "Lengths",
    "Lexicon",
    "Mapped",
    "Passage",
    "Pause",
    "Script",
    "Segment",
    "Segmenter",
    "SpokenWord",
    "TextFront",
    "TextOptions",
    "normalise",
    "settled",
}


def test_public_names():
    assert set(rtvoice.text.__all__) == NAMES
    assert set(dir(rtvoice.text)) >= NAMES
    assert {getattr(rtvoice.text, name).__name__ for name in NAMES} == NAMES
    with pytest.raises(AttributeError, match="chunk"):
        _ = rtvoice.text.chunk


def test_the_segmenter_alone_loads_no_normaliser():
    code = "import sys; from rtvoice.text import Segmenter; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"num2words", "emoji", "numpy", "rtvoice.text.normaliser", "rtvoice.text.front"}.intersection(loaded)
