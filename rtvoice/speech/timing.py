"""When each word is heard, from the durations that the text network predicts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rtvoice.speech.synthesizer import WordTime

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


class WordClock:
    """Gives the words of a passage their times, piece by piece.

    A word of the text is what has one range of it: `$5`, spoken as two words, is one. It begins with the first phoneme
    of what is spoken for it in a piece and ends with the last; of a word that is cut in two, the first piece counts.
    Spaces and punctuation belong to no word. Nor does the pause behind a word, most of which the model counts to the
    word's last phoneme: the word ends where that one falls silent.
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
    ) -> list[WordTime]:
        """Return the times of the words that begin in a piece. None begins before the one ahead of it has ended.

        Args:
            piece: what one call of the model speaks.
            durations: of its phonemes and the zero at each end, in frames [T]; their sum is F.
            energy: as predicted, [2F].
            start_s: when the piece begins, in seconds from the start of the segment.
        """
        edges = np.cumsum(durations).astype(int)  # edges[i]: the end of input i, the start of phoneme i
        found: list[WordTime] = []
        for span in piece.spans:
            source = self._ranges[span.word]
            if source is None:
                continue
            begin = start_s + FRAME_S * int(edges[span.at])
            end = start_s + FRAME_S * _falls_silent(energy, int(edges[span.to - 1]), int(edges[span.to]))
            if found and (found[-1].start, found[-1].end) == source:
                found[-1] = replace(found[-1], end_s=end)
            elif source not in self._timed:
                self._timed.add(source)
                found.append(WordTime(*source, begin, end))
        return found


def _falls_silent(energy: NDArray[np.float32], begin: int, end: int) -> float:
    """The frame behind the last one to be heard of a phoneme that lasts from `begin` to `end`; never `begin` itself."""
    heard = np.flatnonzero(energy[2 * begin : 2 * end] >= _SILENT)
    return begin + (int(heard[-1]) + 1) / 2 if len(heard) else min(begin + 1, end)


def _matched(spoken: Sequence[SpokenWord], words: Iterable[PhonemeWord]) -> Iterator[tuple[int, int] | None]:
    """Yield, for each pronounced word, the range of the text it came from; None for punctuation."""
    first = 0
    for word in words:
        while first < len(spoken) and spoken[first].to <= word.at:
            first += 1
        last = first
        while last < len(spoken) and spoken[last].at < word.to:
            last += 1
        over = spoken[first:last] if any(map(str.isalpha, word.phonemes)) else ()
        yield (min(w.start for w in over), max(w.end for w in over)) if over else None
