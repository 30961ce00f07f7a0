"""Where a clause ends inside a sentence: a place where speech may be cut."""

from __future__ import annotations

import regex

_MARKS = regex.compile(
    r"""(?P<opens>[(\[（［]|<(?=[A-Za-z/!]))
      | (?P<closes>[)\]）］>])
      | (?P<code>`)
      | (?P<edge>[,;:—–]["'”’*_]*\s+|[，；：、])""",
    regex.VERBOSE,
)


def clause_edge(text: str, at: int = 0) -> int | None:
    """Index behind the last clause edge of `text` past `at`, white space included, or None.

    There is none inside brackets, code spans and tags: their marks belong together.
    """
    last, depth, code = None, 0, False
    for mark in _MARKS.finditer(text):
        if mark["opens"]:
            depth += 1
        elif mark["closes"]:
            depth = max(0, depth - 1)
        elif mark["code"]:
            code = not code
        elif not depth and not code and mark.end() > at:
            last = mark.end()
    return last
