"""What the server tells about itself: structlog events, for a person's console or as JSON. Never a user's text."""

from __future__ import annotations

import logging
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import structlog

if TYPE_CHECKING:
    from typing import TextIO

    from structlog.typing import Processor


def trace(error: BaseException) -> str:
    """Where an exception came from: its type and the lines it passed, innermost last.

    Its message and the values of variables are left out: they may hold a user's text.
    """
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(trace(inner) for inner in error.exceptions)
    frames = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    named = f"{type(error).__name__} at {' > '.join(frames)}"
    return f"{named}, from {trace(error.__cause__)}" if error.__cause__ is not None else named


class _Unfailing:
    """A stream whose failures end nothing: a full disk or a closed pipe costs the events, not the speech."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):  # ValueError: it is closed
            return self._stream.write(text)
        return 0

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()


def configure_logging(style: Literal["console", "json"], *, level: str = "info", stream: TextIO | None = None) -> None:
    """Set up structlog for this process. Call it once, when it starts.

    Args:
        style: lines for a person, in colour on a terminal; or one JSON object an event, for machines.
        level: the least severe events shown: debug, info, warning, error.
        stream: where they go, standard error by default.
    """
    stream = sys.stderr if stream is None else stream
    processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if style == "json":
        processors += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        # The renderer's own tracebacks would show the values of variables.
        plain = structlog.dev.plain_traceback
        processors.append(structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=plain))
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(cast("TextIO", _Unfailing(stream))),
        cache_logger_on_first_use=True,
    )
