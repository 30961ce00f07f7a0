"""LaTeX formulas in words, as far as they occur in a line of prose."""

from __future__ import annotations

import re

from rtvoice.text.mapped import Mapped

_DELIMITERS = (("$$", "$$"), ("\\(", "\\)"), ("\\[", "\\]"), ("$", "$"))
_LOOKS_LIKE_ONE = re.compile(r"[\\^_={}<>+]|^[A-Za-z]{1,2}'?$|^[A-Za-z]\s?[-*/]\s?[A-Za-z\d]")
_TOKEN = re.compile(
    r"\\(?P<command>[A-Za-z]+)|\\(?P<symbol>[^A-Za-z\s])|(?P<number>\d+(?:[.,]\d+)*)|(?P<letter>[^\W\d_])|(?P<other>\S)|\s+"
)
_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi "
    "psi omega"
)
_WORDS = {
    "times": "times", "cdot": "times", "div": "divided by", "pm": "plus or minus", "mp": "minus or plus",
    "le": "is at most", "leq": "is at most", "ge": "is at least", "geq": "is at least", "neq": "is not equal to",
    "ne": "is not equal to", "approx": "is about", "equiv": "is equivalent to", "sim": "is similar to",
    "propto": "is proportional to", "to": "to", "rightarrow": "to", "Rightarrow": "implies", "implies": "implies",
    "leftarrow": "from", "iff": "if and only if", "infty": "infinity", "sum": "the sum of", "prod": "the product of",
    "int": "the integral of", "partial": "partial", "nabla": "nabla", "in": "in", "notin": "not in",
    "subset": "is a subset of", "cup": "union", "cap": "intersection", "forall": "for all", "exists": "there exists",
    "land": "and", "lor": "or", "neg": "not", "ldots": "and so on", "cdots": "and so on", "dots": "and so on",
    "ln": "natural log of", "log": "log of", "exp": "exp of", "sin": "sine of", "cos": "cosine of",
    "tan": "tangent of", "lim": "the limit of", "max": "max", "min": "min", "degree": "degrees", "circ": "degrees",
    "varepsilon": "epsilon", "vartheta": "theta", "varphi": "phi", "hbar": "h bar", "ell": "l", "angle": "angle",
    "perp": "is perpendicular to", "parallel": "is parallel to", "prime": "prime", "mid": "given", "percent": "percent",
}  # fmt: skip
_SYMBOLS = {
    "=": "equals", "+": "plus", "-": "minus", "−": "minus", "*": "times", "/": "over", "<": "is less than",
    ">": "is greater than", "'": "prime", "!": "factorial", "%": "percent", "|": "", "&": "", "~": "",
}  # fmt: skip
_POWERS = {"2": "squared", "3": "cubed", "'": "prime", "\\circ": "degrees"}
_MAX_DEPTH = 12


def formula(text: Mapped) -> Mapped | None:
    """Say a formula.

    Args:
        text: the formula with its delimiters.

    Returns:
        Its words, each with the characters it came from, or None if what stands between two dollar signs is no
        formula (`it costs $5, not US$`).
    """
    opening, closing = next(pair for pair in _DELIMITERS if text.text.startswith(pair[0]))
    content = text[len(opening) : len(text) - len(closing)]
    if opening == "$" and not _LOOKS_LIKE_ONE.search(content.text):
        return None
    words = _Formula(content).words()
    return Mapped.join(words) if words else Mapped.standing_for("", *text.origin())


class _Formula:
    """A formula being read, token by token."""

    def __init__(self, text: Mapped) -> None:
        self._text = text
        self._tokens = [token for token in _TOKEN.finditer(text.text) if not token[0].isspace()]
        self._next = 0
        self._depth = 0

    def words(self) -> list[Mapped]:
        """Everything, with spaces between the words."""
        return self._read(until="")

    def _read(self, until: str) -> list[Mapped]:
        said: list[Mapped] = []
        while self._next < len(self._tokens) and self._tokens[self._next][0] != until:
            said += self._one()
        self._next += 1
        return said

    def _argument(self) -> list[Mapped]:
        """What a command or a mark applies to: a group in braces, or the next token."""
        if self._next >= len(self._tokens):
            return []
        if self._tokens[self._next][0] == "{" and self._depth < _MAX_DEPTH:
            self._next += 1
            self._depth += 1
            said = self._read(until="}")
            self._depth -= 1
            return said
        return self._one()

    def _one(self) -> list[Mapped]:
        token = self._tokens[self._next]
        self._next += 1
        command = token["command"]
        if command:
            return self._command(command, token)
        if token["number"]:
            return [self._text[token.start() : token.end()], self._word(" ", token)]
        if token["letter"]:
            return [self._text[token.start() : token.end()], self._word(" ", token)]
        if token[0] == "^":
            return self._power(token)
        if token[0] == "_":
            return [self._word("sub ", token), *self._argument()]
        if token[0] in ",.;:?":
            return [self._word(token[0] + " ", token)]
        said = _SYMBOLS.get(token[0].lstrip("\\"), "")
        return [self._word(said + " ", token)] if said else []

    def _command(self, name: str, token: re.Match[str]) -> list[Mapped]:
        if name in ("frac", "dfrac", "tfrac"):
            above = self._argument()
            return [*above, self._word("over ", token), *self._argument()]
        if name == "sqrt":
            return [self._word("the square root of ", token), *self._argument()]
        if name in ("text", "mathrm", "textbf", "operatorname", "textit"):
            return self._verbatim()
        if name.lower() in _GREEK.split():
            return [self._word(name.lower() + " ", token)]
        return [self._word(_WORDS[name] + " ", token)] if name in _WORDS else []

    def _verbatim(self) -> list[Mapped]:
        """A group of ordinary words."""
        if self._next >= len(self._tokens) or self._tokens[self._next][0] != "{":
            return []
        begin = self._tokens[self._next].end()
        while self._next < len(self._tokens) and self._tokens[self._next][0] != "}":
            self._next += 1
        end = self._tokens[self._next].start() if self._next < len(self._tokens) else len(self._text)
        self._next += 1
        return [self._text[begin:end], Mapped.standing_for(" ", *self._text.origin(begin, end))]

    def _power(self, token: re.Match[str]) -> list[Mapped]:
        if self._next < len(self._tokens) and (known := _POWERS.get(self._tokens[self._next][0])):
            exponent = self._tokens[self._next]
            self._next += 1
            return [self._word(known + " ", exponent)]
        return [self._word("to the power of ", token), *self._argument()]

    def _word(self, said: str, token: re.Match[str]) -> Mapped:
        return Mapped.standing_for(said, *self._text.origin(*token.span()))
