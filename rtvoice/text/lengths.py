"""How long a piece of speech should be: short segments joined, long passages cut, the first one perhaps sooner.

A policy on top of segments, which it never changes the ends of but by joining. Lengths are counted in phonemes, by a
counter that is passed in.

Kokoro takes at most 510 phonemes a call, speaks hurriedly past about 250, and poorly under about 20: hence the
default sizes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from rtvoice.text.segment import Passage, Script, Segment, SpokenWord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rtvoice.text.segment import Pause

    PhonemeCounter = Callable[[str], int]

MAX_PHONEMES = 510
"""Most phonemes of one passage, whatever the policy."""

_MARKS = 10  # room kept for the punctuation around a word that fills a call

PHONEMES_PER_SECOND = 14.0
"""Pace of speech at speed 1, stress marks and spaces counted as the model counts them."""


def estimated_phonemes(text: str) -> int:
    """A guess at the phonemes of a text in spoken form, without pronouncing it: rather too many than too few.

    English takes about one phoneme a character, stress marks included; other scripts write more sound a character.
    """
    if text.isascii():
        return len(text) * 11 // 10
    return sum(1 if char < "\u0370" else 2 if char < "\u2e80" else 5 for char in text) * 11 // 10


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyCut:
    """When the first segment of an utterance is cut at a clause, so that speech begins before its sentence is written.

    Attributes:
        synthesis_s: seconds this machine takes from a segment to its first audio, as calibrated.
        gain_s: seconds that must be gained for a cut to be worth its break in the melody.
        least: phonemes of the shortest clause spoken alone.
        sentence: characters of a sentence of ordinary length.
    """

    synthesis_s: float
    gain_s: float = 0.4
    least: int = 20
    sentence: int = 90

    def pays(self, phonemes: int, written: int, rate: float) -> bool:
        """Whether to speak a clause of `phonemes` now.

        It pays if the rest of the sentence would take longer than `gain_s` to arrive, and the clause is long enough
        to bridge the time until the rest can be heard.

        Args:
            phonemes: of the clause.
            written: characters of the sentence that have come.
            rate: characters that arrive a second.
        """
        if phonemes < self.least or rate <= 0:
            return False
        wait_s = max(self.sentence - written, self.sentence / 4) / rate
        return wait_s >= self.gain_s and phonemes / PHONEMES_PER_SECOND >= wait_s + self.synthesis_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """The sizes aimed at, in phonemes.

    Attributes:
        least: a shorter segment is joined with the next one, if that is at hand.
        best: joined segments stay below this, and a long passage is cut near it.
        most: a longer passage is cut, at its best clause edge, else at a word.
        first: the utterance's first segment is not joined past this: speech should begin soon.
        early: when to cut the first segment at a clause; None for never.

    Raises:
        ValueError: not `0 <= least <= best <= most <= 510`.
    """

    least: int = 40
    best: int = 220
    most: int = 250
    first: int = 100
    early: EarlyCut | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.least <= self.best <= self.most <= MAX_PHONEMES:
            raise ValueError(f"sizes {self.least}, {self.best}, {self.most} are not in order up to {MAX_PHONEMES}")


def joined(scripts: Iterable[Script], lengths: Lengths, count: PhonemeCounter, *, opening: bool) -> list[Script]:
    """Join short scripts with their neighbours.

    Args:
        scripts: of segments that follow each other: all that is at hand.
        lengths: the sizes aimed at.
        count: counts the phonemes of a text in spoken form.
        opening: whether the first of them is the utterance's first.
    """
    result: list[tuple[Script, int]] = []
    for script in scripts:
        size = phonemes(script, count)
        if result:
            before, before_size = result[-1]
            bound = lengths.first if opening and len(result) == 1 else lengths.best
            if min(size, before_size) < lengths.least and size + before_size < bound:
                result[-1] = _join(before, script), before_size + size + 1
                continue
        result.append((script, size))
    return [script for script, _ in result]


def fitted(script: Script, most: int, best: int, count: PhonemeCounter) -> Script:
    """Cut a script's passages that are longer than `most` phonemes, near `best`; every word is kept."""
    parts: list[Passage | Pause] = []
    for part in script.parts:
        if isinstance(part, Passage) and _size(part, count) > most:
            parts += _cut(part, most, best, count)
        else:
            parts.append(part)
    return script if len(parts) == len(script.parts) else replace(script, parts=tuple(parts))


def phonemes(script: Script, count: PhonemeCounter) -> int:
    """Phonemes of all of a script."""
    return sum(_size(part, count) for part in script.parts if isinstance(part, Passage))


