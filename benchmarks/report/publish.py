"""Writes a report's files: plots, a page in HTML, a page in Markdown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchmarks.report import markdown, page
from benchmarks.report.sections import document
from rtvoice.speech.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.report.plan import Asked
    from benchmarks.report.results import Results


def publish(results: Results, asked: Asked, folder: Path, docs: Path) -> Sequence[Path]:
    """Write all files.

    Args:
        results: what was measured.
        asked: what the report is of.
        folder: gets plots and `report.html`; samples lie in `samples` there.
        docs: the page in Markdown.

    Returns:
        What was written, the pages first.
    """
    made = document(results, asked)
    for parent in (folder, docs.parent):
        parent.mkdir(parents=True, exist_ok=True)
    texts = {
        folder / "report.html": page.write(made, folder / "samples"),
        docs: markdown.write(made, os.path.relpath(folder, docs.parent)),
        **{folder / f"{picture.name}.svg": picture.svg for picture in made.pictures},
    }
    for path, text in texts.items():
        write_atomically(path, text.encode())
    return tuple(texts)
