"""Markdown as language models write it, a sentence at a time.

A CommonMark parser needs whole blocks and forgets which characters a word came from; here the text is still being
written, and every word must keep its place. So lines and inline marks are read by rules of their own
(`rtvoice.text.markup.inline`); the tests hold them against markdown-it on whole documents.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtvoice.text.mapped import Edit, Mapped
from rtvoice.text.markup.inline import unmark
from rtvoice.text.markup.reader import Code, Reader, Reading, Stretch, pauses, pin_phonemes

if TYPE_CHECKING:
    from rtvoice.text.segment import Segment

_NOTICES = {
    "en": "Code block.",
    "de": "Codeblock.",
    "es": "Bloque de código.",
    "fr": "Bloc de code.",
    "hi": "कोड ब्लॉक।",
    "it": "Blocco di codice.",
    "ja": "コードブロック。",
    "pt": "Bloco de código.",
    "zh": "代码块。",
}
_MARKED = re.compile(r"[ \t]*(?:[^\w\s]|_|(?:\d{1,3}|[a-z])[.)])")
_COMMENT_OPENS, _COMMENT_CLOSES = "<!--", "-->"
_FENCE = re.compile(r"[ \t>]*(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)\s*")
_RULE = re.compile(r"[ \t]*(?:(?:=[ \t]*){3,}|(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})\s*")
_SEPARATOR = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?\s*")
_DEFINITION = re.compile(r"[ \t]{0,3}\[(?!\^)[^\[\]\n]+\]:\s*\S+.*\s*")
_OPENING = re.compile(
    r"""[ \t]*+ (?P<quote>(?:>[ \t]?)*+)
        (?: (?P<heading>\#{1,6})[ \t]+
          | (?P<bullet>[-+*•‣◦▪])[ \t]+ (?:\[[ xX]\][ \t]+)?
          | \[\^[^\]\s]+\]:[ \t]*
        )?""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"(?P<mark>[*_]{0,3})(?:\d{1,3}|[a-z](?=\))|[ivx]{1,5})(?P<dot>[.)])(?=[ \t])")
_HEADING_END = re.compile(r"[ \t]+#+[ \t]*$")
_BAR = re.compile(r"[ \t]*(?<!\\)\|[ \t]*")
_BOLD_LINE = re.compile(r"[ \t]*(\*\*|__)(?=\S)[^*_\n]+\1:?\s*")
_STOPPED = re.compile(r"[.!?…:;,。！？।][\"'”’*_)\s]*$")


