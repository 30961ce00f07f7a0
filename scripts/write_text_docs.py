"""Write docs/text.md: what is read how, from the examples that the tests check.

python scripts/write_text_docs.py
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
READINGS = ROOT / "tests" / "text" / "readings.txt"
DOCS = ROOT / "docs" / "text.md"

INTRODUCTION = """\
# How text is read

Written by `scripts/write_text_docs.py` from `tests/text/readings.txt`: every line below is tested.

Text goes through five steps. The **segmenter** cuts it into sentences as it arrives. **Markup** is taken off. The
**lexicon** puts in how some words are said. The **normaliser** writes the rest as it is spoken, in words and sentence
punctuation only; below is what it makes of what. A **passage** is what leaves: each word with the characters of the
text as sent that it came from.

`rtvoice explain "TEXT"` shows all of it for a text, and which rules fired.

## The lexicon

A TOML file with one table (`rtvoice.text.lexicon.LexiconFile`), which can be read again when it has changed:

```toml
[words]
Nguyen = "/wˈɪn/"                       # between slashes: phonemes, in the alphabet of misaki
kubectl = "cube control"                # else words, which are read like any other text
"C. elegans" = "see elegans"            # more than one word, and signs
US = { say = "U S", case = true }       # only as written; otherwise the case of letters is ignored
gigachad = { say = "giga chad", whole = false }   # inside words as well
```

A mapping of the same shape does as well (`Lexicon.of`), and `one | other` joins two: where both have an entry the
other's counts. Of two entries that fit at a place the longer wins.

## Words from signs

Where American and British English differ, both are given. `P M` in capitals stands for letters said one by one.
"""


@dataclass(frozen=True)
class Reading:
    """One example: what is written under a heading, and what is spoken for it in both dialects."""

    heading: str
    written: str
    american: str
    british: str


def load_readings(path: Path = READINGS) -> list[Reading]:
    """Read the examples, in order."""
    readings = []
    heading = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line == "#" or line.startswith("# "):
            continue
        if " =>" not in line:
            heading = line.strip("[]")
            continue
        written, american, *british = (part.strip(" ") for part in re.split(r" =>(?: |$)", line))
        written = re.sub(r"<U\+([0-9A-F]{4,6})>", lambda number: chr(int(number[1], 16)), written)
        readings.append(Reading(heading, written, american, british[0] if british else american))
    return readings


def render(readings: list[Reading]) -> str:
    """The page."""
    lines = [INTRODUCTION]
    heading = ""
    for reading in readings:
        if reading.heading != heading:
            heading = reading.heading
            lines += ["", f"### {heading}", "", "| written | spoken |", "|---|---|"]
        spoken = _cell(reading.american) or "(nothing)"
        if reading.british != reading.american:
            spoken += f"<br>British: {_cell(reading.british)}"
        lines.append(f"| {_code(reading.written)} | {spoken} |")
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    shown = "".join(c if c.isprintable() and (c == " " or not c.isspace()) else f"<U+{ord(c):04X}>" for c in text)
    return "`" + shown.replace("|", "\\|") + "`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


if __name__ == "__main__":
    DOCS.write_text(render(load_readings()), encoding="utf-8")
