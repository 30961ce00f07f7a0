"""The server's life: start, listen, speak, drain, stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtvoice.config import ServerConfig
    from rtvoice.speech.synthesizer import Synthesizer


async def serve(
    config: ServerConfig, synthesizer: Synthesizer, *, listening: Callable[[str], None] | None = None
) -> None:
    """Serve until SIGTERM or SIGINT, then let speech under way finish and return.

    Args:
        config: where to listen and what peers may ask for.
        synthesizer: not entered yet; it is entered before the first connection is accepted and left at the end.
        listening: called once, when connections are accepted, with the address of the page (`http://127.0.0.1:8765/`).

    Raises:
        SetupError: the address is taken or not ours, or the synthesizer lacks something.
    """
    raise NotImplementedError
