"""`rtvoice say`: speak a text into a file, a pipe or the loudspeaker."""

from __future__ import annotations

import asyncio
import codecs
import os
import sys
import threading
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from rtvoice.commands.build import build_with_bar
from rtvoice.commands.options import add_command, add_common, add_engine, paths_of, seed, speed
from rtvoice.config import EngineConfig
from rtvoice.errors import InvalidInput

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncGenerator, AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from rtvoice.commands.options import Commands
    from rtvoice.commands.sinks import Sink

    Text = str | AsyncIterator[str]

_MANUAL = """\
Speak a text. Without one, it is read from standard input and spoken as it arrives, sentence by sentence. Needs no
server; with --server it uses one that runs, and loads no model.

examples:
  rtvoice say "Hello."                                 through the loudspeaker
  rtvoice say "Hello." -o hello.wav                    into a file
  rtvoice say "Hello." --voice bm_george --speed 1.2 -o hello.wav
  some-language-model | rtvoice say                    as the words come
  rtvoice say < book.txt -o book.wav
  rtvoice say "Hello." -o - | ffmpeg -i - hello.mp3    a WAV stream of unknown length
  rtvoice say "Hello." -o - --raw | aplay -f S16_LE -r 24000
  rtvoice say "Hello." --server ws://127.0.0.1:8765

The sound is mono at 24 kHz, 16 bits unless --format says otherwise. A file appears when it is complete. `rtvoice
voices list` tells which voices there are.
"""


_FORMATS = ("pcm_s16le", "pcm_f32le")


def add_parser(commands: Commands) -> None:
    """Describe the command."""
    parser = add_command(commands, "say", "speak a text", _MANUAL)
    parser.add_argument("text", nargs="*", help="what to say; several arguments are joined by spaces")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write a WAV file, or `-` for standard output (default: play it)"
    )
    parser.add_argument("--voice", metavar="NAME", help="who speaks (default: af_heart)")
    parser.add_argument("--language", metavar="CODE", help="en-us or en-gb (default: the voice's own)")
    parser.add_argument("--speed", type=speed, default=1.0, metavar="X", help="pace, 0.5 to 2.0 (default: 1.0)")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="of the noise in the sound (default: 0)")
    parser.add_argument("--format", choices=_FORMATS, default=_FORMATS[0], help="of the samples")
    parser.add_argument(
        "--raw", action="store_true", help="write samples without a WAV header; so do names that end in .raw or .pcm"
    )
    parser.add_argument(
        "--markup", choices=("markdown", "plain", "ssml"), default="markdown", help="whose marks the text has"
    )
    parser.add_argument("--control", action="store_true", help="let [pause:0.8s] and [word](/phonemes/) act")
    parser.add_argument("--lexicon", type=Path, metavar="FILE", help="how some words are said; not with --server")
    parser.add_argument("--server", metavar="URL", help="let a running server speak, as ws://127.0.0.1:8765")
    add_engine(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Speak."""
    if arguments.output is None and (arguments.raw or arguments.format != _FORMATS[0]):
        raise InvalidInput("--raw and --format are about what is written: they need -o.", field="-o")
    if arguments.server is None:
        build_with_bar(paths_of(arguments), arguments.checkpoint)
    asyncio.run(_say(arguments))
    return 0


async def _say(arguments: argparse.Namespace) -> None:
    text = " ".join(arguments.text) if arguments.text else _standard_input()
    speech = _by_server(arguments, text) if arguments.server else _by_engine(arguments, text)
    heard = False
    async with _sink(arguments) as sink, aclosing(speech):
        async for samples in speech:
            heard = True
            await sink.write(samples)
    if not heard:
        sys.stderr.write("rtvoice: there was nothing to say.\n")


def _sink(arguments: argparse.Namespace) -> AbstractAsyncContextManager[Sink]:
    from rtvoice.commands.sinks import player, sound_file, standard_output

    if arguments.output is None:
        return player()
    if arguments.output == "-":
        return standard_output(arguments.format, raw=arguments.raw)
    path = Path(arguments.output)
    return sound_file(path, arguments.format, raw=arguments.raw or path.suffix in {".raw", ".pcm"})


async def _by_engine(arguments: argparse.Namespace, text: Text) -> AsyncGenerator[bytes, None]:
    from rtvoice.audio import encode
    from rtvoice.engine import Engine
    from rtvoice.text.lexicon import LexiconFile

    config = EngineConfig(
        paths=paths_of(arguments),
        streams=arguments.streams,
        threads=arguments.threads,
        precision=arguments.precision,
        checkpoint=arguments.checkpoint,
    )
    async with Engine(config) as engine:
        async for audio in engine.speak(
            text,
            voice=arguments.voice,
            speed=arguments.speed,
            language=arguments.language,
            seed=arguments.seed,
            markup=arguments.markup,
            control=arguments.control,
            lexicon=LexiconFile.read(arguments.lexicon).lexicon if arguments.lexicon else None,
        ):
            yield encode(audio.samples, arguments.format)


async def _by_server(arguments: argparse.Namespace, text: Text) -> AsyncGenerator[bytes, None]:
    from rtvoice.client import connect

    async with connect(arguments.server) as session:
        async for frame in session.speak(
            text,
            voice=arguments.voice,
            speed=arguments.speed,
            language=arguments.language,
            format=arguments.format,
            seed=arguments.seed,
            markup=arguments.markup,
            control=arguments.control or None,
        ):
            yield frame.samples


async def _standard_input() -> AsyncIterator[str]:
    """Text as it arrives on standard input.

    Raises:
        InvalidInput: it is not UTF-8.
    """
    if sys.stdin.isatty():
        sys.stderr.write("Type what is to be said; Ctrl-D ends it.\n")
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[bytes] = asyncio.Queue()
    room = threading.Semaphore(4)  # pieces that may wait: a book is not read into memory

    def read() -> None:
        piece = b"-"
        while piece:
            room.acquire()
            piece = os.read(sys.stdin.fileno(), 4096)
            try:
                loop.call_soon_threadsafe(pieces.put_nowait, piece)
            except RuntimeError:  # the loop is closed: nobody listens any more
                return

    # A daemon: a read that waits for the keyboard cannot be cancelled, and must not keep the program alive.
    threading.Thread(target=read, name="standard input", daemon=True).start()
    decoder = codecs.getincrementaldecoder("utf-8")()
    while True:
        piece = await pieces.get()
        room.release()
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            raise InvalidInput(f"The text on standard input is not UTF-8 ({error.reason}).", field="text") from error
        if text:
            yield text
        if not piece:
            return
