"""The real server over the scripted synthesizer, as a process of its own, so that it can be killed.

    python -m tests.web.scripted_server --web FOLDER [--port N] [--delay SECONDS] [--slice SECONDS]

Prints the page's address when it listens.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from rtvoice.config import ServerConfig
from rtvoice.serving.logs import configure_logging
from rtvoice.serving.server import serve
from tests.scripted import ScriptedSynthesizer


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--web", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--slice", type=float, default=0.2)
    arguments = parser.parse_args()
    configure_logging("console", level="warning")
    asyncio.run(
        serve(
            ServerConfig(port=arguments.port, web=arguments.web),
            ScriptedSynthesizer(delay_s=arguments.delay, slice_s=arguments.slice),
            listening=tell,
        )
    )


def tell(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
