"""The model's alphabet: which characters it can pronounce, and the number of each.

`data/config.json` is upstream's description of Kokoro-82M: its sizes and its vocabulary.
"""

from __future__ import annotations

import functools
import json
import re
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.resources.abc import Traversable

MAX_PHONEMES: Final = 510
"""Characters of one model call at most; a 0 at each end comes on top. Speech is at its best below 200."""

LEADING: Final = "ˈˌ"
"""Marks of the sound behind them: its stress."""

TRAILING: Final = "ːʰʲᵝ\u0303→↗↘↓"
"""Marks of the sound ahead of them: its length, breath, colour and tone."""

_SOUND: Final = re.compile(f"[{LEADING}]*[^\\W{LEADING}{TRAILING}][{TRAILING}]*")


def config_file() -> Traversable:
    """Upstream's config.json, as `kokoro.KModel(config=...)` takes it."""
    return resources.files("rtvoice.speech") / "data" / "config.json"


@functools.cache
def vocabulary() -> Mapping[str, int]:
    """The characters the model can pronounce (IPA, punctuation, the space) and their numbers, 1 to 177."""
    config: dict[str, Any] = json.loads(config_file().read_text("utf-8"))
    return MappingProxyType(config["vocab"])


def sounds(phonemes: str) -> Iterator[tuple[int, int]]:
    """Yield where each sound lies, from its first character to behind its last, in order.

    A sound is one character with the marks that belong to it: `ˈO`, `ɑː`, `ʧ`. Diphthongs and affricates are one, as
    they are one character of the alphabet. Spaces and punctuation are none, nor is a mark that has no sound beside it.
    """
    return (found.span() for found in _SOUND.finditer(phonemes))


def ids(phonemes: str) -> tuple[int, ...]:
    """The model's input for a string of phonemes: a number for each character, between two zeros.

    Raises:
        ValueError: a character is not in the vocabulary, or there are more than `MAX_PHONEMES`.
    """
    if len(phonemes) > MAX_PHONEMES:
        raise ValueError(f"{len(phonemes)} phonemes; one model call takes at most {MAX_PHONEMES}")
    numbers = vocabulary()
    if unknown := sorted(set(phonemes) - numbers.keys()):
        raise ValueError(f"not in the model's vocabulary: {' '.join(unknown)}")
    return (0, *(numbers[character] for character in phonemes), 0)
