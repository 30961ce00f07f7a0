"""The G2P process: reads requests from its standard input, writes replies to its standard output, in order.

It belongs to the process that started it: it goes when that closes the pipe or dies, ignores the terminal's Ctrl-C,
and inherits nothing but the three standard streams. Messages are framed as `frames` says::

    -> {"text": ..., "language": ..., "given": [[at, to, ipa], ...]}
    <- {"words": [[at, to, phonemes, space], ...]}    or  {"error": ...}

The first message out is `{"ready": true}`, or `{"missing": ...}` if something is not installed; then it exits.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from rtvoice.speech.g2p.frames import HEADER, decode, encode
from rtvoice.speech.mapped import let_go_of_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtvoice.speech.g2p.english import English

_PR_SET_PDEATHSIG = 1


def main() -> int:
    """Serve until the pipe closes. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m rtvoice.speech.g2p", description="rtvoice's G2P process.")
    parser.add_argument("--parent", type=int, help="process whose death ends this one")
    parser.add_argument("--cache", type=Path, help="folder of what can be made again; without it, nothing is kept")
    parser.add_argument("--language", action="append", default=[], help="loaded before the first request")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if arguments.parent and not _die_with(arguments.parent):
        return 0
    requests, replies = _take_over_streams()
    try:
        english = _load(arguments.language, arguments.cache)
    except (ImportError, OSError) as error:
        replies.write(encode({"missing": str(error)}))
        return 1
    replies.write(encode({"ready": True}))
    for body in _bodies(requests):
        replies.write(encode(_reply(english, body)))
    return 0


def _load(languages: list[str], cache: Path | None) -> English:
    from rtvoice.speech.g2p.espeak import Espeak  # what is missing must be told
    from rtvoice.speech.g2p.tagger import without_commands

    with without_commands():
        from rtvoice.speech.g2p.english import English

    try:
        espeak = Espeak()
    except ImportError:
        espeak = None  # unknown words are spelled
    english = English(espeak, cache)
    for language in languages:
        english.words("Ready.", language)  # its dictionaries, and what the tagger does once
    gc.collect()
    gc.freeze()  # all that was imported is no business of every collection to come
    let_go_of_code()
    return english


def _reply(english: English, body: bytes) -> dict[str, Any]:
    try:
        request = decode(body)
        return {"words": english.words(request["text"], request["language"], request["given"])}
    except Exception as error:  # whatever a text does to the libraries ends its own request only
        # The message may quote the text, which belongs in no log: say where instead.
        place = traceback.extract_tb(error.__traceback__)[-1]
        return {"error": f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"}


def _bodies(stream: BinaryIO) -> Iterator[bytes]:
    """Messages until the other end is gone, even in the midst of one."""
    while len(header := stream.read(HEADER.size)) == HEADER.size:
        (length,) = HEADER.unpack(header)
        if len(body := stream.read(length)) < length:
            return
        yield body


def _take_over_streams() -> tuple[BinaryIO, BinaryIO]:
    """The pipes; whatever a library prints goes to standard error, and nothing reads standard input.

    uvloop hands down every descriptor that may be inherited: a server's sockets must not live on here.
    """
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def _die_with(parent: int) -> bool:
    """Ask Linux to kill this process when its parent dies. False if it has died already.

    Elsewhere the closed pipe alone ends it, after the request under way.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    return os.getppid() == parent


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.exit(0)  # nobody is there to hear it
