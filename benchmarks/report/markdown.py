"""A report as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.report.document import Document, Heading, Picture, Points, Sounds, Table, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.report.document import Block


def write(document: Document, folder: str) -> str:
    """Write it.

    Args:
        document: the report.
        folder: where plots and samples lie, as seen from the page.
    """
    blocks = (_block(block, folder.rstrip("/")) for block in document.blocks)
    return "\n\n".join([f"# {_text(document.title)}", *blocks]) + "\n"


def _block(block: Block, folder: str) -> str:
    match block:
        case Heading(text):
            return f"## {_text(text)}"
        case Text(text):
            return _text(text)
        case Points(items, alarming):
            return "\n".join(f"- {'**!** ' if alarming else ''}{_text(item)}" for item in items)
        case Table():
            return _table(block)
        case Picture(name, _, caption):
            return f"![{_text(caption)}]({folder}/{name}.svg)\n\n{_text(caption)}"
        case Sounds(files):
            return "\n".join(f"- [{_text(label)}]({folder}/samples/{file})" for label, file in files)


def _table(table: Table) -> str:
    rows = [[f"**{cell}**" if i in table.strong and cell else cell for cell in row] for i, row in enumerate(table.rows)]
    cells = [_row(table.header), "|---|" + "---:|" * (len(table.header) - 1), *map(_row, rows)]
    return "\n".join(cells) + (f"\n\n{_text(table.caption)}" if table.caption else "")


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_text(cell).replace("|", "\\|") for cell in cells) + " |"


def _text(text: str) -> str:
    return text.replace("<", "&lt;")
