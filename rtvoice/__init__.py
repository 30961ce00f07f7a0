"""Text to speech in real time, on plain CPUs.

::

    async with rtvoice.connect("ws://127.0.0.1:8765") as session:      # a server somewhere
        async for frame in session.speak("Hello there."):
            player.write(frame.samples)

    async with rtvoice.Engine() as engine:                             # or the engine in this process
        async for audio in engine.speak("Hello there."):
            player.write(audio.samples)

What is named here is loaded when it is first used: the client loads no engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rtvoice._version import __version__

if TYPE_CHECKING:
    from rtvoice.client import connect
    from rtvoice.engine import Engine
    from rtvoice.errors import RtvoiceError

__all__ = ["Engine", "RtvoiceError", "__version__", "connect"]

_HOMES = {"Engine": "rtvoice.engine", "RtvoiceError": "rtvoice.errors", "connect": "rtvoice.client"}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
