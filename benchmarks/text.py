"""How fast text is read: characters a CPU-second, the longest a push takes, memory, and texts made to be slow.

One process, one thread, no model. Mixed text as language models write it comes in deltas of three characters. CPU
time is this thread's; memory is what the process has resident. Texts made to be slow are read at two lengths: time
is linear if a character costs the same in both.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import fingerprint
from benchmarks.table import Figure, render
from rtvoice.text.front import TextFront, TextOptions
from rtvoice.text.segmenter import Segmenter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DELTA = 3
"""Characters of a delta: about what a token has."""

REQUIRED_PER_S = 200_000
LONGEST_PUSH_MS = 5.0

_PARAGRAPHS = (
    "Dr. {name} came at {hour}:{minute} a.m., wet and late. “We are closed,” she said. “Come back on Monday.” Then she "
    "left.\n\n",
    "## What to do {year}\n\n1. Open the lid slowly.\n2. Plug in the cable.\n3. Wait for the **green** light, then "
    "press `start`.\n\n",
    "The project earned ${amount} billion in {year}, up {percent}% from {count} units; see "
    "[the report](https://docs.example.com/{count}) for more. It was due on {year}-05-{day}.\n\n",
    "I think that the best way to learn something new is to try it, fail a few times, and keep going until it finally "
    "works. {name} would say so too, and {name} has been right about such things before.\n\n",
    "It was a bright cold day, and nobody in the village remembered when the river had last been frozen like this. The "
    "children went out on the ice before breakfast, and they did not come home until it was dark.\n\n",
    "- Apples are *cheap* this week: {count} for ${amount}\n- Pears, on the other hand, are not\n- Write to "
    "{name}@shop.example\n\n",
    "You did what?! I can hardly believe that. Well... I suppose it happens, even to the best of us 🎉. Call me at "
    "+1 415-555-{year}.\n\n",
    "The wind blows at {percent} km/h, it is {day} °C, and the U.S. team leads {day}–{hour}. What happens next? Nobody "
    "knows yet, not even {name}.\n\n",
)
_NAMES = ("Osei", "Kim", "Grzyk", "Lindqvist", "Okafor", "Tanaka", "Müller", "Reyes", "Haddad", "Novak")

SLOW = ("a.", "9", "a@", "[", "(", "<a ", "`", "*a", "$a", "&a", "|a", "[a](", "http://", "1/", "。", " ")
"""Units of which a text is made to be slow."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Mixed text, read once.

    Attributes:
        characters: of the text.
        segmented_per_s: characters a CPU-second, cut into segments.
        read_per_s: characters a CPU-second, cut, unmarked and put into spoken form.
        longest_push_ms: CPU time of the longest push of `DELTA` characters.
        segments: that came out.
        growth_bytes: resident memory at the end over that after a tenth of the text.
    """

    characters: int
    segmented_per_s: float
    read_per_s: float
    longest_push_ms: float
    segments: int
    growth_bytes: int


@dataclass(frozen=True, slots=True)
class Slow:
    """A text made to be slow.

    Attributes:
        unit: what it repeats.
        characters: of the longer text.
        seconds: CPU time for it.
        growth: CPU time of a character in it, as a multiple of that in a text a tenth as long; 1 is linear.
    """

    unit: str
    characters: int
    seconds: float
    growth: float


def mixed_text(characters: int, seed: int = 0) -> str:
    """Text as language models write it, no two paragraphs alike."""
    chance = random.Random(seed)  # noqa: S311 (nothing secret)
    paragraphs: list[str] = []
    length = 0
    while length < characters:
        paragraph = chance.choice(_PARAGRAPHS).format(
            name=chance.choice(_NAMES),
            hour=chance.randint(1, 12),
            minute=chance.randint(10, 59),
            year=chance.randint(1900, 2050),
            amount=f"{chance.uniform(1, 900):.1f}",
            percent=chance.randint(1, 99),
            count=chance.randint(100, 99_999),
            day=chance.randint(10, 28),
        )
        paragraphs.append(paragraph)
        length += len(paragraph)
    return "".join(paragraphs)[:characters]


def read_mixed(text: str) -> Reading:
    """Read mixed text in small deltas: cut it, read it whole, and read it once more with a clock on every push.

    Some is read before, as what loads when it is first needed loads once a process.
    """
    list(_scripts(TextFront(TextOptions(lengths=None)), text[:20_000]))
    segmenter = Segmenter()
    begin = time.thread_time()
    for at in range(0, len(text), DELTA):
        segmenter.push(text[at : at + DELTA])
    segmenter.flush()
    segmented_s = time.thread_time() - begin

    gc.collect()
    front = TextFront(TextOptions(lengths=None))
    tenth = len(text) // 10
    begin = time.thread_time()
    segments = sum(_scripts(front, text[:tenth]))
    resident = _resident_bytes()
    segments += sum(_scripts(front, text[tenth:])) + len(front.flush())
    read_s = time.thread_time() - begin
    return Reading(
        characters=len(text),
        segmented_per_s=len(text) / segmented_s,
        read_per_s=len(text) / read_s,
        longest_push_ms=_longest_push_ms(text),
        segments=segments,
        growth_bytes=_resident_bytes() - resident,
    )


def _scripts(front: TextFront, text: str) -> Iterator[int]:
    """Push a text in small deltas; the number of scripts of each push."""
    return (len(front.push(text[at : at + DELTA])) for at in range(0, len(text), DELTA))


def _longest_push_ms(text: str) -> float:
    front = TextFront(TextOptions(lengths=None))
    longest = 0
    for at in range(0, len(text), DELTA):
        before = time.thread_time_ns()
        front.push(text[at : at + DELTA])
        longest = max(longest, time.thread_time_ns() - before)
    return longest / 1e6


def read_slow(unit: str, characters: int) -> Slow:
    """Read a text made to be slow, and one a tenth as long."""

    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        front = TextFront(TextOptions(lengths=None))
        begin = time.thread_time()
        for at in range(0, len(text), 256):
            front.push(text[at : at + 256])
        front.flush()
        return time.thread_time() - begin

    short = min(seconds(characters // 10) for _ in range(3))
    long = seconds(characters)
    return Slow(unit, characters, long, long / (10 * short))


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _show(readings: Sequence[Reading], slow: Sequence[Slow]) -> str:
    first = readings[0]
    rows = [
        ["segmented, characters/CPU-s", Figure.of(r.segmented_per_s for r in readings).show(0), ""],
        ["segmented and put into words", Figure.of(r.read_per_s for r in readings).show(0), f"> {REQUIRED_PER_S:,}"],
        ["longest push, ms", Figure.of(r.longest_push_ms for r in readings).show(), f"< {LONGEST_PUSH_MS:g}"],
        ["memory growth, KiB", Figure.of(r.growth_bytes / 1024 for r in readings).show(0), "flat"],
    ]
    table = render(["", "measured", "aim"], rows)
    hard = render(
        ["made to be slow", "characters", "CPU-s", "growth"],
        [[f'"{s.unit}"', f"{s.characters:,}", f"{s.seconds:.2f}", f"{s.growth:.2f}"] for s in slow],
    )
    return f"{first.characters:,} characters of mixed text in {DELTA}-character deltas\n\n{table}\n\n{hard}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.text", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the text, once")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parsed = parser.parse_args(arguments)
    text = mixed_text(100_000 if parsed.quick else 1_000_000)
    readings = [read_mixed(text) for _ in range(1 if parsed.quick else 3)]
    slow = [read_slow(unit, 20_000 if parsed.quick else 100_000) for unit in SLOW]
    print(_show(readings, slow))
    if parsed.json:
        figures = {
            "machine": fingerprint(),
            "mixed": [asdict(reading) for reading in readings],
            "slow": [asdict(one) for one in slow],
        }
        parsed.json.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
