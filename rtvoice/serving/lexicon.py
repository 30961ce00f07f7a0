"""The pronunciation lexicon that all sessions read with: a file, read again when it changes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NoReturn

import structlog

from rtvoice.errors import InvalidInput
from rtvoice.text.lexicon import LexiconFile

if TYPE_CHECKING:
    from pathlib import Path

    from structlog.typing import FilteringBoundLogger

    from rtvoice.text.lexicon import Lexicon

INTERVAL_S: Final = 2.0
"""Seconds between looks at the file."""


class FollowedLexicon:
    """A lexicon file as it is, or was when it was last right.

    Args:
        path: the file; None for no lexicon.

    Raises:
        InvalidInput: the file cannot be read, or what it holds is not right.
    """

    def __init__(self, path: Path | None) -> None:
        self._file = LexiconFile.read(path) if path is not None else None
        self._log: FilteringBoundLogger = structlog.get_logger("rtvoice.lexicon")

    @property
    def lexicon(self) -> Lexicon | None:
        """What utterances that are opened now are read with."""
        return self._file.lexicon if self._file is not None else None

    async def follow(self, interval_s: float = INTERVAL_S) -> NoReturn:
        """Look at the file now and then, for ever. What is wrong with it is logged, once for each change of it."""
        complaint = ""
        while True:
            await asyncio.sleep(interval_s)
            if self._file is None:
                continue
            try:
                now = await asyncio.to_thread(self._file.refreshed)
            except InvalidInput as error:
                if str(error) != complaint:
                    complaint = str(error)
                    self._log.warning("lexicon kept as it was", reason=complaint)
                continue
            if now is not self._file:
                self._file, complaint = now, ""
                self._log.info("lexicon read again")
