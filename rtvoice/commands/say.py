"""`rtvoice say`: speak a text into a file, a pipe or the loudspeaker."""

from __future__ import annotations

import asyncio
import codecs
import os
import sys
import threading
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rtvoice.commands.build import build_with_bar
from rtvoice.commands.options import add_command, add_common, add_engine, paths_of, pause, seed, speed
from rtvoice.config import AUDIO_FORMATS, PCM_FORMATS, SAMPLE_RATE, SAMPLE_RATES, AudioFormat, EngineConfig
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
  rtvoice say "Hello." --voice "af_heart(2)+bf_emma(1)"
                                                       in a blend of two voices
  some-language-model | rtvoice say                    as the words come
  rtvoice say < book.txt -o book.wav
  rtvoice say "Hello." -o hello.mp3                    needs the extra `codecs`, as .opus and .ogg do
  rtvoice say "Hello." -o - | ffmpeg -i - hello.flac   a WAV stream of unknown length
  rtvoice say "Hello." -o - --raw | aplay -f S16_LE -r 24000
  rtvoice say "Hello." -o line.wav --format mulaw --rate 8000
  rtvoice say "Hello." --server ws://127.0.0.1:8765

The sound is mono, 16 bits at 24 kHz unless --format and --rate say otherwise. A file appears when it is complete.
`rtvoice voices list` tells which voices there are. RTVOICE_KEY may hold the key that a server wants.
"""


_FORMATS = tuple(name for name in AUDIO_FORMATS if name != "wav")  # which is what samples are wrapped in anyway
_ENDINGS = {".mp3": "mp3", ".opus": "opus", ".ogg": "opus"}


def add_parser(commands: Commands) -> None:
    """Describe the command."""
    parser = add_command(commands, "say", "speak a text", _MANUAL)
    parser.add_argument("text", nargs="*", help="what to say; several arguments are joined by spaces")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write a WAV file, or `-` for standard output (default: play it)"
    )
    parser.add_argument("--voice", metavar="NAME", help="who speaks, or a blend (default: af_heart)")
    parser.add_argument("--language", metavar="CODE", help="en-us or en-gb (default: the voice's own)")
    parser.add_argument("--speed", type=speed, default=1.0, metavar="X", help="pace, 0.5 to 2.0 (default: 1.0)")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="of the noise in the sound (default: 0)")
    parser.add_argument(
        "--format", choices=_FORMATS, help="of the sound (default: as the name of the file ends, else pcm_s16le)"
    )
    parser.add_argument(
        "--rate", type=int, choices=SAMPLE_RATES, help=f"samples a second, in Hz (default: {SAMPLE_RATE})"
    )
    parser.add_argument(
        "--pause", type=pause, default=0.0, metavar="S", help="silence between two sentences, 0 to 10 s (default: 0)"
    )
    parser.add_argument(
        "--raw", action="store_true", help="write samples without a WAV header; so do names that end in .raw or .pcm"
    )
    parser.add_argument(
        "--markup", choices=("markdown", "plain", "ssml"), default="markdown", help="whose marks the text has"
    )
    parser.add_argument("--control", action="store_true", help="let [pause:0.8s] and [word](/phonemes/) act")
    parser.add_argument("--lexicon", type=Path, metavar="FILE", help="how some words are said; not with --server")
    parser.add_argument("--server", metavar="URL", help="let a running server speak, as ws://127.0.0.1:8765")
    parser.add_argument("--key", metavar="KEY", help="API key for the server (default: what RTVOICE_KEY holds)")
    add_engine(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Speak."""
    if arguments.output is None and (arguments.raw or arguments.format or arguments.rate):
        raise InvalidInput("--raw, --format and --rate are about what is written: they need -o.", field="-o")
    if arguments.server is not None and arguments.lexicon is not None:
        raise InvalidInput("A server has its own lexicon: leave --lexicon out.", field="--lexicon")
    is_blank = bool(arguments.text) and not "".join(arguments.text).strip()
    if is_blank and arguments.output is None:
        _tell_nothing()
        return 0
    if arguments.server is None and not is_blank:
        build_with_bar(paths_of(arguments), arguments.checkpoint, precision=arguments.precision)
    asyncio.run(_say(arguments, is_blank=is_blank))
    return 0


async def _say(arguments: argparse.Namespace, *, is_blank: bool) -> None:
    text = " ".join(arguments.text) if arguments.text else _standard_input()
    audio_format = _audio_format(arguments)
    by = _by_server if arguments.server is not None else _by_engine
    heard = False
    async with _sink(arguments, audio_format) as sink:
        if not is_blank:
            async with aclosing(by(arguments, text, audio_format)) as speech:
                async for data in speech:
                    heard = True
                    await sink.write(data)
    if not heard:
        _tell_nothing()


def _tell_nothing() -> None:
    sys.stderr.write("rtvoice: there was nothing to say.\n")


def _audio_format(arguments: argparse.Namespace) -> AudioFormat:
    ending = Path(arguments.output or "").suffix.lower()
    return AudioFormat(arguments.format or _ENDINGS.get(ending, _FORMATS[0]), arguments.rate or SAMPLE_RATE)


def _sink(arguments: argparse.Namespace, audio_format: AudioFormat) -> AbstractAsyncContextManager[Sink]:
    from rtvoice.commands.sinks import player, sound_file, standard_output
    from rtvoice.wav import wav_header

    if arguments.output is None:
        return player()
    path = Path(arguments.output)
    is_bare = arguments.raw or path.suffix in {".raw", ".pcm"} or audio_format.encoding not in PCM_FORMATS
    header = None if is_bare else partial(wav_header, audio_format.encoding, audio_format.sample_rate)
    return standard_output(header) if arguments.output == "-" else sound_file(path, header)


async def _by_engine(
    arguments: argparse.Namespace, text: Text, audio_format: AudioFormat
) -> AsyncGenerator[bytes, None]:
    from rtvoice.encoders import Encoder, check_format
    from rtvoice.engine import Engine
    from rtvoice.text.lexicon import LexiconFile

    check_format(audio_format)
    encoder = Encoder(audio_format)
    config = EngineConfig(
        paths=paths_of(arguments),
        streams=arguments.streams,
        threads=arguments.threads,
        checkpoint=arguments.checkpoint,
    )
    async with Engine(config) as engine:
        speech = engine.speak(
            text,
            voice=arguments.voice,
            speed=arguments.speed,
            language=arguments.language,
            pause_s=arguments.pause,
            seed=arguments.seed,
            markup=arguments.markup,
            control=arguments.control,
            lexicon=LexiconFile.read(arguments.lexicon).lexicon if arguments.lexicon else None,
        )
        async with aclosing(speech):
            async for audio in speech:
                _, data = encoder.encode(audio.samples, joins=audio.closes)
                if data:
                    yield data
    _, rest = encoder.finish()
    if rest:
        yield rest


async def _by_server(
    arguments: argparse.Namespace, text: Text, audio_format: AudioFormat
) -> AsyncGenerator[bytes, None]:
    from rtvoice.client import connect

    key = arguments.key or os.environ.get("RTVOICE_KEY")
    async with connect(arguments.server, key=key) as session:
        async for frame in session.speak(
            text,
            voice=arguments.voice,
            speed=arguments.speed,
            language=arguments.language,
            format=audio_format.encoding,
            sample_rate=audio_format.sample_rate,
            pause_ms=round(arguments.pause * 1000),
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
    if sys.stdin is None:  # it was closed before we began
        return
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
