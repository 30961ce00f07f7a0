"""When each phoneme, and so each word, is heard, from the durations that the text network predicts."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from rtvoice.speech.synthesizer import PhonemeTime, WordTime
from rtvoice.speech.vocabulary import sounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from rtvoice.speech.phonemes import PhonemeWord
    from rtvoice.speech.pieces import Piece
    from rtvoice.text.segment import SpokenWord

FRAME_S = 0.025
"""Seconds of one frame of duration."""

_SILENT = -1.0
"""Predicted energy below which there is nothing to hear: the sound is then 60 dB and more below full scale."""


_Time = TypeVar("_Time", PhonemeTime, WordTime)


class WordClock:
    """Gives the phonemes and the words of a passage their times, piece by piece.

    A phoneme lasts until the next one begins: the model gives a space two frames or so, mostly full of sound. Where
    there is a pause it ends where it falls silent; most of a pause the model counts to the phoneme before it.

    A word of the text is what has one range of it: `$5`, spoken as two words, is one. It begins with the first phoneme
    of what is spoken for it in a piece and ends with the last; of a word that is cut in two, the first piece counts.
    """

    def __init__(self, spoken: Sequence[SpokenWord], words: Sequence[PhonemeWord]) -> None:
        """Match words.

        Args:
            spoken: the passage's words, in order.
            words: how it is pronounced, in order.
        """
        self._ranges = list(_matched(spoken, words))
        self._timed: set[tuple[int, int]] = set()

    def times(
        self, piece: Piece, durations: NDArray[np.float32], energy: NDArray[np.float32], start_s: float
    ) -> tuple[list[PhonemeTime], list[WordTime]]:
        """Return the times of a piece's phonemes and of the words that begin in it.

        Both are in order; none begins before the one ahead of it has ended.

        Args:
            piece: what one call of the model speaks.
            durations: of its phonemes and the zero at each end, in frames [T]; their sum is F.
            energy: as predicted, [2F].
            start_s: when the piece begins, in seconds from the start of the segment.
        """
        places = list(sounds(piece.phonemes))
        phonemes = list(_phonemes(piece.phonemes, places, durations, energy, start_s))
        begins = [at for at, _ in places]
        words: list[WordTime] = []
        for span in piece.spans:
            source = self._ranges[span.word]
            own = phonemes[bisect_left(begins, span.at) : bisect_left(begins, span.to)]
            if source is None or not own:
                continue
            if words and (words[-1].start, words[-1].end) == source:
                words[-1] = replace(words[-1], end_s=own[-1].end_s)
            elif source not in self._timed:
                self._timed.add(source)
                words.append(WordTime(*source, own[0].start_s, own[-1].end_s))
        return phonemes, words


def begun(times: list[_Time], before_s: float) -> tuple[_Time, ...]:
    """Take out of times in order those that begin before that moment, in seconds."""
    count = bisect_left(times, before_s, key=lambda time: time.start_s)
    taken = tuple(times[:count])
    del times[:count]
    return taken


def _phonemes(
    text: str,
    places: Sequence[tuple[int, int]],
    durations: NDArray[np.float32],
    energy: NDArray[np.float32],
    start_s: float,
) -> Iterator[PhonemeTime]:
    """The times of the sounds at these places of a piece's characters; see `WordClock.times`."""
    edges = np.cumsum(durations).astype(int)  # edges[i]: the end of input i, the start of character i
    for (at, to), (following, _) in pairwise([*places, (len(edges) - 1, -1)]):
        begin, end = int(edges[at]), int(edges[to])
        heard_to = end if following == to else _falls_silent(energy, begin, end, int(edges[following]))
        yield PhonemeTime(text[at:to], start_s + FRAME_S * begin, start_s + FRAME_S * heard_to)


def _falls_silent(energy: NDArray[np.float32], begin: int, end: int, until: int) -> float:
    """The frame from which on a phoneme is not heard any more.

    It has the frames from `begin` to `end`, in which it may be silent for a while, as before a plosive's release. What
    is heard behind them without a break belongs to it too, up to `until`. It lasts a frame at least.
    """
    heard = np.flatnonzero(energy[2 * begin : 2 * end] >= _SILENT)
    heard_to = begin + (int(heard[-1]) + 1) / 2 if len(heard) else begin + 1
    if heard_to < end:
        return heard_to
    silent = np.flatnonzero(energy[2 * end : 2 * until] < _SILENT)
    return end + int(silent[0]) / 2 if len(silent) else until


def _matched(spoken: Sequence[SpokenWord], words: Iterable[PhonemeWord]) -> Iterator[tuple[int, int] | None]:
    """Yield, for each pronounced word or mark, the range of the text it came from; None if it came from no word."""
    first = 0
    for word in words:
        while first < len(spoken) and spoken[first].to <= word.at:
            first += 1
        last = first
        while last < len(spoken) and spoken[last].at < word.to:
            last += 1
        over = spoken[first:last]
        yield (min(w.start for w in over), max(w.end for w in over)) if over else None
