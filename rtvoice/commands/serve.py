"""`rtvoice serve`: the endpoint."""

from __future__ import annotations

import gc
import sys
from contextlib import AsyncExitStack
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from rtvoice.commands.build import build_with_bar
from rtvoice.commands.options import (
    add_command,
    add_common,
    add_engine,
    count,
    paths_of,
    port,
    price,
    seconds,
    seconds_or_off,
)
from rtvoice.config import DEFAULT_PORT, ClientLimits, EngineConfig, Limits, Prices, ServerConfig

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from rtvoice.commands.options import Commands

_MANUAL = f"""\
Serve speech over a WebSocket, with a page to try it on. The first start builds the model (half a minute).

examples:
  rtvoice serve                              on http://127.0.0.1:{DEFAULT_PORT}, for this machine only
  rtvoice serve --host 0.0.0.0               for the network
  rtvoice serve --log json --port 9000       for a service: one JSON object an event
  rtvoice serve --voices bm_george,bf_emma   British voices only, George if nobody is asked for
  rtvoice serve --streams 2 --threads 2      two sentences at once, two threads each
  rtvoice serve --allow-unfitted             any blend of voices, if there is memory for it
  rtvoice serve --origin https://example.org
                                             let pages of that site speak
  rtvoice serve --keys keys.txt --certificate chain.pem --private-key key.pem
                                             for the internet

Programs speak the protocol of docs/protocol.md at ws://HOST:PORT/. /healthz says that the process lives, /readyz that
it takes work, /metrics what it did and what that cost, /status how it stands now. When nobody has spoken for
--idle-release seconds, the engine's memory is given back; the next to speak waits a few seconds for it, and is told so.
SIGTERM and Ctrl-C stop accepting, let speech under way finish for --drain seconds, and exit with 0; a second Ctrl-C
does not wait. What users say is never logged.
"""


