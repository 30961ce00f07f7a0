"""The examples of docs/protocol.md are messages, as the codec has them."""

import re
from pathlib import Path

import pytest

from rtvoice.errors import InvalidInput, Overloaded, RtvoiceError, TextTooLong
from rtvoice.link import _ERRORS
from rtvoice.protocol.codec import decode_client, decode_server
from rtvoice.protocol.messages import ClientMessage, ServerMessage

DOCUMENT = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text("utf-8")
LINES = [match.groups() for match in re.finditer(r"^(client|server)  (.+)$", DOCUMENT, re.MULTILINE)]
ANSWERED = list(zip(LINES, [*LINES[1:], ("", "")], strict=True))
SENT = [(text, '"type":"error"' in answer) for (who, text), (_, answer) in ANSWERED if who == "client"]
# Lines that are cut short, and audio, are there to be read by people.
HEARD = [text for who, text in LINES if who == "server" and "..." not in text and not text.startswith("<")]


def test_there_are_examples():
    assert len(SENT) > 8
    assert len(HEARD) > 3


@pytest.mark.parametrize(("text", "is_refused"), SENT)
def test_what_the_client_sends(text, is_refused):
    try:
        message = decode_client(text)
    except RtvoiceError:
        assert is_refused
    else:
        assert isinstance(message, ClientMessage)


@pytest.mark.parametrize("text", HEARD)
def test_what_the_server_sends(text):
    assert isinstance(decode_server(text), ServerMessage)


@pytest.mark.parametrize("code", [*_ERRORS, InvalidInput.code, TextTooLong.code, Overloaded.code])
def test_every_code_that_the_client_knows_is_described(code):
    assert f"\n| `{code}` |" in DOCUMENT


@pytest.mark.parametrize("kind", ["ready", "segment", "words", "phonemes", "done", "cancelled", "error"])
def test_every_field_is_described(kind):
    from rtvoice.protocol.codec import _SERVER

    row = next(line for line in DOCUMENT.splitlines() if line.startswith(f"| `{kind}` |"))
    for field in _SERVER[kind][1]:
        assert f"`{field}`" in row
