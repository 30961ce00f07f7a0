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

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtvoice.errors import InvalidInput
from rtvoice.text.ipa import is_phonemes
from rtvoice.text.mapped import Edit, Mapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

MOST_ENTRIES = 100_000
LONGEST_WRITTEN = 200
"""Characters of what an entry is written as, and of what it is said as."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_SAME_WORD = re.compile(r"(?<=\w)(?=\w)")


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

    __slots__ = ("_inside", "_whole", "entries")

    def __init__(self, entries: tuple[Entry, ...] = ()) -> None:
        self.entries = entries
        self._whole = _Index(entry for entry in entries if entry.whole)
        self._inside = _Index(entry for entry in entries if not entry.whole)

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
        edits: list[Edit] = []
        written: dict[str, None] = {}
        for at, entry in self._found(text.text) if self.entries else ():
            to = at + len(entry.written)
            said: str | Mapped = entry.say or ""
            if entry.ipa is not None:
                said = text[at:to].pin(0, to - at, entry.ipa)
            edits.append(Edit(at, to, said))
            written[entry.written] = None
        return text.edit(edits), tuple(written)

    def _found(self, text: str) -> Iterator[tuple[int, Entry]]:
        """Where entries fit, in order and apart from each other."""
        plain = _straight(text)
        folded = _folded(plain)
        done = 0
        for token in _TOKEN.finditer(plain):
            for at in range(token.start(), token.end() if self._inside.lengths else token.start() + 1):
                if at < done:
                    continue
                # Both indices give their longest; of the same length the whole word counts.
                fitting = [self._inside.longest(plain, folded, at, folded[at], whole=False)]
                if at == token.start():
                    fitting.insert(
                        0, self._whole.longest(plain, folded, at, _head(folded[at : token.end()]), whole=True)
                    )
                entry = max(filter(None, fitting), key=lambda entry: len(entry.written), default=None)
                if entry is not None:
                    yield at, entry
                    done = at + len(entry.written)


class _Index:
    """Entries by how they begin and how long they are, so that looking one up takes as long among many as among few.

    Attributes:
        lengths: by the first word of what is written (its first character, for entries that fit inside words): the
            lengths of the entries that begin so, longest first.
    """

    __slots__ = ("_any_case", "_as_written", "lengths")

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._as_written: dict[str, Entry] = {}
        self._any_case: dict[str, Entry] = {}
        lengths: dict[str, set[int]] = {}
        for entry in entries:
            plain = _straight(entry.written)
            folded = _folded(plain)
            if entry.case:
                self._as_written[plain] = entry
            else:
                self._any_case[folded] = entry
            lengths.setdefault(_head(folded) if entry.whole else folded[0], set()).add(len(plain))
        self.lengths = {head: sorted(found, reverse=True) for head, found in lengths.items()}

    def longest(self, plain: str, folded: str, at: int, head: str, *, whole: bool) -> Entry | None:
        """The longest entry that fits at a place of a text, given as written and with its case folded."""
        for length in self.lengths.get(head, ()):
            to = at + length
            entry = self._as_written.get(plain[at:to]) or self._any_case.get(folded[at:to])
            if entry and (not whole or not (_in_word(plain, at) or _in_word(plain, to))):
                return entry
        return None


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
        except OSError as error:
            raise InvalidInput(f"The lexicon {path} cannot be read: {error.strerror}.", field="lexicon") from error
        except UnicodeDecodeError as error:
            raise InvalidInput(f"The lexicon {path} cannot be read: it is not UTF-8.", field="lexicon") from error
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


def _folded(text: str) -> str:
    """Without difference of case; as long as before."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _head(folded: str) -> str:
    """The word, or the one sign, that a text begins with."""
    found = _TOKEN.match(folded)
    return found[0] if found else ""


def _in_word(text: str, at: int) -> bool:
    """Whether a word goes on at a place of a text."""
    return bool(_SAME_WORD.match(text, at))


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