def add_parser(commands: Commands) -> None:
    """Describe the command."""
    defaults, limits = ServerConfig(), Limits()
    parser = add_command(commands, "serve", "serve speech over a WebSocket", _MANUAL)
    parser.add_argument("--host", default=defaults.host, help=f"address to listen on (default: {defaults.host})")
    parser.add_argument(
        "--port", type=port, default=defaults.port, metavar="N", help=f"0 for any free one (default: {defaults.port})"
    )
    parser.add_argument(
        "--voices",
        type=_names,
        metavar="NAME,...",
        help="offer these voices only, the first as the default (default: all, af_heart first)",
    )
    parser.add_argument(
        "--allow-unfitted",
        action="store_true",
        help="speak blends and voices that were not fitted, too: sentence by sentence, in another gigabyte and more",
    )
    parser.add_argument("--no-page", action="store_true", help="serve no page, only the socket and the health checks")
    parser.add_argument(
        "--origin",
        action="append",
        default=[],
        metavar="URL",
        help="a site whose pages may open the socket, beside the server's own; may be given again",
    )
    parser.add_argument("--log", choices=("console", "json"), default="console", help="how events are written")
    parser.add_argument(
        "--log-level", choices=("debug", "info", "warning", "error"), default="info", help="the least severe shown"
    )
    parser.add_argument(
        "--drain",
        type=seconds,
        default=defaults.drain_s,
        metavar="S",
        help=f"seconds that speech may take to finish after SIGTERM (default: {defaults.drain_s:.0f})",
    )
    _add_access(parser)
    _add_lifecycle(parser, defaults)
    group = parser.add_argument_group("what one peer may ask for")
    for option, field, what in (
        ("--max-sessions", "connections", "sessions at once"),
        ("--max-utterances", "utterances", "utterances of a session, open or waiting"),
        ("--max-text", "text_characters", "characters of an utterance"),
        ("--max-message", "message_bytes", "bytes of a message"),
    ):
        default = getattr(limits, field)
        group.add_argument(
            option, dest=field, type=count, default=default, metavar="N", help=f"{what} (default: {default:,})"
        )
    parser.add_argument(
        "--allow-control",
        action="store_true",
        help="let texts carry pauses, phonemes and SSML where an utterance asks for it",
    )
    parser.add_argument(
        "--early-cut",
        action="store_true",
        help="speak an utterance's first clause before its sentence is written, where that is heard sooner",
    )
    parser.add_argument(
        "--lexicon", type=Path, metavar="FILE", help="how some words are said; read again when it changes"
    )
    add_engine(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def _add_access(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("who may connect, and how")
    group.add_argument("--keys", type=Path, metavar="FILE", help="let holders of API keys in only; see `rtvoice key`")
    group.add_argument("--certificate", type=Path, metavar="FILE", help="speak TLS with this chain, in PEM")
    group.add_argument("--private-key", type=Path, metavar="FILE", help="its key, unless that is in the same file")
    group.add_argument("--root-path", default="", metavar="PATH", help="path that a proxy passes on, as /voice")
    group.add_argument(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="a proxy, or a network of them, whose X-Forwarded-For says who a client is; may be given again",
    )
    for option, field, what in (
        ("--max-client-sessions", "client_connections", "sessions of one client at once"),
        ("--max-client-utterances", "client_utterances", "utterances of one client in a minute"),
        ("--max-client-text", "client_characters", "characters of one client in a minute"),
    ):
        group.add_argument(
            option, dest=field, type=count, metavar="N", help=f"{what}: of a key or an address (default: no limit)"
        )


def _add_lifecycle(parser: argparse.ArgumentParser, defaults: ServerConfig) -> None:
    group = parser.add_argument_group("when the engine is there, and what it costs")
    group.add_argument(
        "--idle-release",
        type=seconds_or_off,
        default=defaults.idle_release_s,
        metavar="S|off",
        help=f"give its memory back after so many seconds without speech (default: {defaults.idle_release_s:.0f})",
    )
    group.add_argument(
        "--audio-ahead",
        type=seconds,
        default=defaults.audio_ahead_s,
        metavar="S",
        help=f"seconds of audio made ahead of the listener at most (default: {defaults.audio_ahead_s:.0f})",
    )
    group.add_argument("--cold", action="store_true", help="load it for the first speech, not at the start")
    group.add_argument(
        "--g2p-resident",
        action="store_true",
        help="keep the process that reads words when the engine is released: 60 MB for a second",
    )
    group.add_argument("--prewarm", action="store_true", help="load it when somebody connects, not when they speak")
    group.add_argument(
        "--max-wait",
        type=seconds_or_off,
        default=defaults.wait_s,
        metavar="S|off",
        help=f"refuse speech that would begin later than this, in seconds (default: {defaults.wait_s:.0f})",
    )
    for option, default, what in (
        ("--price-cpu", defaults.prices.cpu_s, "a CPU-second"),
        ("--price-memory", defaults.prices.gib_s, "a GiB of memory for a second"),
    ):
        group.add_argument(
            option, type=price, default=default, metavar="X", help=f"of {what}, for /metrics (default: {default:g})"
        )


def run(arguments: argparse.Namespace) -> int:
    """Build what is missing, then serve until told to stop."""
    from rtvoice.serving.memory import keep_little, restart_without_thread_caches

    if arguments.own_process:
        restart_without_thread_caches()
    keep_little()
    paths = paths_of(arguments)
    build_with_bar(paths, arguments.checkpoint, precision=arguments.precision)

    import uvloop

    from rtvoice.serving.logs import configure_logging

    configure_logging(arguments.log, level=arguments.log_level)
    engine = EngineConfig(
        paths=paths,
        streams=arguments.streams,
        threads=arguments.threads,
        precision=arguments.precision,
        checkpoint=arguments.checkpoint,
        voices=arguments.voices,
        unfitted=arguments.allow_unfitted,
    )
    server = ServerConfig(
        host=arguments.host,
        port=arguments.port,
        root_path=arguments.root_path,
        certificate=arguments.certificate,
        private_key=arguments.private_key,
        keys=arguments.keys,
        client_limits=ClientLimits(
            connections=arguments.client_connections,
            utterances_per_minute=arguments.client_utterances,
            characters_per_minute=arguments.client_characters,
        ),
        limits=Limits(
            text_characters=arguments.text_characters,
            message_bytes=arguments.message_bytes,
            utterances=arguments.utterances,
            connections=arguments.connections,
        ),
        audio_ahead_s=arguments.audio_ahead,
        idle_release_s=arguments.idle_release,
        start_cold=arguments.cold,
        wait_s=arguments.max_wait,
        prewarm=arguments.prewarm,
        prices=Prices(cpu_s=arguments.price_cpu, gib_s=arguments.price_memory),
        drain_s=arguments.drain,
        web=None if arguments.no_page else find_page(),
        control=arguments.allow_control,
        early_cut=arguments.early_cut,
        lexicon=arguments.lexicon,
        origins=tuple(arguments.origin),
        trusted_proxies=tuple(arguments.trusted_proxy),
    )
    gc.freeze()  # what was imported: to walk it in each full collection would hold the loop for 30 ms
    announce = _announce if arguments.log == "console" else None
    uvloop.run(_serve(server, engine, announce, g2p_resident=arguments.g2p_resident))
    return 0


async def _serve(
    server: ServerConfig, engine: EngineConfig, announce: Callable[[str], None] | None, *, g2p_resident: bool
) -> None:
    """Serve, with a G2P process of our own if it is to outlive the engine's releases."""
    import structlog

    from rtvoice.serving.server import serve
    from rtvoice.speech.kokoro import KokoroSynthesizer
    from rtvoice.speech.phonemes import Phonemizer

    log = structlog.get_logger("rtvoice.g2p")

    def replaced(status: int | None) -> None:
        log.warning("g2p process replaced", lost_with_status=status)

    async with AsyncExitStack() as resources:
        g2p = None
        if g2p_resident:
            g2p = await resources.enter_async_context(Phonemizer(engine.paths.cache, replaced=replaced))
        synthesizer = KokoroSynthesizer(engine, g2p=g2p, g2p_replaced=replaced)
        await serve(server, synthesizer, listening=announce, files=synthesizer.files)


def find_page() -> Path | None:
    """The folder of the page: inside the package where it is installed, beside it in a checkout."""
    package = Path(str(resources.files("rtvoice")))
    for folder in (package / "web", package.parent / "web"):
        if (folder / "index.html").is_file():
            return folder
    return None


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip()) or ("",)


def _announce(url: str) -> None:
    sys.stdout.write(f"\n  rtvoice is ready: open {url}\n\n")
    sys.stdout.flush()
