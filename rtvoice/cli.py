"""The command line: `rtvoice serve | say | explain | build | voices | key | doctor`."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from typing import TYPE_CHECKING

from rtvoice._version import __version__
from rtvoice.commands import build, doctor, explain, key, say, serve, voices
from rtvoice.errors import InvalidInput, RtvoiceError

if TYPE_CHECKING:
    from collections.abc import Sequence

OK, FAILED, MISUSED = 0, 1, 2
INTERRUPTED, PIPE_CLOSED = 128 + 2, 128 + 13  # as a shell reports SIGINT and SIGPIPE

_MANUAL = """\
Text to speech in real time, on plain CPUs: text in as it is being written, audio out as it is ready.

examples:
  rtvoice serve                        open the page it names and type
  rtvoice say "Hello." -o hello.wav    without a server
  rtvoice doctor                       what is here, what is missing, what to do

`rtvoice COMMAND --help` explains a command.
"""

_CODES = """\
exit codes: 0 done; 1 it failed, and standard error says why in one sentence; 2 the command or a value is not one that
is allowed; 130 interrupted.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Args:
        arguments: without the program's name; those of the process by default.
    """
    parsed = _parser().parse_args(arguments)
    parsed.own_process = arguments is None  # a command may do with it what it likes
    try:
        code: int = parsed.run(parsed)
    except RtvoiceError as error:
        if parsed.debug:
            traceback.print_exc()
        sys.stderr.write(f"rtvoice: {_sentence(error)}\n")
        return MISUSED if isinstance(error, InvalidInput) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output went away. Nothing may be written at exit, or Python complains about the same again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rtvoice",
        description=_MANUAL,
        epilog=_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"rtvoice {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for command in (serve, say, explain, build, voices, key, doctor):
        command.add_parser(commands)
    return parser


def _sentence(error: RtvoiceError) -> str:
    allowed = getattr(error, "allowed", None)
    if not allowed:
        return str(error)
    return f"{error} Allowed: {allowed if isinstance(allowed, str) else ', '.join(allowed)}."


if __name__ == "__main__":
    sys.exit(main())
