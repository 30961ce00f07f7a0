"""What the port answers to plain GET requests: the page's files, health checks, metrics. Without I/O once loaded."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_INDEX = "index.html"

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Prometheus' text format."""

_SECURITY = {
    # 'self' covers the socket of the same host and port; the other addresses are for the language model that a visitor
    # may name on the page. blob: is audio that the page offers for download.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; font-src 'self'; "
        "img-src 'self' data:; media-src 'self' blob:; manifest-src 'self'; "
        "connect-src 'self' https: http://localhost:* http://127.0.0.1:*; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response: its status, its headers without Content-Length, its body."""

    status: HTTPStatus
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class _File:
    body: bytes
    media_type: str
    tag: str


class StaticFiles:
    """The files of a folder, read once into memory: what is not among them cannot be asked for."""

    def __init__(self, folder: Path | None) -> None:
        """Read the folder, or be empty without one. Blocks; call it before serving."""
        self._files = dict(_read(folder)) if folder is not None else {}

    def answer(self, path: str, known_tag: str | None) -> Answer | None:
        """Answer a request for a file; None if there is no such file.

        Args:
            path: the request's path, as sent.
            known_tag: what the browser's `If-None-Match` says.
        """
        name = unquote(path).removeprefix("/")
        file = self._files.get(f"{name}{_INDEX}" if name.endswith("/") or not name else name)
        if file is None:
            return None
        headers = _SECURITY | {"Content-Type": file.media_type, "Cache-Control": "no-cache", "ETag": file.tag}
        if known_tag == file.tag:
            return Answer(HTTPStatus.NOT_MODIFIED, headers, b"")
        return Answer(HTTPStatus.OK, headers, file.body)


class Site:
    """All that the port answers to plain GET requests.

    Args:
        files: the page.
        retry_after_s: how long to wait until an utterance would be taken; None if it would be now.
        metrics: what is told at `/metrics`, in Prometheus' format; None tells nothing.
    """

    def __init__(
        self,
        files: StaticFiles,
        retry_after_s: Callable[[], float | None],
        metrics: Callable[[], bytes] | None = None,
    ) -> None:
        self._files = files
        self._retry_after_s = retry_after_s
        self._metrics = metrics

    def answer(self, path: str, known_tag: str | None = None) -> Answer:
        """Answer a GET request.

        Args:
            path: the request's path, without its query.
            known_tag: the value of `If-None-Match`, if any.
        """
        if path == "/healthz":
            return plain(HTTPStatus.OK, "alive")
        if path == "/readyz":
            if (retry_after_s := self._retry_after_s()) is None:
                return _for_all_pages(plain(HTTPStatus.OK, "ready"))
            return _for_all_pages(plain(HTTPStatus.SERVICE_UNAVAILABLE, "not now", retry_after_s=retry_after_s))
        if path == "/metrics" and self._metrics is not None:
            headers = _SECURITY | {"Content-Type": METRICS_TYPE, "Cache-Control": "no-store"}
            return Answer(HTTPStatus.OK, headers, self._metrics())
        return self._files.answer(path, known_tag) or plain(HTTPStatus.NOT_FOUND, "There is nothing at this address.")


def plain(status: HTTPStatus, text: str, *, retry_after_s: float | None = None) -> Answer:
    """Make an answer of one line of text, and when to try again, which the header tells in whole seconds."""
    headers = _SECURITY | {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"}
    if retry_after_s is not None:
        headers["Retry-After"] = str(math.ceil(retry_after_s))
    return Answer(status, headers, f"{text}\n".encode())


def as_json(body: bytes, *, origin: str | None = None) -> Answer:
    """Make an answer of JSON.

    Args:
        body: encoded.
        origin: of pages that may read it, beside the server's own.
    """
    headers = _SECURITY | {"Content-Type": "application/json", "Cache-Control": "no-store"}
    if origin is not None:
        headers |= {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
    return Answer(HTTPStatus.OK, headers, body)


def _for_all_pages(answer: Answer) -> Answer:
    """The same answer, readable for pages of any origin: browsers do not tell them why a socket was refused."""
    readable = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After"}
    return Answer(answer.status, answer.headers | readable, answer.body)


def _read(folder: Path) -> list[tuple[str, _File]]:
    root = folder.resolve()
    files = []
    for path in sorted(root.rglob("*")):
        # A link that leads out of the folder is not part of it; a file of no known type was not meant for browsers.
        if path.is_file() and path.resolve().is_relative_to(root) and path.suffix in _TYPES:
            body = path.read_bytes()
            tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
            files.append((path.relative_to(root).as_posix(), _File(body, _TYPES[path.suffix], tag)))
    return files
