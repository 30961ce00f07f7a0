"""misaki's dictionaries as files: word for word what misaki makes of them, and nothing that a bad file could break."""

import json
import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from misaki.en import Lexicon

from rtvoice.speech.g2p import dictionary, english
from rtvoice.speech.g2p.dictionary import NAMES, Dictionary, dictionary_files, open_dictionary, pack, write_dictionaries
from rtvoice.speech.g2p.english import English

ALL = [name for names in NAMES.values() for name in names]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A folder with the files of all dictionaries."""
    folder = tmp_path_factory.mktemp("cache")
    write_dictionaries(folder)
    assert len(dictionary_files(folder)) == len(ALL)
    return folder


def grown(name):
    """What misaki has in memory."""
    return Lexicon.grow_dictionary(json.loads(dictionary._source(name).read_bytes()))


@pytest.mark.parametrize("name", ALL)
def test_every_word_of_misaki_is_found_with_its_phonemes_and_no_other(name, cache):
    words, plain = open_dictionary(name, cache), grown(name)
    assert dict(words) == plain
    assert len(words) == len(plain)
    rng = random.Random(3)  # noqa: S311  # words, not secrets
    for word in rng.sample(sorted(plain), 2000):  # and what differs from a word by a letter, or its case
        for other in (word.upper(), word.title(), word + "x", word[1:], word[::-1]):
            assert words.get(other) == plain.get(other)


class Plain(dict):
    """A dictionary in memory, as misaki has it."""

    def starting_with(self, prefix):
        return [word for word in self if word.startswith(prefix)]


@pytest.mark.parametrize("language", NAMES)
def test_texts_are_read_as_with_dictionaries_in_memory(language, cache, monkeypatch):
    mapped = English(None, cache)
    mapped.load(language)
    monkeypatch.setattr(english, "open_dictionary", lambda name, _: Plain(grown(name)))
    plain = English(None)
    rng = random.Random(4)  # noqa: S311  # words, not secrets
    words = sorted(grown(NAMES[language][0]) | grown(NAMES[language][1]))
    lines = (Path(__file__).parents[2] / "benchmarks" / "sentences.jsonl").read_text("utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    texts += [" ".join(rng.sample(words, 20)) + "." for _ in range(100)]
    for text in texts:
        assert mapped.words(text, language) == plain.words(text, language)


@given(st.dictionaries(st.text(max_size=4), st.text(max_size=3).filter(lambda text: not text.startswith("{"))))
def test_any_words_are_found_again(words):
    words = {word: phonemes for word, phonemes in words.items() if word.isprintable() and phonemes.isprintable()}
    packed = Dictionary(pack(words))
    for word, phonemes in words.items():
        assert packed[word] == phonemes
    assert [word for word in packed if word in words] == sorted(words)


@pytest.mark.parametrize("word", ["", "\ud800", "x" * 100_000, "\0"])
def test_what_is_no_word_is_not_found(word, cache):
    assert open_dictionary("us_gold", cache).get(word) is None


def test_words_are_found_by_how_they_begin(cache):
    found = open_dictionary("us_gold", cache).starting_with("'")
    assert "'tis" in found
    assert found == [word for word in sorted(json.loads(dictionary._source("us_gold").read_bytes())) if word[0] == "'"]


def test_a_file_is_written_once_and_old_ones_go(tmp_path):
    old = tmp_path / "dictionaries" / "us_gold-0.1.words"
    old.parent.mkdir()
    old.write_bytes(b"of another version")
    open_dictionary("us_gold", tmp_path)
    (file,) = dictionary_files(tmp_path)
    written = file.stat()
    assert open_dictionary("us_gold", tmp_path)["hello"] == "həlˈO"
    assert file.stat() == written


@pytest.mark.parametrize("damage", [lambda content: content[:-1], lambda _: b"", lambda content: b"?" + content[1:]])
def test_a_damaged_file_is_written_anew(damage, cache, tmp_path):
    (file,) = (file for file in dictionary_files(cache) if file.name.startswith("us_gold"))
    damaged = tmp_path / "dictionaries" / file.name
    damaged.parent.mkdir()
    damaged.write_bytes(damage(file.read_bytes()))
    assert open_dictionary("us_gold", tmp_path)["hello"] == "həlˈO"
    assert damaged.read_bytes() == file.read_bytes()


@pytest.mark.parametrize("cache_is", ["none", "a file", "full"])
def test_without_a_place_for_files_it_is_in_memory(cache_is, tmp_path, monkeypatch):
    place = None if cache_is == "none" else tmp_path / "cache"
    if cache_is == "a file":
        place.write_text("in the way")
    if cache_is == "full":

        def full(*_):
            raise OSError(28, os.strerror(28))

        monkeypatch.setattr(os, "fsync", full)
    assert open_dictionary("us_gold", place)["hello"] == "həlˈO"
    assert place is None or not dictionary_files(place)


def test_without_misaki_it_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(dictionary.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ImportError, match="misaki"):
        open_dictionary("us_gold", tmp_path)
