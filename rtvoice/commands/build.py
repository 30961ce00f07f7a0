"""`rtvoice build`: make the model before it is needed."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING

from rtvoice.commands.options import add_command, add_common, add_precision, count, paths_of
from rtvoice.commands.progress import ProgressBar
from rtvoice.config import EngineConfig

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from rtvoice.commands.options import Commands
    from rtvoice.config import Paths, PrecisionChoice
    from rtvoice.speech.build import BuiltModel

_MANUAL = """\
Build the model, measure this machine with it and compile it, so that `rtvoice serve` starts in a second or two. The
first `serve` or `say` does the same by itself; a container image or a service does it ahead of time. What is there and
whole is left as it is. Weights come with the installation; nothing is downloaded, unless a checkpoint is.

examples:
  rtvoice build                                    once after installing
  rtvoice build --force --clean                    once more, and remove what other versions built
  rtvoice build --measure                          on a machine that was busy when its speed was measured
  rtvoice build --checkpoint kokoro-v1_0.pth       from a checkpoint on disk, in 32 bits
  rtvoice build --checkpoint hexgrad/Kokoro-82M    from upstream's, fetched from the hub and checked

A checkpoint is read by upstream's own code, in an environment with the extra: pip install 'rtvoice[reference]'. The
model it gives is served from any environment that has the same rtvoice and the same OpenVINO.
"""


def add_parser(commands: Commands) -> None:
    """Describe the command."""
    parser = add_command(commands, "build", "build the model before it is needed", _MANUAL)
    parser.add_argument(
        "--checkpoint",
        metavar="FILE|REPOSITORY",
        help="build from upstream's checkpoint instead of the packaged weights",
    )
    parser.add_argument("--force", action="store_true", help="build even if a whole model is there")
    parser.add_argument("--measure", action="store_true", help="measure again how fast this machine is")
    parser.add_argument("--clean", action="store_true", help="then remove all other models from the cache")
    parser.add_argument("--streams", type=count, metavar="N", help="compile for so many sentences at once")
    parser.add_argument("--threads", type=count, metavar="N", help="compile for so many threads each")
    add_precision(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Build, compile, say where it lies."""
    from rtvoice.speech.build import remove_others, seal_compiled
    from rtvoice.speech.calibration import calibrate, read_calibration
    from rtvoice.speech.cores import find_cores

    paths = paths_of(arguments)
    began = time.monotonic()
    checkpoint, read_weights = _source(arguments.checkpoint)
    model = build_with_bar(
        paths, checkpoint, precision=arguments.precision, read_weights=read_weights, force=arguments.force
    )
    if arguments.measure or read_calibration(model.folder) is None:
        calibrate(model.folder, find_cores())
    config = EngineConfig(
        paths=paths,
        streams=arguments.streams,
        threads=arguments.threads,
        precision=arguments.precision,
        checkpoint=checkpoint,
    )
    asyncio.run(_load_once(config))
    seal_compiled(model)
    sys.stdout.write(f"The model is ready in {model.folder} ({time.monotonic() - began:.1f} s).\n")
    if checkpoint is not None:
        sys.stdout.write(f"Speak with it: rtvoice serve --checkpoint {checkpoint}\n")
    if arguments.clean:
        sys.stdout.write(f"Removed other models: {remove_others(model.folder) >> 20} MB.\n")
    return 0


def build_with_bar(
    paths: Paths,
    checkpoint: str | None,
    *,
    precision: PrecisionChoice = "auto",
    read_weights: Callable[[], Mapping[str, NDArray[np.float32]]] | None = None,
    force: bool = False,
) -> BuiltModel:
    """Do as `prepare_model`, with a progress bar on standard error if there is something to build."""
    from rtvoice.speech.calibration import prepare_model

    with ProgressBar("Building the model") as bar:
        return prepare_model(paths, checkpoint, bar.update, precision=precision, read_weights=read_weights, force=force)


def _source(checkpoint: str | None) -> tuple[str | None, Callable[[], Mapping[str, NDArray[np.float32]]] | None]:
    """The identity of a checkpoint, and what reads it; None and None for the packaged weights."""
    if checkpoint is None:
        return None, None
    from rtvoice.speech.checkpoint import load_checkpoint, locate_checkpoint

    file, identity = locate_checkpoint(checkpoint)
    return identity, lambda: load_checkpoint(file)


async def _load_once(config: EngineConfig) -> None:
    """Load the engine: what OpenVINO compiles for it is kept, and what is missing shows now."""
    from rtvoice.speech.g2p.dictionary import write_dictionaries
    from rtvoice.speech.kokoro import KokoroSynthesizer

    async with KokoroSynthesizer(config) as kokoro:
        await asyncio.to_thread(write_dictionaries, config.paths.cache)
        await kokoro.load_all()