_EDGE_WORTH = {
    ",": 2,
    ";": 3,
    ":": 3,
    "—": 3,
    "–": 3,
    ")": 2,
    ".": 4,
    "!": 4,
    "?": 4,
    "…": 4,
    "、": 2,
    "，": 2,
    "。": 4,
}


def _join(first: Script, second: Script) -> Script:
    segment = Segment(first.segment.text + second.segment.text, first.segment.start, second.segment.end)
    parts = [*first.parts, *second.parts]
    seam = len(first.parts)
    if 0 < seam < len(parts):
        before, after = parts[seam - 1 : seam + 1]
        if isinstance(before, Passage) and isinstance(after, Passage) and _sound_alike(before, after):
            stop = "" if before.text[-1] in ".!?…,;:—)\"'”’。！？" else "."
            text = f"{before.text}{stop} "
            words = before.words + tuple(_moved(word, len(text)) for word in after.words)
            parts[seam - 1 : seam + 1] = [replace(before, text=text + after.text, words=words)]
    return Script(segment, tuple(parts), tuple(dict.fromkeys((*first.rules, *second.rules, "joined"))))


def _sound_alike(one: Passage, other: Passage) -> bool:
    return (one.rate, one.voice) == (other.rate, other.voice)


def _moved(word: SpokenWord, by: int) -> SpokenWord:
    return SpokenWord(word.at + by, word.to + by, word.start, word.end, word.ipa)


def _size(passage: Passage, count: PhonemeCounter) -> int:
    """Phonemes of a passage, those given by the author included."""
    if any(word.ipa for word in passage.words):
        return sum(_sizes(passage, _begins(passage), count))
    return count(passage.text)


def _begins(passage: Passage) -> list[int]:
    """Where each word begins, with the marks that open it (`("word`), and where the text ends."""
    begins = [0]
    for before, word in pairwise(passage.words):
        space = passage.text.rfind(" ", before.to, word.at)
        begins.append(space + 1 if space >= 0 else word.at)
    return [*begins, len(passage.text)]


def _sizes(passage: Passage, begins: Sequence[int], count: PhonemeCounter) -> list[int]:
    """Phonemes of each word, with the marks around it and the space behind it."""
    sizes = []
    for word, (begin, end) in zip(passage.words, pairwise(begins), strict=True):
        if word.ipa is None:
            sizes.append(count(passage.text[begin:end]))
        else:
            sizes.append(len(word.ipa) + count(passage.text[begin : word.at] + passage.text[word.to : end]))
    return sizes


def _cut(passage: Passage, most: int, best: int, count: PhonemeCounter) -> list[Passage]:
    """Pieces of a passage, none longer than `most`, but for words that are longer by themselves (up to 510)."""
    passage = _with_short_words(passage, count)
    begins = _begins(passage)
    sizes = _sizes(passage, begins, count)
    pieces = []
    first = 0
    while first < len(sizes):
        last = _piece_end(passage, sizes, first, most, best)
        begin = begins[first]
        words = tuple(_moved(word, -begin) for word in passage.words[first:last])
        pieces.append(replace(passage, text=passage.text[begin : begins[last]].rstrip(), words=words))
        first = last
    return pieces


def _piece_end(passage: Passage, sizes: Sequence[int], first: int, most: int, best: int) -> int:
    """Number of the word behind the piece that begins with word `first`."""
    rest = sum(sizes[first:])
    if rest <= most:
        return len(sizes)
    aim = min(best, rest / 2)  # two pieces of one length rather than a long one and a stump
    size, chosen, chosen_worth = sizes[first], first + 1, 0.0
    for end in range(first + 1, len(sizes)):
        between = passage.text[passage.words[end - 1].to : passage.words[end].at]
        edge = 0 if between == " " else max((_EDGE_WORTH.get(char, 0) for char in between), default=0)
        worth = (1 + edge) * (1 - abs(size - aim) / most)
        if worth >= chosen_worth or size < aim / 2:
            chosen, chosen_worth = end, worth if size >= aim / 2 else 0.0
        size += sizes[end]
        if size > most:
            break
    return chosen


def _with_short_words(passage: Passage, count: PhonemeCounter) -> Passage:
    """The passage with each word of more phonemes than a call takes as several."""
    words = [part for word in passage.words for part in _short_words(word, passage.text, count)]
    return passage if len(words) == len(passage.words) else replace(passage, words=tuple(words))


def _short_words(word: SpokenWord, text: str, count: PhonemeCounter) -> list[SpokenWord]:
    if word.ipa is not None or word.to - word.at < 2 or count(text[word.at : word.to]) <= MAX_PHONEMES - _MARKS:
        return [word]
    half = (word.at + word.to) // 2
    return [
        *_short_words(replace(word, to=half), text, count),
        *_short_words(replace(word, at=half), text, count),
    ]
