"""misaki's dictionaries as files that are mapped, not read: nothing is loaded but the pages that are looked at.

As Python objects the two dictionaries of a dialect weigh 53 MB and take half a second; as files 6 MB, of which a
conversation touches a few hundred pages. A file is a hash table, written once from misaki's own data::

    header      mark of the format, number of slots (a power of two), bytes of the whole file
    slots       where the entry of a hash lies, or 0; a taken slot sends on to the next
    entries     lengths of key and value, key, value: UTF-8, in the order of the keys

A value is phonemes, or JSON where the phonemes go by the part of speech.
"""

from __future__ import annotations

import importlib.util
import json
import mmap
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from itertools import takewhile
from pathlib import Path
from typing import Final

from rtvoice.errors import SetupError
from rtvoice.speech.files import write_atomically

Entry = str | dict[str, str | None]
"""Phonemes of a word, or by its part of speech, of which DEFAULT is always there; None spells the word."""

NAMES: Final = {"en-us": ("us_gold", "us_silver"), "en-gb": ("gb_gold", "gb_silver")}
"""The dictionaries of each language: the one to be trusted, and one that was made by machine."""

_MARK: Final = b"rtvoice words 1\n"
_HEADER: Final = struct.Struct("<16sII")
_SLOT: Final = struct.Struct("<I")
_LENGTHS: Final = struct.Struct("<HH")


class Dictionary(Mapping[str, Entry]):
    """Words and their phonemes, looked up in a file.

    misaki lets a word of small letters also stand with a capital, and one with a capital in small letters, unless that
    has an entry of its own. So does this.

    Args:
        content: of the file, as `pack` makes it, mapped or not.

    Raises:
        ValueError: it is of another format, or not whole.
    """

    def __init__(self, content: bytes | mmap.mmap) -> None:
        if len(content) < _HEADER.size:
            raise ValueError("not a dictionary")
        mark, self._slots, size = _HEADER.unpack_from(content)
        if mark != _MARK or size != len(content):
            raise ValueError("not a dictionary, or not all of it")
        self._content = content
        self._first = _HEADER.size + _SLOT.size * self._slots

    def __getitem__(self, word: str) -> Entry:
        value = self._find(word)
        if value is None and (other := _other_case(word)):
            value = self._find(other)
        if value is None:
            raise KeyError(word)
        return _unpacked(value)

    def __iter__(self) -> Iterator[str]:
        for word in self._words():
            yield word
            if (other := _other_case(word)) and self._find(other) is None:
                yield other

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def starting_with(self, prefix: str) -> list[str]:
        """Return the words that begin so and have an entry of their own. Fast for what sorts first."""
        before = takewhile(lambda word: word < prefix or word.startswith(prefix), self._words())
        return [word for word in before if word.startswith(prefix)]

    def _words(self) -> Iterator[str]:
        place = self._first
        while place < len(self._content):
            of_key, of_value = _LENGTHS.unpack_from(self._content, place)
            place += _LENGTHS.size
            yield self._content[place : place + of_key].decode()
            place += of_key + of_value

    def _find(self, word: str) -> bytes | None:
        key = word.encode("utf-8", "surrogatepass")
        slot = zlib.crc32(key) & (self._slots - 1)
        while place := _SLOT.unpack_from(self._content, _HEADER.size + _SLOT.size * slot)[0]:
            of_key, of_value = _LENGTHS.unpack_from(self._content, place)
            place += _LENGTHS.size
            if of_key == len(key) and self._content[place : place + of_key] == key:
                return self._content[place + of_key : place + of_key + of_value]
            slot = (slot + 1) & (self._slots - 1)
        return None


def open_dictionary(name: str, cache: Path | None) -> Dictionary:
    """Open one of misaki's dictionaries.

    Its file is written if it is not there. Without a place to write to, the dictionary is made anew, in memory.

    Args:
        name: one of those of `NAMES`.
        cache: the folder of what can be made again; None writes nothing.

    Raises:
        ImportError: misaki, or a file of it, is not installed.
    """
    file = _file(name, cache) if cache is not None else None
    with suppress(OSError, ValueError):
        if file is not None:
            return _mapped(file)
    source = _source(name)
    try:
        content = pack(json.loads(source.read_bytes()))
    except (OSError, ValueError) as error:
        raise ImportError(f"{source} cannot be read: {error}") from error
    if file is not None:
        with suppress(SetupError, OSError, ValueError):
            write_atomically(file, content)
            for old in file.parent.glob(f"{name}-*"):
                if old != file:
                    old.unlink()
            return _mapped(file)
    return Dictionary(content)


def write_dictionaries(cache: Path) -> None:
    """Write the files of all languages that are not there: a folder that can only be read later is complete then.

    Raises:
        ImportError: misaki, or a file of it, is not installed.
    """
    for names in NAMES.values():
        for name in names:
            open_dictionary(name, cache)


def pack(words: Mapping[str, Entry]) -> bytes:
    """Write words and their phonemes as the content of a file."""
    slots = 1 << (2 * len(words)).bit_length()  # a quarter to half of them taken: most words are found at once
    table = [0] * slots
    first = _HEADER.size + _SLOT.size * slots
    entries = bytearray()
    for word in sorted(words):
        key, value = word.encode(), _packed(words[word])
        slot = zlib.crc32(key) & (slots - 1)
        while table[slot]:
            slot = (slot + 1) & (slots - 1)
        table[slot] = first + len(entries)
        entries += _LENGTHS.pack(len(key), len(value)) + key + value
    header = _HEADER.pack(_MARK, slots, first + len(entries))
    return header + struct.pack(f"<{slots}I", *table) + bytes(entries)


def dictionary_files(cache: Path) -> list[Path]:
    """The files that there are, of this version of misaki and of others."""
    return sorted(_folder(cache).glob("*.words"))


def _folder(cache: Path) -> Path:
    return cache / "dictionaries"


def _file(name: str, cache: Path) -> Path:
    return _folder(cache) / f"{name}-{metadata.version('misaki')}.words"


def _source(name: str) -> Path:
    spec = importlib.util.find_spec("misaki")  # which does not import it
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("No module named 'misaki'")
    return Path(spec.submodule_search_locations[0]) / "data" / f"{name}.json"


def _mapped(file: Path) -> Dictionary:
    with file.open("rb") as opened:
        content = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    content.madvise(mmap.MADV_RANDOM)  # the kernel would read sixteen pages where we look at one
    return Dictionary(content)


def _other_case(word: str) -> str | None:
    """Return how else a word may stand: with a capital if it has none, without if it has one in front; None otherwise.

    After `misaki.en.Lexicon.grow_dictionary`.
    """
    small, capital = word.lower(), word.capitalize()
    if len(word) < 2 or small == capital or word not in (small, capital):
        return None
    return capital if word == small else small


def _packed(entry: Entry) -> bytes:
    return (entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False)).encode()


def _unpacked(value: bytes) -> Entry:
    if value.startswith(b"{"):
        entry: dict[str, str | None] = json.loads(value)
        return entry
    return value.decode()
