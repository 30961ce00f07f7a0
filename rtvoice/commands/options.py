"""Options that several commands have, and how their values are read."""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from rtvoice.config import MAX_PAUSE_MS, MAX_SPEED, MIN_SPEED, Paths, PrecisionChoice
from rtvoice.paths import default_paths

if TYPE_CHECKING:
    from collections.abc import Callable

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - it has no public name


def add_command(commands: Commands, name: str, summary: str, manual: str) -> argparse.ArgumentParser:
    """Add a command. `manual`: what its `--help` shows below the usage, line for line."""
    return commands.add_parser(
        name,
        help=summary,
        description=manual,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options that all commands have; last, so that `--help` shows them last."""
    group = parser.add_argument_group("options that every command has")
    group.add_argument("--cache-dir", type=Path, metavar="DIR", help="where the built model lies")
    group.add_argument("--data-dir", type=Path, metavar="DIR", help="where added voices lie")
    group.add_argument("--debug", action="store_true", help="show where in the program an error came from")


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how an engine is made."""
    group = parser.add_argument_group("the engine")
    group.add_argument(
        "--streams", type=count, metavar="N", help="sentences synthesised at once (default: fits this machine)"
    )
    group.add_argument("--threads", type=count, metavar="N", help="threads for each of them (default: likewise)")
    add_precision(group)
    group.add_argument(
        "--checkpoint",
        metavar="ID",
        help="use the model that `rtvoice build --checkpoint` built under this identity",
    )


def add_precision(options: argparse._ActionsContainer) -> None:
    """Add the option that says how the generator multiplies."""
    options.add_argument(
        "--precision",
        choices=get_args(PrecisionChoice),
        default="auto",
        help="of what decoder and generator multiply (default: auto, bf16 where this machine multiplies it faster)",
    )


def paths_of(arguments: argparse.Namespace) -> Paths:
    """The folders: as the options say, else as XDG does."""
    paths = default_paths(os.environ)
    return Paths(cache=arguments.cache_dir or paths.cache, data=arguments.data_dir or paths.data)


def count(text: str) -> int:
    """Read a whole number of at least 1."""
    return _whole(text, 1, None)


def port(text: str) -> int:
    """Read a port: 0, which is any free one, to 65,535."""
    return _whole(text, 0, 65_535)


def seed(text: str) -> int:
    """Read a seed: 32 bits."""
    return _whole(text, 0, 2**32 - 1)


def seconds(text: str) -> float:
    """Read a duration of at least 0 seconds."""
    return _number(text, lambda value: value >= 0, "a number of seconds, 0 or more")


def pause(text: str) -> float:
    """Read a pause between two sentences, in seconds."""
    most = MAX_PAUSE_MS / 1000
    return _number(text, lambda value: 0 <= value <= most, f"a number of seconds from 0 to {most:.0f}")


def seconds_or_off(text: str) -> float | None:
    """Read a duration of at least 0 seconds, or `off`, which is None."""
    if text == "off":
        return None
    return _number(text, lambda value: value >= 0, "a number of seconds, 0 or more, or off")


def price(text: str) -> float:
    """Read a price: 0 or more."""
    return _number(text, lambda value: value >= 0, "a price, 0 or more")


def speed(text: str) -> float:
    """Read a factor on the pace."""
    return _number(text, lambda value: MIN_SPEED <= value <= MAX_SPEED, f"a number from {MIN_SPEED} to {MAX_SPEED}")


def _whole(text: str, least: int, most: int | None) -> int:
    allowed = f"a whole number, {least} or more" if most is None else f"a whole number from {least} to {most}"
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least or (most is not None and value > most):
        raise argparse.ArgumentTypeError(f"{text!r} is not {allowed}")
    return value


def _number(text: str, fits: Callable[[float], bool], allowed: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or not fits(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not {allowed}")
    return value