class MarkdownReader(Reader):
    """Reads Markdown.

    Args:
        language: of the notice said for fenced code; none is said in a language that has none here.
        control: whether `[pause:0.8s]` and `[word](/.../)` act. Without it they are ordinary text and links.
        code: what is said for fenced code.
    """

    def __init__(self, *, language: str, control: bool, code: Code) -> None:
        self._notice = _NOTICES.get(language.partition("-")[0], "") if code == "notice" else ""
        self._control = control
        self._fence = ""  # the mark that opened the fenced code that is open
        self._in_comment = False

    def read(self, segment: Segment, *, begins_line: bool) -> Reading:
        """Read the next segment."""
        rules: list[str] = []
        text = self._without_comments(Mapped.of(segment.text, segment.start), rules)
        text = self._read_lines(text, rules, begins_line=begins_line)
        if self._control:
            text = pin_phonemes(text, rules)
        parts = pauses(Stretch(text), rules) if self._control else (Stretch(text),)
        unmarked = [Stretch(unmark(part.text, rules)) if isinstance(part, Stretch) else part for part in parts]
        return Reading(tuple(unmarked), tuple(dict.fromkeys(rules)))

    def _without_comments(self, text: Mapped, rules: list[str]) -> Mapped:
        """Leave HTML comments out, also those that began in an earlier segment or go on in a later one."""
        if not self._in_comment and _COMMENT_OPENS not in text.text:
            return text
        edits = []
        fence, at = self._fence, 0
        for line in text.text.splitlines(keepends=True):
            if not self._in_comment:
                fence = _fence_after(line, fence)
            end = at + len(line)
            while not fence:
                begin = at if self._in_comment else text.text.find(_COMMENT_OPENS, at, end)
                if begin < 0:
                    break
                closes = text.text.find(_COMMENT_CLOSES, begin, end)
                self._in_comment = closes < 0
                at = end if closes < 0 else closes + len(_COMMENT_CLOSES)
                edits.append(Edit(begin, at, ""))
                if self._in_comment:
                    break
            at = end
        if edits:
            rules.append("comment")
        return text.edit(edits)

    def _read_lines(self, text: Mapped, rules: list[str], *, begins_line: bool) -> Mapped:
        """Read the marks that lines begin and end with."""
        edits: list[Edit] = []
        at = 0
        for line in text.text.splitlines(keepends=True):
            if self._fence or (begins_line and _MARKED.match(line)):
                self._read_line(line, at, edits, rules)
            begins_line = True
            at += len(line)
        return text.edit(edits)

    def _read_line(self, line: str, at: int, edits: list[Edit], rules: list[str]) -> None:
        before, self._fence = self._fence, _fence_after(line, self._fence)
        if before:
            edits.append(Edit(at, at + len(line), ""))
        elif self._fence:
            edits.append(Edit(at, at + len(line), self._notice + " "))
            rules.append("fenced code")
        elif _RULE.fullmatch(line) or (_SEPARATOR.fullmatch(line) and "-" in line) or _DEFINITION.fullmatch(line):
            edits.append(Edit(at, at + len(line), " "))
            rules.append("rule or definition")
        elif line.lstrip().startswith("|"):
            _read_row(line, at, edits)
            rules.append("table row")
        else:
            _read_opening(line, at, edits, rules)


def _fence_after(line: str, fence: str) -> str:
    """The mark of the fenced code that is open behind a line, if `fence` was open before it; "" for none."""
    marks = _FENCE.fullmatch(line)
    if not marks:
        return fence
    if not fence:
        return marks["mark"]
    return "" if marks["mark"].startswith(fence) and not marks["info"].strip() else fence


def _read_row(line: str, at: int, edits: list[Edit]) -> None:
    """Say a table row's cells one after the other."""
    bars = list(_BAR.finditer(line))
    content = len(line.rstrip())
    for number, bar in enumerate(bars):
        outer = number == 0 or bar.end() >= content
        edits.append(Edit(at + bar.start(), at + bar.end(), "" if outer else ", "))
    if bars and bars[-1].end() >= content and len(bars) > 1 and not _STOPPED.search(line[: bars[-1].start()]):
        edits[-1] = Edit(at + bars[-1].start(), at + bars[-1].end(), ".")


def _read_opening(line: str, at: int, edits: list[Edit], rules: list[str]) -> None:
    """Leave out what a line begins with; a list's number is said, as a clause of its own."""
    opening = _OPENING.match(line)
    assert opening is not None  # noqa: S101 (it matches the empty string)
    number = _NUMBER.match(line, opening.end())
    if opening.end():
        edits.append(Edit(at, at + opening.end(), ""))
    if number:
        edits.append(Edit(at + number.start("dot"), at + number.end("dot"), ","))
    heading, item = opening["heading"], bool(number or opening["bullet"])
    if heading or item:
        rules.append("heading" if heading else "list item")
    elif opening["quote"]:
        rules.append("quotation")
    end = stop = len(line.rstrip())
    if heading and (closing := _HEADING_END.search(line, opening.end(), end)):
        end = closing.start()
        edits.append(Edit(at + end, at + closing.end(), ""))
    if (heading or item or _BOLD_LINE.fullmatch(line)) and line.endswith("\n") and not _STOPPED.search(line[:end]):
        edits.append(Edit(at + max(stop, opening.end()), at + max(stop, opening.end()), "."))
