"""A progress bar on standard error: one line on a terminal, one line a step elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self, TextIO

_WIDTH = 28


class ProgressBar:
    """Shows how far something has come. A context manager: leaving finishes the line, whatever happened.

    Args:
        title: what is being done, for as long as it takes.
        stream: where it is shown; standard error by default.
    """

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        self._title = title
        self._stream = sys.stderr if stream is None else stream
        self._on_terminal = self._stream.isatty()
        self._shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown and self._on_terminal:
            self._stream.write("\n")
            self._stream.flush()

    def update(self, done: float, what: str) -> None:
        """Show that this part is done, 0 to 1, and what comes next."""
        if self._on_terminal:
            full = round(done * _WIDTH)
            line = f"{self._title}  {'━' * full}{' ' * (_WIDTH - full)} {done:4.0%}  {what}"
            # Spaces wipe out what a longer line before left behind.
            self._stream.write("\r" + line.ljust(len(self._shown)))
        else:
            line = f"{self._title}: {what}"
            if line != self._shown:
                self._stream.write(line + "\n")
        self._shown = line
        self._stream.flush()
