"""The server as a process of its own, so that it can be killed: over the scripted synthesizer, or over the real model.

    python -m tests.web.server_process --web FOLDER [--port N] [--delay SECONDS] [--slice SECONDS] [--load SECONDS]
        [--cold] [--idle SECONDS] [--connections N] [--keys FILE] [--fitted-blends] [--model]

Prints the page's address when it listens.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import Self

from rtvoice.config import EngineConfig, Limits, ServerConfig
from rtvoice.paths import default_paths
from rtvoice.serving.logs import configure_logging
from rtvoice.serving.server import serve
from rtvoice.speech.kokoro import KokoroSynthesizer
from tests.scripted import ScriptedSynthesizer


class SlowlyLoaded(ScriptedSynthesizer):
    """A scripted synthesizer that takes some seconds to be there, and may not speak any blend."""

    any_blend = True

    def __init__(self, load_s: float, *, any_blend: bool, **options: float) -> None:
        super().__init__(**options)
        self.load_s = load_s
        self.any_blend = any_blend

    async def __aenter__(self) -> Self:
        await asyncio.sleep(self.load_s)
        return await super().__aenter__()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--web", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--slice", type=float, default=0.2)
    parser.add_argument("--load", type=float, default=0.0)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--idle", type=float)
    parser.add_argument("--connections", type=int, default=Limits().connections)
    parser.add_argument("--keys", type=Path)
    parser.add_argument("--fitted-blends", action="store_true")
    parser.add_argument("--model", action="store_true")
    arguments = parser.parse_args()
    configure_logging("console", level="warning")
    config = ServerConfig(
        port=arguments.port,
        web=arguments.web,
        start_cold=arguments.cold,
        idle_release_s=arguments.idle,
        limits=Limits(connections=arguments.connections),
        keys=arguments.keys,
    )
    if arguments.model:
        synthesizer = KokoroSynthesizer(EngineConfig(paths=default_paths(os.environ)))
    else:
        options = {"delay_s": arguments.delay, "slice_s": arguments.slice}
        synthesizer = SlowlyLoaded(arguments.load, any_blend=not arguments.fitted_blends, **options)
    asyncio.run(serve(config, synthesizer, listening=tell))


def tell(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
