"""Brings the memory of a loaded engine down: after loading, now and then while it speaks, and when nobody does."""

from __future__ import annotations

import asyncio
import gc
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np

from rtvoice.errors import SetupError, SynthesisFailed
from rtvoice.speech.mapped import forget, let_go, let_go_of_code
from rtvoice.speech.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path

    from rtvoice.speech.acoustics import Acoustics
    from rtvoice.speech.pool import Pool

_QUIET_S: Final = 2.0
_BUSY_S: Final = 10.0


async def keep_settled(
    pool: Pool, acoustics: Acoustics, folder: Path, *, quiet_s: float = _QUIET_S, busy_s: float = _BUSY_S
) -> None:
    """Load what the first slice did not need; then bring memory down, for ever.

    A network arranges its weights when it first runs; only then can the file they came from be let go.

    Args:
        pool: of the engine; entered.
        acoustics: which run in it.
        folder: of the model.
        quiet_s: seconds without speech at which memory is brought down to the least.
        busy_s: seconds from one time to the next while somebody speaks, when it is brought down as far as that allows.
    """
    with suppress(SetupError):  # whoever speaks next is told
        await pool.load_later()
    due = time.monotonic() + busy_s
    patient = Turn(dry_at=lambda: due)  # until then it is speech that goes first
    with suppress(SetupError, SynthesisFailed):  # likewise
        await pool.warm(patient)
        await acoustics.features("ə", np.zeros((1, 256), np.float32), 1.0, patient)
    due = time.monotonic()
    settled = None  # after so many inferences
    while True:
        runs = pool.runs
        if runs != settled and time.monotonic() >= due:
            await _to_its_end(settle_busy(pool, folder))
            due = time.monotonic() + busy_s
        await asyncio.sleep(quiet_s)
        if pool.runs == runs != settled:
            await _to_its_end(settle(pool, folder))
            settled = runs
            due = time.monotonic() + busy_s


async def _to_its_end(work: Coroutine[None, None, None]) -> None:
    """Await some work; who is cancelled waits for it all the same.

    A thread cannot be stopped, and holds networks: they would go after who leaves has given memory back.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    finally:
        await asyncio.wait([task])


async def settle_busy(pool: Pool, folder: Path) -> None:
    """Bring down what can be while somebody speaks: takes some milliseconds of other threads, and of the loop none."""
    await pool.give_back(fixed=False)
    await asyncio.to_thread(_let_go, folder)


async def settle(pool: Pool, folder: Path) -> None:
    """Bring memory down to what the next inference must find."""
    await pool.give_back()
    await asyncio.to_thread(_let_go_of_all, folder)


def _let_go(folder: Path) -> None:
    let_go(folder)
    let_go_of_code()


def _let_go_of_all(folder: Path) -> None:
    gc.collect()
    _let_go(folder)
    forget(folder.rglob("*"))
