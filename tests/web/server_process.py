"""The server as a process of its own, so that it can be killed: over the scripted synthesizer, or over the real model.

    python -m tests.web.server_process --web FOLDER [--port N] [--delay SECONDS] [--slice SECONDS] [--model]

Prints the page's address when it listens.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path

from rtvoice.config import EngineConfig, ServerConfig
from rtvoice.paths import default_paths
from rtvoice.serving.logs import configure_logging
from rtvoice.serving.server import serve
from rtvoice.speech.kokoro import KokoroSynthesizer
from tests.scripted import ScriptedSynthesizer


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--web", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--slice", type=float, default=0.2)
    parser.add_argument("--model", action="store_true")
    arguments = parser.parse_args()
    configure_logging("console", level="warning")
    if arguments.model:
        synthesizer = KokoroSynthesizer(EngineConfig(paths=default_paths(os.environ)))
    else:
        synthesizer = ScriptedSynthesizer(delay_s=arguments.delay, slice_s=arguments.slice)
    asyncio.run(serve(ServerConfig(port=arguments.port, web=arguments.web), synthesizer, listening=tell))


def tell(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
