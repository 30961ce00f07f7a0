"""`rtvoice key`: make an API key."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rtvoice.commands.options import add_command, add_common

if TYPE_CHECKING:
    import argparse

    from rtvoice.commands.options import Commands

_MANUAL = """\
Make an API key. The key goes to standard error, to be given to its holder and kept nowhere; its line for the file of
keys, which holds only a hash, to standard output.

example:
  rtvoice key alice >> keys.txt
  rtvoice serve --keys keys.txt

To take a key back, remove its line and start the server again.
"""


def add_parser(commands: Commands) -> None:
    """Describe the command."""
    parser = add_command(commands, "key", "make an API key", _MANUAL)
    parser.add_argument("name", help="whose it is: letters, digits and . _ @ -, at most 64; shown in logs")
    add_common(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Make a key."""
    from rtvoice.serving.access import make_key

    key, line = make_key(arguments.name)
    sys.stderr.write(f"{key}\n")
    sys.stdout.write(f"{line}\n")
    return 0
