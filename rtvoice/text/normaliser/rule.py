"""What a rule of the normaliser is.

A rule is a pattern and a reading: wherever the pattern matches, the reading says what is spoken instead. Rules are
small, named and pure, and are applied one after the other in a written order; each takes time linear in the text.

To stay linear a pattern that begins with a run of characters is anchored at the run's first character by a
lookbehind, and its runs are possessive, so that no run is walked through more than once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

from rtvoice.text.mapped import Edit, Mapped

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable

    import regex


class Spelled(NamedTuple):
    """Letters said one by one but as one word, with the phonemes they have together."""

    text: str
    ipa: str


Said = str | Spelled | list[str | Spelled]
"""What is spoken. The items of a list are said one after the other, with a space between; empty ones are left out."""


class Part(NamedTuple):
    """A part of what a pattern matched: the match's characters `at` up to `to` are said as `said`."""

    at: int
    to: int
    said: Said


Reading = Said | tuple[Part, ...] | None
"""What is said for a match: something for all of it, something for parts of it (in order), or no change (None)."""

Dialect = TypeVar("Dialect", contravariant=True)


@dataclass(frozen=True, slots=True)
class Rule(Generic[Dialect]):
    """One thing that is written in one way and said in another.

    Attributes:
        name: a few words, as it is shown to people who ask why.
        pattern: what is written; compiled by `re` or `regex`.
        read: what is said for a match, in a dialect.
        needs: texts of which one must occur for the pattern to be tried; an empty tuple asks for nothing.
        needs_match: a pattern quicker than `pattern` that must match somewhere as well, or None.
    """

    name: str
    pattern: re.Pattern[str] | regex.Pattern[str]
    read: Callable[[re.Match[str], Dialect], Reading]
    needs: tuple[str, ...] = ()
    needs_match: re.Pattern[str] | None = None

    def apply(self, text: Mapped, dialect: Dialect) -> Mapped:
        """Rewrite all matches. Returns `text` itself if nothing changed."""
        pattern = cast("re.Pattern[str]", self.pattern)  # what `regex` matches has the interface of `re.Match`
        edits: list[Edit] = []
        for match in pattern.finditer(text.text):
            reading = self.read(match, dialect)
            if reading is None:
                continue
            at, to = match.span()
            if isinstance(reading, str):
                edits.append(Edit(at, to, reading))
                continue
            parts = (Part(0, to - at, reading),) if isinstance(reading, list | Spelled) else reading
            for begins, ends, said in parts:
                edits.append(Edit(at + begins, at + ends, _written(said, *text.origin(at + begins, at + ends))))
        return text.edit(edits) if edits else text


def apply_all(text: Mapped, rules: Iterable[Rule[Any]], dialect: object) -> tuple[Mapped, list[str]]:
    """Apply rules in order. Returns the text and the names of those that changed it."""
    fired = []
    for rule in rules:
        # Most rules have nothing to do in most sentences. To see that is most of the work, so it is done in line.
        for need in rule.needs:
            if need in text.text:
                break
        else:
            if rule.needs:
                continue
        if rule.needs_match is not None and rule.needs_match.search(text.text) is None:
            continue
        if rule.pattern.search(text.text) is None:
            continue
        rewritten = rule.apply(text, dialect)
        if rewritten is not text:
            fired.append(rule.name)
            text = rewritten
    return text, fired


def _written(said: Said, start: int, end: int) -> str | Mapped:
    """Said words as text that stands for the original's characters `start` up to `end`."""
    if isinstance(said, str):
        return said
    words = [said] if isinstance(said, Spelled) else [word for word in said if word != ""]
    texts: list[Mapped] = []
    for word in words:
        if texts and not (isinstance(word, str) and word[0] in ",."):
            texts.append(Mapped.standing_for(" ", start, end))
        if isinstance(word, Spelled):
            texts.append(Mapped.standing_for(word.text, start, end).pin(0, len(word.text), word.ipa))
        else:
            texts.append(Mapped.standing_for(word, start, end))
    return Mapped.join(texts)
