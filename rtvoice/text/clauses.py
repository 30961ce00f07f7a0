"""Where a sentence may be cut: behind a clause, else behind a word, never inside brackets, code or tags if possible."""

from __future__ import annotations

import regex

_MARKS = regex.compile(
    r"""(?P<opens>[(\[（［]|<(?=[A-Za-z/!]))
      | (?P<closes>[)\]）］>])
      | (?P<code>`)
      | (?P<clause>[,;:—–]["'”’*_]*\s+|[，；：、])
      | (?P<space>\s++)""",
    regex.VERBOSE,
)
_CHARACTER = regex.compile(r"\X")


def clause_edge(text: str) -> int | None:
    """Index behind the last clause edge of `text`, white space included, or None.

    There is none inside brackets, code spans and tags: their marks belong together.
    """
    return _edges(text, 0).get("clause")


def forced_edge(text: str) -> int:
    """Where to cut text that must be cut, in its second half if anything allows it.

    Behind a clause, else behind a space, else behind a bracket or tag, all of these outside brackets, code and tags;
    else behind any space; else behind a whole character.
    """
    half = len(text) // 2
    edges = _edges(text, half)
    for kind in ("clause", "space", "closes"):
        if kind in edges:
            return edges[kind]
    space = max(text.rfind(space, half) for space in " \n\u3000")
    if space >= 0:
        return space + 1
    whole = [character.start() for character in _CHARACTER.finditer(text, len(text) - 64)]
    return whole[-1] if len(whole) > 1 else len(text)


def _edges(text: str, after: int) -> dict[str, int]:
    """For each kind of mark, the index behind its last one past `after` that lies outside all brackets, code, tags."""
    last: dict[str, int] = {}
    depth, code = 0, False
    for mark in _MARKS.finditer(text):
        kind = mark.lastgroup or ""
        if kind == "opens":
            depth += 1
        elif kind == "closes":
            depth = max(0, depth - 1)
        elif kind == "code":
            code = not code
        if not depth and not code and mark.end() > after:
            last[kind] = mark.end()
    return last
