"""Marks inside a line: emphasis, links, code spans, HTML, entities, LaTeX."""

from __future__ import annotations

import html
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from rtvoice.text.mapped import Edit, Mapped
from rtvoice.text.markup.latex import formula

if TYPE_CHECKING:
    from collections.abc import Iterator

_TITLE = r"""(?:\s+(?:"[^"]{0,200}"|'[^']{0,200}'))?"""
_TARGET = rf"\((?:<[^<>\n]{{0,500}}>|[^\s()]{{0,500}}(?:\([^\s()]{{0,200}}\)[^\s()]{{0,200}})?){_TITLE}\s*\)"

# Everything that means something inside a line. Repeats are bounded or possessive: a segment costs linear time.
_TOKEN = re.compile(
    rf"""
      (?P<math>  \$\$[^$]{{1,400}}\$\$ | \\\([^\n]{{1,300}}?\\\) | \\\[.{{1,300}}?\\\]
               | (?<![\w$\\])\$(?=[^\s$])[^$\n]{{0,200}}(?<=[^\s$])\$(?![\d$]))
    | (?P<escape>\\[!-/:-@\[-`{{-~])
    | (?P<code>(?P<ticks>`++)[^`]{{1,400}}(?P=ticks)(?!`))
    | (?P<url>\b(?:https?|ftp)://[^\s<>"'`\]*]++ | \bwww\.[^\s<>"'`\]*]++)
    | (?P<note>\[\^[^\]\s]{{1,40}}\] | (?<=[\w.,;:!?)"'”’])\[\d{{1,3}}(?:\s?[,–-]\s?\d{{1,3}}){{0,8}}\])
    | (?P<link>!?\[(?=(?:[^\[\]\\]|\\.|!?\[[^\[\]]{{0,200}}\]){{0,400}}+\](?:{_TARGET}|\[[^\[\]]{{0,100}}\])))
    | (?P<target>\](?:{_TARGET}|\[[^\[\]]{{0,100}}\]))
    | (?P<address><(?:[A-Za-z][A-Za-z\d+.-]{{1,20}}:[^<>\s]{{1,500}}|[^<>\s@]{{1,64}}@[^<>\s]{{1,255}})>)
    | (?P<tag></?(?P<name>[A-Za-z][\w:-]{{0,40}}+)(?:\s[^<>]{{0,300}})?/?>)
    | (?P<entity>&(?:\#\d{{1,7}}|\#[xX][\da-fA-F]{{1,6}}|[A-Za-z]\w{{1,30}});)
    | (?P<emphasis>\*++|_++|~~++)
    | (?P<tick>`++)
    | (?P<feed>[ ]{{2,}}\n|\\\n)
    """,
    re.VERBOSE | re.DOTALL,
)
_CANDIDATE = re.compile(r"[\\`*_~\[\]!<&$]|\b(?:https?|ftp)://|\bwww\.|[ ]{2,}\n")
_SINGLE = re.compile(r"[^\w*]?[^\W_]")
_RULES = {
    "math": "formula",
    "code": "code span",
    "note": "footnote mark",
    "link": "link",
    "target": "link",
    "address": "link",
    "tag": "HTML tag",
    "entity": "entity",
    "emphasis": "emphasis",
}
_HTML = (
    "a abbr address article aside audio b blockquote body br button caption center cite code col dd del details dfn "
    "div dl dt em figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd "
    "label li link main mark menu meta nav object ol option p picture pre q s samp script section select small source "
    "span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr tt u "
    "ul var video wbr speak break phoneme say-as prosody voice emphasis lexicon metadata w"
)
_BREAKING_HTML = "br p div li tr hr dd dt td th h1 h2 h3 h4 h5 h6 summary caption figcaption blockquote pre"
_TAGS = frozenset(_HTML.split())
_BREAKING = frozenset(_BREAKING_HTML.split())
_NO_CLAUSE = frozenset(".!?…,;:—")


class _Run(NamedTuple):
    """A run of emphasis marks, and the characters around it (empty at the text's ends)."""

    at: int
    mark: str
    before: str
    after: str
    behind_letter: bool  # the word before it is one letter or digit, as in a product

    @property
    def flanks(self) -> bool:
        """Whether it touches a word at either side."""
        return bool((self.before and not self.before.isspace()) or (self.after and not self.after.isspace()))

    @property
    def inside_word(self) -> bool:
        return self.before.isalnum() and self.after.isalnum()

    @property
    def among_digits(self) -> bool:
        return self.before.isdigit() or self.after.isdigit()


