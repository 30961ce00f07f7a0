"""The three shapes in which a program has the text of an utterance, as one."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import TYPE_CHECKING

from rtvoice.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable


async def pieces(text: str | Iterable[str] | AsyncIterable[str]) -> AsyncGenerator[str, None]:
    """Iterate over text that is whole, in pieces, or in pieces that arrive.

    Raises:
        InvalidInput: a piece is no string of whole Unicode characters.
    """
    if isinstance(text, AsyncIterable):
        async for piece in text:
            yield _checked(piece)
    else:
        for piece in (text,) if isinstance(text, str) else text:
            yield _checked(piece)


def _checked(piece: object) -> str:
    if not isinstance(piece, str):
        raise InvalidInput(f"Text is a string or yields strings, not {type(piece).__name__}.", field="text")
    try:
        piece.encode()
    except UnicodeEncodeError:
        raise InvalidInput("The text holds half of a surrogate pair.", field="text") from None
    return piece
