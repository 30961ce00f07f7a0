"""Clients that have sentences spoken over a socket, as many at once as there are, and note when they hear what."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import numpy as np

import rtvoice
from benchmarks.report.records import Heard
from rtvoice.config import SAMPLE_RATE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmarks.workload import Sentence


_LIMIT_S = 600.0
"""For whatever is asked of a server at once."""


class SilentServer(Exception):
    """A sentence came to its end without a sample."""


async def say(session: rtvoice.client.Session, sentence: Sentence, number: int) -> tuple[Heard, NDArray[np.float32]]:
    """Have one sentence spoken; returns how it was heard, and its samples, [N] at 24 kHz.

    Raises:
        SilentServer: there was nothing to hear.
    """
    began, first_audio_s, pieces = time.perf_counter(), None, []
    async for frame in session.speak(sentence.text, voice=sentence.voice, seed=0):
        if first_audio_s is None:
            first_audio_s = time.perf_counter() - began
        pieces.append(frame.samples)
    samples = np.frombuffer(b"".join(pieces), "<i2").astype(np.float32) / np.float32(32768)
    if first_audio_s is None or not len(samples):
        raise SilentServer(f"nothing came of {sentence.text!r}")
    level = float(np.sqrt(np.mean(np.square(samples))))
    return Heard(number, first_audio_s, len(samples) / SAMPLE_RATE, level), samples


async def say_once(url: str, sentence: Sentence) -> Heard:
    """Connect and have one sentence spoken.

    Raises:
        TimeoutError: it takes longer than anything should.
    """
    async with asyncio.timeout(_LIMIT_S), rtvoice.connect(url) as session:
        heard, _ = await say(session, sentence, -1)
    return heard


async def say_all(
    url: str, sentences: Sequence[Sentence], numbers: Sequence[int], clients: int
) -> tuple[tuple[Heard, ...], dict[int, NDArray[np.float32]]]:
    """Have sentences spoken by so many clients, each of which asks for its next one when it has heard the last.

    Args:
        url: of the server.
        sentences: to choose from.
        numbers: which of them, in this order; client i begins with the i-th and goes on with every so many further.
        clients: at once, no more than there are numbers.

    Returns:
        What was heard, and the samples by number.

    Raises:
        TimeoutError: it takes longer than anything should.
    """
    found: dict[int, NDArray[np.float32]] = {}

    async def client(own: Sequence[int]) -> list[Heard]:
        heard = []
        async with rtvoice.connect(url) as session:
            for number in own:
                one, found[number] = await say(session, sentences[number], number)
                heard.append(one)
        return heard

    async with asyncio.timeout(_LIMIT_S):
        together = await asyncio.gather(*(client(numbers[i::clients]) for i in range(clients)))
    return tuple(one for heard in together for one in heard), found