def unmark(text: Mapped, rules: list[str]) -> Mapped:
    """Leave out the marks of `text` and keep the words; add the names of the rules that fired to `rules`."""
    written = text.text
    edits: list[Edit] = []
    runs: list[_Run] = []
    at = 0
    while (candidate := _CANDIDATE.search(written, at)) is not None:
        token = _TOKEN.match(written, candidate.start())
        if token is None:
            at = candidate.start() + 1
            continue
        kind = token.lastgroup or ""
        at = token.end()
        if kind == "emphasis":
            runs.append(_run(written, token.start(), at))
            continue
        found = list(_edits(kind, token, text))
        if kind == "math" and not found:
            at = token.start() + 1
        elif kind in _RULES and found:
            rules.append(_RULES[kind])
        edits += found
    if not edits and not runs:
        return text
    emphasised = _emphasis(runs)
    if emphasised:
        rules.append(_RULES["emphasis"])
    return text.edit(sorted(edits + emphasised, key=lambda edit: edit[:2]))


def _edits(kind: str, token: re.Match[str], text: Mapped) -> Iterator[Edit]:
    """What becomes of a token."""
    begin, end = token.span()
    if kind == "math":
        said = formula(text[begin:end])
        if said is not None:
            yield Edit(begin, end, said)
    elif kind == "code":
        ticks = len(token["ticks"])
        yield Edit(begin, begin + ticks, "")
        yield Edit(end - ticks, end, "")
    elif kind == "escape":
        yield Edit(begin, begin + 1, "")
    elif kind in ("note", "link", "target", "tick"):
        yield Edit(begin, end, "")
    elif kind == "entity":
        char = html.unescape(token[0])
        if char != token[0]:
            yield Edit(begin, end, char)
    elif kind == "feed" or (kind == "tag" and token["name"].lower() in _BREAKING):
        before = _said_before(text.text, begin)
        yield Edit(begin, end, " " if not before or before in _NO_CLAUSE else ", ")
    elif kind == "tag" and token["name"].lower() in _TAGS:
        yield Edit(begin, end, "")
    elif kind in ("tag", "address"):  # an unknown tag is a placeholder: <your name>
        glued = text.text[begin - 1 : begin].isalnum()
        yield Edit(begin, begin + (2 if token[0][1] == "/" else 1), " " if glued else "")
        yield Edit(end - 1, end, "")


def _said_before(written: str, at: int) -> str:
    """The last character before `at` that is neither white space nor in a tag; empty if there is none."""
    while at > 0:
        before = written[:at].rstrip()
        at = before.rfind("<") if before.endswith(">") else -1
        if at < 0:
            return before[-1:]
    return ""


def _run(written: str, at: int, to: int) -> _Run:
    before, after = written[max(0, at - 2) : at], written[to : to + 1]
    return _Run(at, written[at:to], before[-1:], after, _SINGLE.fullmatch(before) is not None)


def _emphasis(runs: list[_Run]) -> list[Edit]:
    """Leave out the runs that mark emphasis and keep those that are symbols or parts of names (`2*3`, `snake_case`).

    A run at a word's edge marks emphasis whether or not its partner is in the same segment.
    """
    edits = []
    open_runs: Counter[str] = Counter()
    kept = -2  # index behind the last run that is no emphasis
    for number, run in enumerate(runs):
        char, length = run.mark[0], len(run.mark)
        if char == "~":
            emphasis = run.flanks
        elif char == "_":
            emphasis = not run.inside_word and (run.flanks or length > 1)
        elif not run.inside_word:
            emphasis = run.flanks or length > 1
        elif length == 1 and (run.behind_letter or run.at == kept + 1):
            emphasis = False  # x*y, x*y*z
        elif open_runs[run.mark]:
            emphasis = True
        elif run.among_digits:
            emphasis = False
        else:
            emphasis = length > 1 or any(later.mark == run.mark for later in runs[number + 1 : number + 9])
        if not emphasis:
            kept = run.at + length
        else:
            edits.append(Edit(run.at, run.at + length, ""))
            opens = run.after and not run.after.isspace() and not (run.before.isalnum() and open_runs[run.mark])
            open_runs[run.mark] = open_runs[run.mark] + 1 if opens else max(0, open_runs[run.mark] - 1)
    return edits
