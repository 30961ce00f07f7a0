"""Symbols: what they are called, and which are silent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtvoice.text.normaliser.english.written import one_of
from rtvoice.text.normaliser.rule import Rule, Said

if TYPE_CHECKING:
    from rtvoice.text.normaliser.english.dialect import Dialect

_PROGRAMMING = {
    "C++": "C plus plus", "c++": "C plus plus", "C#": "C sharp", "F#": "F sharp", "J#": "J sharp", "G++": "G plus plus",
    "g++": "G plus plus", "Notepad++": "Notepad plus plus", "D#": "D sharp", "G#": "G sharp", ".NET": "dot net",
    ".Net": "dot net", "AT&T": "A T and T", "TL;DR": "T L D R", "B♭": "B flat", "E♭": "E flat", "A♭": "A flat",
    "D♭": "D flat",
    "C♯": "C sharp", "F♯": "F sharp", "G♯": "G sharp", "R&B": "R and B", "R&D": "R and D", "Q&A": "Q and A",
    "TCP/IP": "TCP IP", "I/O": "I O", "A/B": "A B", "K&R": "K and R", "M&A": "M and A", "B&B": "B and B",
    "P&L": "P and L", "A+": "A plus", "B+": "B plus", "C+": "C plus",
}  # fmt: skip
_NAME = re.compile(rf"(?<![\w.@]){one_of(_PROGRAMMING)}(?![\w+#])")
_DOT_JS = re.compile(r"(?<=[A-Za-z])\.(?:js|JS)(?!\w)")

_SPOKEN = {
    "&": "and", "@": "at", "+": "plus", "=": "equals", "<": "less than", ">": "greater than", "%": "percent",
    "#": "hash", "$": "dollar", "£": "pound", "€": "euro", "¥": "yen", "¢": "cent", "°": "degrees", "§": "section",
    "¶": "paragraph", "©": "copyright", "×": "times", "÷": "divided by", "±": "plus or minus", "∓": "minus or plus",
    "≈": "approximately", "≅": "approximately", "≃": "approximately", "≠": "not equal to",
    "≤": "less than or equal to", "≥": "greater than or equal to", "≪": "much less than", "≫": "much greater than",
    "≡": "equivalent to", "∞": "infinity", "√": "square root of", "∛": "cube root of", "∑": "sum of",
    "∏": "product of", "∫": "integral of", "∂": "partial", "∇": "nabla", "∆": "delta", "∈": "in", "∉": "not in",
    "⊂": "subset of", "⊆": "subset of", "∪": "union", "∩": "intersection", "∅": "empty set", "∀": "for all",
    "∃": "there exists", "¬": "not", "∧": "and", "∨": "or", "⊕": "plus", "⊗": "times", "∝": "proportional to",
    "∴": "therefore", "∵": "because", "∠": "angle", "⊥": "perpendicular to", "∥": "parallel to", "→": "to",
    "⇒": "implies", "⟶": "to", "⟹": "implies", "⇔": "if and only if", "↔": "to and from", "♯": "sharp", "♭": "flat",
    "′": "prime", "″": "double prime", "‰": "per mille", "№": "number", "−": "minus", "∗": "times", "⋅": "times",
    "℅": "care of", "℮": "estimated",
}  # fmt: skip

_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "ο": "omicron", "π": "pi",
    "ρ": "rho", "σ": "sigma", "ς": "sigma", "τ": "tau", "υ": "upsilon", "φ": "phi", "χ": "chi", "ψ": "psi",
    "ω": "omega",
}  # fmt: skip
_GREEK_LETTER = re.compile("(?<![\u0370-\u03ff\u1f00-\u1fff])[Α-Ωα-ω](?![\u0370-\u03ff\u1f00-\u1fff\u0300-\u036f])")

_PAIRS = {
    "<=": "less than or equal to", ">=": "greater than or equal to", "!=": "not equal to", "==": "equals",
    "===": "equals", "!==": "not equal to", "->": "to", "-->": "to", "=>": "implies", "<->": "to and from", "&&": "and",
    "||": "or", "+-": "plus or minus", "+/-": "plus or minus", ":=": "becomes",
}  # fmt: skip
_PAIR = re.compile(rf"(?<![<>=!&|+:-]){one_of(_PAIRS)}(?![<>=&|+-])")
_ABOUT = re.compile(r"[~≈∼](?=[ ]?[$£€¥]?\.?\d)")
_RULED = re.compile(r"(?P<mark>[-=_*#~+<>^|])(?P=mark){2,}+")
_BETWEEN = re.compile(r"(?<=\w)/(?=\w)|(?<=[^\W_])_+(?=[^\W_])|(?<=\w) / (?=\w)|(?<=\w)\\(?=\w)|(?<=\w)::(?=\w)")
_PER = re.compile(r"(?<=s)/(?=(?:day|week|month|year|hour|night|minute|second|person|user)\b)")
_FLAG = re.compile(r"(?:(?<=\s)|(?<![\s\S]))(?:--(?=[a-z][a-z])|-(?=[A-Za-z](?!\w|['.-])))")
_CARET = re.compile(r"(?<=[\w)])\^(?=[\w(])")
_SYMBOL = re.compile(f"[{re.escape(''.join(_SPOKEN))}]")

_SUPERSCRIPTS = {ord(c): plain for c, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", "0123456789+-=()ni", strict=True)}
_SUPERSCRIPT = re.compile(r"(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ]{1,20}+)")


def _read_superscript(match: re.Match[str], _: Dialect) -> str:
    """A power as "^2", for the rule that reads powers; a footnote's mark behind a word is silent."""
    text, start, power = match.string, match.start(), match["power"].translate(_SUPERSCRIPTS)
    before = text[max(0, start - 4) : start]
    if before.isalpha() and len(before) == 4 and power not in ("2", "3"):
        return ""
    if before and (before[-1].isalnum() or before[-1] == ")"):
        return f"^{power}"
    return "" if before and before[-1] in ".,!?;:" else f" {power} "


