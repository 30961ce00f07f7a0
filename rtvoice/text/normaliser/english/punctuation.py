"""Punctuation: what shapes a sentence stays, the rest goes."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import regex

from rtvoice.text.normaliser.english.written import DOT_WITHIN
from rtvoice.text.normaliser.rule import Part, Rule

if TYPE_CHECKING:
    from rtvoice.text.normaliser.english.dialect import Dialect

_ELIDED = r"(?:[Tt]is|[Tt]was|[Ee]m|[Tt]il|[Cc]ause|n|[Bb]out|[Rr]ound|[Cc]os|s)\b"
_QUOTED = re.compile(
    rf"(?<![\w'])'(?=[^\W\d])(?!{_ELIDED})[^'\n]{{1,300}}(?:(?<=\w)'(?=\w)[^'\n]{{1,300}}){{0,8}}(?<=[\w.,!?…])'(?![\w'])"
)
_LOOSE_APOSTROPHE = re.compile(rf"(?<!\w)'(?!{_ELIDED})|(?<=[^\Wsn])'(?!\w)|'(?=')")
_DOTS = re.compile(r"\.{2,}+|…{2,}+|\. \. \.(?: \.)*+")
_BRACKET = re.compile(r"[\[{⟨〈《【「『]|(?P<close>[\]}⟩〉》】」』])")
_EAST_ASIAN = re.compile(r"[、。・]")
_DASH = re.compile(r"(?<=\s)[-‐‑‒–—―−](?=\s)|[-‐‑‒–—―−]{2,}+|[—―]")
_HYPHEN = re.compile(r"[‐‑‒–−]|(?<![^\W_])-|-(?![^\W_])")
_NUMERIC = regex.compile(r"\p{N}")
_SILENT = regex.compile(r"[^\p{L}\p{M}\s'.,;:!?…—\"“”()\-]")
_DOT_INSIDE = re.compile(r"(?<=[a-z])\.(?=[a-z])|(?:(?<=[\s(])|(?<![\s\S]))\.(?=[a-z])")
_NO_SPACE = re.compile(r"[.!?;:,()](?:(?<=[a-z][.!?;:,])(?=[A-Z][a-z])|(?<=\w\()(?=\w)|(?<=\))(?=[\w(]))")
_EMPTY = re.compile(r"\(\s*\)|\"\s*\"|“\s*”")
_RUN = re.compile(r"(?P<mark>[(),;:\"“”—])(?:\s?(?P=mark))++|(?P<stops>[!?]{3})[!?]++")
_SPACES = re.compile(r"(?P<before>\s++(?=[,.;:!?…)”](?!\w)))|\s{2,}+")


def _read_quoted(match: re.Match[str], _: Dialect) -> tuple[Part, ...]:
    end = match.end() - match.start()
    return (Part(0, 1, "“"), Part(end - 1, end, "”"))


def _read_numeric(match: re.Match[str], dialect: Dialect) -> str:
    """A number that is one character of another script."""
    value = unicodedata.numeric(match[0], -1.0)
    return f" {dialect.cardinal(int(value))} " if value >= 0 and value == int(value) else " "


def _read_silent(match: re.Match[str], _: Dialect) -> str:
    """Signs of mathematics by their Unicode names; all else in silence."""
    if match[0].isascii() or unicodedata.category(match[0]) != "Sm":
        return " "
    name = unicodedata.name(match[0], "").lower()
    if "arrow" in name:
        return " "
    return f" {''.join(c if c.isalpha() else ' ' for c in name)} "


RULES: tuple[Rule[Dialect], ...] = (
    Rule("single quotes", _QUOTED, _read_quoted, needs=("'",)),
    Rule("loose apostrophe", _LOOSE_APOSTROPHE, lambda _match, _dialect: "", needs=("'",)),
    Rule("dots", _DOTS, lambda _match, _dialect: "…", needs=("..", "…", ". .")),
    Rule("brackets", _BRACKET, lambda match, _dialect: ")" if match["close"] else "("),
    Rule("East Asian stops", _EAST_ASIAN, lambda match, _dialect: {"。": ". ", "、": ", "}.get(match[0], " ")),
    Rule("dash", _DASH, lambda match, _dialect: None if match[0] == "—" else "—"),
    Rule("hyphen", _HYPHEN, lambda match, _dialect: " "),
    Rule("number of another script", _NUMERIC, _read_numeric),
    Rule("silent mark", _SILENT, _read_silent),
    Rule("dot inside a name", _DOT_INSIDE, lambda _match, _dialect: " dot ", needs_match=DOT_WITHIN),
    Rule("missing space", _NO_SPACE, lambda match, _dialect: " (" if match[0] == "(" else match[0] + " "),
    Rule("nothing between", _EMPTY, lambda _match, _dialect: " ", needs=("(", '"', "“")),
    Rule("marks in a row", _RUN, lambda match, _dialect: match["stops"] or match["mark"]),
    Rule("spaces", _SPACES, lambda match, _dialect: "" if match["before"] else " "),
)
