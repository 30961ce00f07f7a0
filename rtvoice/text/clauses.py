"""Where a clause ends inside a sentence: the places where speech may be cut without a word of the sentence lost."""

from __future__ import annotations

import regex

_EDGE = regex.compile(r"[,;:—–][\"'”’*_)]*\s+|[，；：、]")
_TRIES = 8
_BRACKETS = (("(", ")"), ("[", "]"), ("（", "）"), ("［", "］"))


def clause_edge(text: str, at: int = 0) -> int | None:
    """Index behind the last clause edge of `text` past `at`, white space included, or None.

    Edges inside brackets, code spans and tags are none: their marks belong together. Only the last few edges are
    tried.
    """
    edges = [edge.end() for edge in _EDGE.finditer(text, at)]
    return next((edge for edge in edges[: -_TRIES - 1 : -1] if _is_closed(text[:edge])), None)


def _is_closed(text: str) -> bool:
    """Whether whatever opens in `text` closes there."""
    return (
        all(text.count(opener) <= text.count(closer) for opener, closer in _BRACKETS)
        and text.count("`") % 2 == 0
        and text.rfind("<") <= text.rfind(">")
    )
