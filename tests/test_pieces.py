"""Text in three shapes."""

import pytest

from rtvoice.errors import InvalidInput
from rtvoice.pieces import pieces


async def arriving():
    yield "a"
    yield "b"


@pytest.mark.parametrize(
    ("text", "found"), [("ab", ["ab"]), ("", [""]), (["a", "b"], ["a", "b"]), ([], []), (arriving(), ["a", "b"])]
)
async def test_shapes(text, found):
    assert [piece async for piece in pieces(text)] == found


@pytest.mark.parametrize("text", [["a", None], [b"a"], "\udc00"])
async def test_what_is_no_text(text):
    with pytest.raises(InvalidInput) as caught:
        [piece async for piece in pieces(text)]
    assert caught.value.field == "text"
