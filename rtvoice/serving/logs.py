"""What the server tells about itself: structlog events, for a person's console or as JSON. Never a user's text."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Literal

import structlog

if TYPE_CHECKING:
    from typing import TextIO

    from structlog.typing import Processor


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
        processors.append(structlog.dev.ConsoleRenderer(colors=stream.isatty()))
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(stream),
        cache_logger_on_first_use=True,
    )
