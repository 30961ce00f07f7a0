"""A report as one HTML file that needs nothing beside it."""

from __future__ import annotations

import base64
import re
from html import escape
from typing import TYPE_CHECKING

from benchmarks.report.document import Document, Heading, Picture, Points, Sounds, Table, Text
from benchmarks.report.samples import MEDIA

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.report.document import Block

_STYLE = """
:root { color-scheme: light; font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; }
body { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.8rem; line-height: 1.2; }
h2 { margin-top: 2.6rem; border-bottom: 1px solid #ddd; padding-bottom: 0.2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
th, td { padding: 0.35rem 0.6rem; text-align: right; vertical-align: top; border-bottom: 1px solid #e5e5e5; }
th { vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; min-width: 11rem; }
tr.strong td { background: #eaf2fd; font-weight: 600; }
figure { margin: 1.2rem 0; }
figure svg { width: 100%; max-width: 62rem; height: auto; }
p { max-width: 62rem; }
figcaption, .caption { color: #555; font-size: 0.9rem; }
ul.alarming { background: #fff7e6; border-left: 4px solid #d97706; padding: 0.7rem 1rem 0.7rem 2rem; }
.sounds { display: grid; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)); gap: 0.8rem; }
.sounds audio { width: 100%; }
"""


def write(document: Document, samples: Path) -> str:
    """Write it.

    Args:
        document: the report.
        samples: folder of the sentences to listen to; they become part of the page.
    """
    title = escape(document.title)
    body = "\n".join(_block(block, samples) for block in document.blocks)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{_STYLE}</style>\n</head>\n'
        f"<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    )


def _block(block: Block, samples: Path) -> str:
    match block:
        case Heading(text):
            return f"<h2>{_text(text)}</h2>"
        case Text(text):
            return f"<p>{_text(text)}</p>"
        case Points(items, alarming):
            listed = "".join(f"<li>{_text(item)}</li>" for item in items)
            return f"<ul{_class('alarming', alarming)}>{listed}</ul>"
        case Table():
            return _table(block)
        case Picture(name, svg, caption):
            return f"<figure>{_apart(svg, name)}<figcaption>{_text(caption)}</figcaption></figure>"
        case Sounds(files):
            return '<div class="sounds">' + "".join(_sound(label, samples / file) for label, file in files) + "</div>"


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{_text(cell)}</th>' for cell in table.header)
    rows = "".join(f"<tr{_class('strong', i in table.strong)}>{_cells(row)}</tr>\n" for i, row in enumerate(table.rows))
    caption = f'<p class="caption">{_text(table.caption)}</p>' if table.caption else ""
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>{caption}'


def _class(name: str, applies: bool) -> str:
    return f' class="{name}"' if applies else ""


def _cells(row: Sequence[str]) -> str:
    return "".join(f"<td>{_text(cell)}</td>" for cell in row)


def _sound(label: str, file: Path) -> str:
    if not file.is_file():
        return ""
    data = base64.b64encode(file.read_bytes()).decode()
    name = escape(label, quote=True)
    source = f"data:{MEDIA[file.suffix]};base64,{data}"
    return f'<div>{escape(label)}<audio controls preload="none" aria-label="{name}" src="{source}"></audio></div>'


def _apart(svg: str, name: str) -> str:
    """The drawing with names of its own for what it refers to: several of them share a page."""
    for attribute in ('id="', 'href="#', "url(#"):
        svg = svg.replace(attribute, f"{attribute}{name}-")
    return svg


def _text(text: str) -> str:
    """As HTML; what stands between backticks is code, between asterisks emphasis."""
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text)))
