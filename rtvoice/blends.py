"""Blends: up to four voices as one, named by a formula such as `af_heart(2)+bf_emma(1)`.

A number in brackets is a voice's weight, 1 where there is none. A voice's plain name is the blend of it alone, so
whatever looks a voice up by name reads it here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rtvoice.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

MOST_VOICES: Final = 4
"""Voices of one blend."""

MOST_CHARACTERS: Final = 128
"""Characters of a formula."""

_TERM = re.compile(r"\s*([^\s()+]+)\s*(?:\(\s*([0-9]{1,4}(?:\.[0-9]{1,4})?|\.[0-9]{1,4})\s*\)\s*)?")
_HOW: Final = f"a voice, or up to {MOST_VOICES} as in af_heart(2)+bf_emma(1), with weights above 0 and below 10,000"


@dataclass(frozen=True, slots=True)
class Share:
    """A voice's part of a blend: more than 0, and 1 for all of it."""

    voice: str
    part: float


def read_blend(formula: str, offered: Collection[str], field: str = "voice") -> tuple[Share, ...]:
    """Read the name of a voice or the formula of a blend.

    Args:
        formula: as somebody wrote it; blanks around names and weights do not matter.
        offered: the names of voices that there are.
        field: where it was written.

    Returns:
        The shares in the order they were written in; their parts add up to 1. The first voice gives the blend its
        language.

    Raises:
        InvalidInput: this is no formula, or names a voice that is not there; it says what to do.
    """

    def refused(message: str, allowed: Collection[str] | str) -> InvalidInput:
        return InvalidInput(message, field=field, allowed=allowed if isinstance(allowed, str) else tuple(allowed))

    if len(formula) > MOST_CHARACTERS:
        raise refused("The formula of the blend is too long.", f"{MOST_CHARACTERS} characters")
    terms = formula.split("+")
    if len(terms) > MOST_VOICES:
        raise refused(f"{len(terms)} voices are too many for a blend.", _HOW)
    weights: dict[str, float] = {}
    for term in terms:
        match = _TERM.fullmatch(term)
        if match is None:
            if len(terms) == 1 and "(" not in formula:  # not meant as a formula
                raise refused(f"There is no voice named {formula!r}.", offered)
            raise refused(f"{term.strip()!r} is no part of a blend.", _HOW)
        name, weight = match[1], 1.0 if match[2] is None else float(match[2])
        if name not in offered:
            raise refused(f"There is no voice named {name!r}.", offered)
        if name in weights:
            raise refused(f"A blend has each voice once, and {name} is there twice.", _HOW)
        if weight == 0:
            raise refused(f"The weight of {name} is 0: leave the voice out, or give it more.", _HOW)
        weights[name] = weight
    total = sum(weights.values())
    return tuple(Share(name, weight / total) for name, weight in weights.items())


def canonical(shares: Sequence[Share]) -> str:
    """The one formula of a blend, however it was written: voices by name, parts to four decimals."""
    return "+".join(f"{share.voice}({share.part:.4f})" for share in sorted(shares, key=lambda share: share.voice))


def is_blend_of(formula: str, offered: Collection[str]) -> bool:
    """Whether this is the name of a voice on offer, or the formula of a blend of such."""
    try:
        read_blend(formula, offered)
    except InvalidInput:
        return False
    return True
