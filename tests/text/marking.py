"""What the tests of markup have in common: a text read by the reader of its markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtvoice.text.markup import Stretch, reader_for
from rtvoice.text.segmenter import Segmenter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtvoice.text.markup import Code
    from rtvoice.text.segment import Markup, Pause


def parts_of(
    text: str | Iterable[str],
    markup: Markup = "markdown",
    *,
    control: bool = True,
    code: Code = "notice",
    language: str = "en-us",
) -> tuple[list[Stretch | Pause], list[str]]:
    """All parts of a text, and the rules that fired."""
    segmenter, reader = Segmenter(language, markup), reader_for(markup, language=language, control=control, code=code)
    parts: list[Stretch | Pause] = []
    rules: list[str] = []
    begins_line = True
    for delta in (*([text] if isinstance(text, str) else text), None):
        for segment in segmenter.flush() if delta is None else segmenter.push(delta):
            reading = reader.read(segment, begins_line=begins_line)
            begins_line = segment.text.endswith("\n")
            parts += reading.parts
            rules += reading.rules
    return parts, rules


def left_of(text: str | Iterable[str], markup: Markup = "markdown", **options) -> str:
    """What a text's marks leave to say, white space made single; pauses as `<0.8>`."""
    parts, _ = parts_of(text, markup, **options)
    said = "".join(part.text.text if isinstance(part, Stretch) else f"<{part.seconds:g}>" for part in parts)
    return " ".join(said.split())
