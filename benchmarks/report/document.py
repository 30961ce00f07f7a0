"""A report as a document, whatever it is written as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Heading:
    """The beginning of a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Points:
    """Paragraphs that belong together; `alarming` ones are what makes figures doubtful."""

    items: Sequence[str]
    alarming: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the first column names what the row is of.

    Attributes:
        header: of each column.
        rows: cells, as they are shown.
        strong: numbers of the rows to look at.
        caption: what it is, below it.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    strong: Sequence[int] = ()
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot.

    Attributes:
        name: of its file, without its ending.
        svg: the drawing.
        caption: what it shows, below it.
    """

    name: str
    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Sounds:
    """Sentences to listen to: what made them, and the names of their files."""

    files: Sequence[tuple[str, str]]


Block = Heading | Text | Points | Table | Picture | Sounds


@dataclass(frozen=True, slots=True)
class Document:
    """Blocks below a title."""

    title: str
    blocks: Sequence[Block]

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """All plots."""
        return tuple(block for block in self.blocks if isinstance(block, Picture))