def _read_greek(match: re.Match[str], _: Dialect) -> str:
    text, start, end = match.string, match.start(), match.end()
    before, behind = text[max(0, start - 1) : start].isalnum(), text[end : end + 1].isalnum()
    return f"{' ' if before else ''}{_GREEK[match[0].lower()]}{' ' if behind else ''}"


def _read_symbol(match: re.Match[str], _: Dialect) -> str:
    return f" {_SPOKEN[match[0]]} "


def _read_name(match: re.Match[str], dialect: Dialect) -> Said:
    """A name whose marks are said; its single letters are spelled."""
    words = _PROGRAMMING[match[0]].split()
    return [dialect.spell(word) if len(word) == 1 or word in ("TCP", "IP") else word for word in words]


def _read_pair(match: re.Match[str], _: Dialect) -> str:
    return f" {_PAIRS[match[0]]} "


NAME_RULES: tuple[Rule[Dialect], ...] = (
    Rule("names with marks", _NAME, _read_name, needs=("+", "#", "&", "/", ".N", "♭", "♯", "TL;")),
    Rule("dot J S", _DOT_JS, lambda _match, dialect: [" dot", dialect.spell("JS")], needs=(".js", ".JS")),
)
"""Before addresses and hashtags."""

SUPERSCRIPT_RULES: tuple[Rule[Dialect], ...] = (Rule("superscript", _SUPERSCRIPT, _read_superscript),)
"""After units ("m²")."""

ABOUT_RULES: tuple[Rule[Dialect], ...] = (
    Rule("about", _ABOUT, lambda _match, _dialect: "about ", needs=("~", "≈", "∼")),
)
"""Before numbers are words."""

RULES: tuple[Rule[Dialect], ...] = (
    Rule("operators", _PAIR, _read_pair, needs=("=", ">", "<", "|", "&", "+")),
    Rule("ruled line", _RULED, lambda _match, _dialect: " "),
    Rule("Greek letter", _GREEK_LETTER, _read_greek),
    Rule("power", _CARET, lambda _match, _dialect: " to the power of ", needs=("^",)),
    Rule("per", _PER, lambda _match, _dialect: " per ", needs=("/",)),
    Rule("flag", _FLAG, lambda match, _dialect: "dash " * len(match[0]), needs=("-",)),
    Rule("mark between words", _BETWEEN, lambda _match, _dialect: " ", needs=("/", "_", "\\", "::")),
    Rule("symbol", _SYMBOL, _read_symbol),
)
