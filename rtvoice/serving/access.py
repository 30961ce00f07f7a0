"""Who may connect: API keys, of which only hashes are kept, and tokens that browsers can be given for a minute.

A token says in whose name it opens connections and until when, and, where it was asked for, from pages of which origin.

A file of keys has a line for each: a name, white space, and the SHA-256 of the key in hex; `#` begins a comment. A key
is 256 random bits, so a plain hash cannot be guessed back. `rtvoice key NAME` makes both.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from rtvoice.errors import InvalidInput, SetupError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

TOKEN_LIFETIME_S = 60
"""Seconds in which a token opens connections. They may last longer."""

_NAME = re.compile(r"[\w.@-]{1,64}")
_LINE = re.compile(rf"(?P<name>{_NAME.pattern})\s+(?P<digest>[0-9a-fA-F]{{64}})")
_SCHEMES = ("bearer", "token")
# Browsers cannot set headers on a socket: these stand in the address.
_PARAMETERS = ("token", "api_key", "xi-api-key", "single_use_token", "authorization")


def make_key(name: str) -> tuple[str, str]:
    """Make a key; returns it, and its line for the file.

    Raises:
        InvalidInput: the name is none.
    """
    if not _NAME.fullmatch(name):
        allowed = "letters, digits and . _ @ -, at most 64"
        raise InvalidInput(f"{name[:64]!r} is no name for a key: {allowed}.", field="name", allowed=allowed)
    key = "rtv_" + secrets.token_urlsafe(32)
    return key, f"{name} {_digest(key).hex()}"


def read_keys(path: Path) -> dict[str, bytes]:
    """Read a file of keys: names to SHA-256 digests.

    Raises:
        SetupError: it cannot be read, or a line is no key.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise SetupError(f"The file of keys {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SetupError(f"The file of keys {path} is no text.") from error
    keys: dict[str, bytes] = {}
    for number, line in enumerate(lines, start=1):
        entry = line.partition("#")[0].strip()
        if not entry:
            continue
        match = _LINE.fullmatch(entry)
        if match is None or match["name"] in keys:
            raise SetupError(f"{path}, line {number}: write a name of its own and the SHA-256 of a key in hex.")
        keys[match["name"]] = bytes.fromhex(match["digest"])
    if not keys:
        raise SetupError(f"The file of keys {path} has none: make one with `rtvoice key NAME`.")
    return keys


@dataclass(frozen=True, slots=True)
class Holder:
    """Who carries a key or a token.

    Attributes:
        name: of the key.
        origin: of the pages that the token is for; None if it is a key, or a token for no origin in particular.
    """

    name: str
    origin: str | None = None


class Gate:
    """Tells who somebody is.

    Args:
        keys: names to digests.
        secret: that tokens are signed with; random by default, so that tokens are good for this process only.
    """

    def __init__(self, keys: Mapping[str, bytes], secret: bytes | None = None) -> None:
        self._keys = keys
        self._secret = secret or secrets.token_bytes(32)

    def identify(self, headers: Iterable[tuple[str, str]], query: str, now: float) -> Holder | None:
        """Whose key a request carries, itself or in a token; None if it carries none that is good.

        Args:
            headers: of the request.
            query: of its address.
            now: time of day, in seconds since 1970.
        """
        credentials = [*_in_headers(headers), *_in_query(query)]
        for credential in credentials:
            if name := self.find(credential):
                return Holder(name)
            if holder := self._bearer(credential, now):
                return holder
        return None

    def key_holder(self, headers: Iterable[tuple[str, str]]) -> str | None:
        """The name of the key that a request carries in its headers; a token is none."""
        return next((name for credential in _in_headers(headers) if (name := self.find(credential))), None)

    def find(self, key: str) -> str | None:
        """The name of a key. Takes as long whether or not it is one, and whichever."""
        digest = _digest(key)
        found = None
        for name, known in self._keys.items():
            if hmac.compare_digest(digest, known):
                found = name
        return found

    def issue(self, name: str, now: float, origin: str | None = None) -> str:
        """Make a token in the name of a key, which opens connections from pages of an origin if one is given."""
        content = json.dumps([int(now) + TOKEN_LIFETIME_S, name, origin], separators=(",", ":"))
        return f"{self._sign(content)}.{_text(content.encode())}"

    def _bearer(self, token: str, now: float) -> Holder | None:
        signature, _, text = token.partition(".")
        try:
            content = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
        except ValueError:
            return None
        if not hmac.compare_digest(signature.encode(errors="backslashreplace"), self._sign(content).encode()):
            return None
        expires, name, origin = json.loads(content)
        return Holder(name, origin) if expires >= now and name in self._keys else None

    def _sign(self, content: str) -> str:
        return _text(hmac.digest(self._secret, content.encode(), "sha256"))


def _in_headers(headers: Iterable[tuple[str, str]]) -> Iterable[str]:
    for name, value in headers:
        if name.lower() in {"xi-api-key", "x-api-key"}:
            yield value.strip()
        elif name.lower() == "authorization":
            scheme, _, credential = value.strip().partition(" ")
            if scheme.lower() in _SCHEMES:
                yield credential.strip()


def _in_query(query: str) -> Iterable[str]:
    fields = parse_qs(query)
    for name in _PARAMETERS:
        for value in fields.get(name, []):
            yield value.removeprefix("Bearer ")


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="backslashreplace")).digest()
