"""The messages between an engine and its G2P process: JSON objects behind their length.

Imports next to nothing: both sides load it.
"""

from __future__ import annotations

import json
import struct
from typing import Any, Final

HEADER: Final = struct.Struct("<I")
"""Length of what follows, in bytes."""

MAX_BYTES: Final = 16 << 20
"""Bytes of one message at most. An utterance's 20,000 characters become well under 2 MB."""


def encode(message: dict[str, Any]) -> bytes:
    """A message with its header. ASCII, so that lone surrogates in a text survive.

    Raises:
        ValueError: it is longer than `MAX_BYTES`.
    """
    body = json.dumps(message, separators=(",", ":")).encode("ascii")
    if len(body) > MAX_BYTES:
        raise ValueError(f"a message of {len(body)} bytes; at most {MAX_BYTES} are allowed")
    return HEADER.pack(len(body)) + body


def decode(body: bytes) -> dict[str, Any]:
    """What `encode` was given.

    Raises:
        ValueError: it is not a JSON object.
    """
    message = json.loads(body)
    if not isinstance(message, dict):
        raise ValueError("a message must be a JSON object")  # noqa: TRY004 - the bytes are wrong, not a type
    return message
