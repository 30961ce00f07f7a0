"""docs/segments.md says what is so: its examples, its code and its figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rtvoice.text.front import TextOptions
from rtvoice.text.lengths import MAX_PHONEMES, Lengths
from rtvoice.text.markup.reader import MAX_PAUSE_S
from rtvoice.text.segmenter import MAX_CHARACTERS, Segmenter
from tests.text.marking import left_of
from tests.text.segmenting import run, spoken

DOC = (Path(__file__).parents[2] / "docs" / "segments.md").read_text(encoding="utf-8")


def rows(header: str) -> list[tuple[str, str]]:
    """The cells of all tables with this header."""
    found = []
    for table in re.findall(rf"^\| {header} \|\n\|---\|---\|\n((?:\|.*\n)+)", DOC, re.MULTILINE):
        for row in table.splitlines():
            left, right = re.split(r"(?<!\\) \| ", row.strip("| \n"), maxsplit=1)
            found.append((left, right))
    return found


def written(cell: str) -> list[str]:
    """The code spans of a cell."""
    return [span.replace("⏎", "\n").replace("\\|", "|") for span in re.findall(r"`([^`]+)`", cell)]


SEGMENTS, MARKS = rows("text \\| segments"), rows("written \\| left to say")


def test_there_are_examples():
    assert len(SEGMENTS) > 15
    assert len(MARKS) > 6


@pytest.mark.parametrize(("text", "segments"), SEGMENTS)
def test_segments(text, segments):
    (sent,) = written(text)
    assert spoken(run([sent])[0]) == written(segments)


@pytest.mark.parametrize(("text", "said"), MARKS)
def test_marks(text, said):
    (sent,) = written(text)
    assert left_of(sent) == said


def test_code():
    segmenter = Segmenter()
    lines = re.findall(r"^(segmenter\.\w+\(.*\)) +# (.*)$", DOC, re.MULTILINE)
    assert len(lines) == 3
    for call, result in lines:
        returned = eval(call, {"segmenter": segmenter})  # noqa: S307 (our own page)
        assert repr(returned) == result


def test_figures():
    assert f"longer than {MAX_CHARACTERS} characters" in DOC
    sizes = Lengths()
    assert f"under {sizes.least} is joined" in DOC
    assert f"up to {sizes.best} (the utterance's first up to {sizes.first})" in DOC
    assert f"over {sizes.most} is cut near {sizes.best}" in DOC
    assert f"bound is {MAX_PHONEMES}" in DOC
    assert f"at most {MAX_PAUSE_S:g} s" in DOC
    assert TextOptions().markup == "markdown"
    assert not TextOptions().control
