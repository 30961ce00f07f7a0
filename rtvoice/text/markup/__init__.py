"""What the marks in a text mean for speech: which characters are said, where to pause, how fast, in whose voice.

A reader takes an utterance's segments in order and gives what is left to say of each, every character with its place
in the original. Readers remember what is open (fenced code, a comment, a prosody tag), as segments end where
sentences do and not where marks do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtvoice.text.markup.markdown import MarkdownReader
from rtvoice.text.markup.reader import Code, PlainReader, Reader, Reading, Stretch
from rtvoice.text.markup.ssml import SsmlReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtvoice.text.segment import Markup

__all__ = ["Code", "MarkdownReader", "PlainReader", "Reader", "Reading", "SsmlReader", "Stretch", "reader_for"]


def reader_for(
    markup: Markup, *, language: str, control: bool, code: Code, voices: Callable[[str], bool] | None = None
) -> Reader:
    """The reader of one utterance.

    Args:
        markup: whose marks the text has.
        language: of the notice said for fenced code.
        control: whether `[pause:0.8s]` and `[word](/.../)` act. Without it they are ordinary text and links.
        code: what is said for fenced code.
        voices: tells whether an SSML voice tag may name a voice or a blend; None allows any.
    """
    if markup == "ssml":
        return SsmlReader(control=control, voices=voices)
    if markup == "plain":
        return PlainReader(control=control)
    return MarkdownReader(language=language, control=control, code=code)
