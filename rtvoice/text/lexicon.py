"""The pronunciation lexicon: how names and terms are said that would be said wrong.

A lexicon is a TOML file with one table, or a mapping of the same shape that comes with an utterance::

    [words]
    Nguyen = "/wɪn/"                        # between slashes: phonemes, in the alphabet of misaki
    kubectl = "cube control"                # else words, which are read like any other text
    "C. elegans" = "see elegans"            # more than one word, and signs
    US = { say = "U S", case = true }       # only as written; otherwise the case of letters is ignored
    gigachad = { say = "giga chad", whole = false }   # inside words as well

Of two entries that fit at a place the longer wins. Matching is done once, before any other rewriting, in time linear
in the text whatever the number of entries.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import regex

from rtvoice.errors import InvalidInput
from rtvoice.text.ipa import is_phonemes
from rtvoice.text.mapped import Edit, Mapped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MOST_ENTRIES = 100_000
LONGEST_WRITTEN = 200
"""Characters of what an entry is written as, and of what it is said as."""


@dataclass(frozen=True, slots=True)
class Entry:
    """How something written is said.

    Attributes:
        written: what stands in the text.
        say: words to read instead, or None.
        ipa: phonemes to say, or None; just one of the two is given.
        case: only where the case of letters is the same.
        whole: only where it is a word or words of its own.
    """

    written: str
    say: str | None = None
    ipa: str | None = None
    case: bool = False
    whole: bool = True


class Lexicon:
    """An immutable set of entries, ready to be applied.

    Attributes:
        entries: in the order given. Where two are written alike the later counts.
    """

    __slots__ = ("_any_case", "_as_written", "_pattern", "entries")

    def __init__(self, entries: tuple[Entry, ...] = ()) -> None:
        self.entries = entries
        self._as_written = {(e.whole, _straight(e.written)): e for e in entries if e.case}
        self._any_case = {(e.whole, _straight(e.written).casefold()): e for e in entries if not e.case}
        self._pattern = self._compiled() if entries else None

    @classmethod
    def of(cls, words: Mapping[str, Any], *, field: str = "lexicon") -> Lexicon:
        """Make a lexicon of a mapping as in the file's table.

        Args:
            words: what is written, and how it is said: a string, or a mapping with `say` and perhaps `case`, `whole`.
            field: what errors call it.

        Raises:
            InvalidInput: an entry is not of that form, or there are too many.
        """
        if len(words) > MOST_ENTRIES:
            raise InvalidInput(f"{field}: more than {MOST_ENTRIES:,} entries", field=field)
        return cls(tuple(_entry(written, said, field) for written, said in words.items()))

    @classmethod
    def parse(cls, toml: str, *, field: str = "lexicon") -> Lexicon:
        """Make a lexicon of the text of a lexicon file.

        Raises:
            InvalidInput: the text is no TOML, has other tables than `words`, or an entry is not right.
        """
        try:
            tables = tomllib.loads(toml)
        except tomllib.TOMLDecodeError as error:
            raise InvalidInput(f"{field}: {error}", field=field) from error
        words = tables.pop("words", {})
        if tables or not isinstance(words, dict):
            raise InvalidInput(f"{field}: a lexicon has one table, [words]", field=field, allowed=("words",))
        return cls.of(words, field=field)

    def __or__(self, other: Lexicon) -> Lexicon:
        """Both lexicons' entries; the other's count where both have one for the same."""
        return Lexicon(self.entries + other.entries)

    def apply(self, text: Mapped) -> tuple[Mapped, tuple[str, ...]]:
        """Put in how things are said. Words said by phonemes are pinned with them.

        Returns:
            The text, and what was replaced as it was written, each once.
        """
        if self._pattern is None:
            return text, ()
        edits: list[Edit] = []
        written: dict[str, None] = {}
        for match in self._pattern.finditer(_straight(text.text)):
            entry = self._found(match)
            if entry is None:
                continue
            at, to = match.span()
            if entry.ipa is not None:
                said: str | Mapped = text[at:to].pin(0, to - at, entry.ipa)
            else:
                said = entry.say or ""
            edits.append(Edit(at, to, said))
            written[entry.written] = None
        return text.edit(edits), tuple(written)

    def _found(self, match: regex.Match[str]) -> Entry | None:
        whole = match.lastgroup in ("exact", "any")
        if match.lastgroup in ("exact", "exact_inside"):
            return self._as_written[whole, match[0]]
        # None for the few letters that `regex` and casefold see differently (the Turkish dotted capital).
        return self._any_case.get((whole, match[0].casefold()))

    def _compiled(self) -> regex.Pattern[str]:
        # Named lists are sets inside `regex`: the time taken does not grow with the number of entries.
        groups = {
            "exact": [w for whole, w in self._as_written if whole],
            "any": [w for whole, w in self._any_case if whole],
            "exact_inside": [w for whole, w in self._as_written if not whole],
            "any_inside": [w for whole, w in self._any_case if not whole],
        }
        alternatives = []
        for name, words in groups.items():
            if words:
                listed = rf"(?P<{name}>\L<list_{name}>)"
                if name.startswith("any"):
                    listed = f"(?i:{listed})"
                alternatives.append(listed if name.endswith("inside") else rf"(?<!\w){listed}(?!\w)")
        lists: dict[str, Any] = {f"list_{name}": words for name, words in groups.items() if words}
        return regex.compile("|".join(alternatives), **lists)


@dataclass(frozen=True, slots=True)
class LexiconFile:
    """A lexicon and the file it was read from, as it was then.

    Attributes:
        path: the file.
        lexicon: what it held.
        stamp: its time of change in nanoseconds and its size in bytes.
    """

    path: Path
    lexicon: Lexicon
    stamp: tuple[int, int]

    @classmethod
    def read(cls, path: Path) -> LexiconFile:
        """Read a lexicon file.

        Raises:
            InvalidInput: it cannot be read, or what it holds is not right.
        """
        try:
            stamp = _stamp(path)
            toml = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"the lexicon {path} cannot be read: {error}", field="lexicon") from error
        return cls(path, Lexicon.parse(toml, field=str(path)), stamp)

    def refreshed(self) -> LexiconFile:
        """The file as it is now: this object if it has not changed, else a new one.

        It looks at the disk: call it now and then, off the path of speech. If it raises, this object stays good.

        Raises:
            InvalidInput: as `read`.
        """
        try:
            unchanged = _stamp(self.path) == self.stamp
        except OSError:
            unchanged = False
        return self if unchanged else LexiconFile.read(self.path)


def _straight(text: str) -> str:
    """With straight apostrophes; as long as before."""
    return text.replace("’", "'")


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _entry(written: str, said: object, field: str) -> Entry:
    options: dict[str, object] = dict(said) if isinstance(said, dict) else {"say": said}
    say = options.pop("say", None)
    case, whole = options.pop("case", False), options.pop("whole", True)
    where = f"{field}.{written}"
    if options:
        raise InvalidInput(f"{where}: unknown {', '.join(options)}", field=where, allowed=("say", "case", "whole"))
    if not (isinstance(say, str) and isinstance(case, bool) and isinstance(whole, bool)):
        raise InvalidInput(f"{where}: say is a text, case and whole are true or false", field=where)
    if not written.strip() or written != written.strip() or max(len(written), len(say)) > LONGEST_WRITTEN:
        raise InvalidInput(
            f"{where}: what is written has 1 to {LONGEST_WRITTEN} characters, none of them white space around it",
            field=where,
        )
    if len(say) > 2 and say[0] == say[-1] == "/":
        ipa = say[1:-1].strip()
        if not is_phonemes(ipa):
            raise InvalidInput(f"{where}: {say} has characters that are no phonemes", field=where)
        return Entry(written, ipa=ipa, case=case, whole=whole)
    return Entry(written, say=say, case=case, whole=whole)
