"""The built model: Kokoro's networks as OpenVINO files in the user's cache, made once.

::

    <cache>/models/<key>/            the key: digest of weights, precision, the code that draws the networks, OpenVINO
        text.xml, text.bin, ...      one pair a network
        arrays.npz                   the arrays that are needed beside the networks
        manifest.json                size, time and SHA-256 of every file; its presence says that all are there
        compiled/                    OpenVINO's compile cache: *.blob, and sealed.json, which is their manifest
    <cache>/models/<key>.lock        held while building

A model is written beside its place and moved there whole, so it is complete or absent, whenever the power goes. Who
wants to build takes the lock; the second finds the first one's work. Files are compared with the manifest at every
start: sizes and times, and content where a time has changed. OpenVINO notices a blob that was cut off and compiles
again, but not one whose weights were altered, hence the seal.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from rtvoice.config import Precision
from rtvoice.errors import SetupError
from rtvoice.speech.files import explained, write_atomically
from rtvoice.speech.precision import choose_precision, keep_product_gain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from rtvoice.config import Paths, PrecisionChoice

    Weights = Mapping[str, NDArray[np.float32]]
    Progress = Callable[[float, str], None]
    """Called with the part that is done, 0 to 1, and what is being done."""

MANIFEST: Final = "manifest.json"
ARRAYS: Final = "arrays.npz"
SEAL: Final = "sealed.json"

_ROOM = 2.2
"""Room that building and then compiling take, as a multiple of the weights."""


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """A complete model on disk.

    Attributes:
        folder: holds one `.xml` and one `.bin` a network, named after it, and `arrays.npz`.
        compiled: OpenVINO's compile cache for it; exists, may be read-only.
        precision: of the kernels of its decoder and stages.
    """

    folder: Path
    compiled: Path
    precision: Precision


def ensure_model(
    paths: Paths,
    checkpoint: str | None = None,
    progress: Progress | None = None,
    *,
    precision: PrecisionChoice = "auto",
    read_weights: Callable[[], Weights] | None = None,
    force: bool = False,
) -> BuiltModel:
    """Return the built model; build it if it is not there or damaged.

    Blocks: some milliseconds if the model is there, seconds if it is to be built. A cache that can only be read is
    enough once the model is complete. Safe in any number of processes at once.

    Args:
        paths: the model lies below `paths.cache`.
        checkpoint: the identity of other weights than the packaged ones, or None for these.
        progress: told how far building has come; never called if there is nothing to build.
        precision: of the kernels of decoder and stages; "auto" chooses, and takes what there is in a cache that can
            only be read.
        read_weights: reads the checkpoint's weights; None if it must have been built before.
        force: build even if a model is there.

    Raises:
        SetupError: the weights are missing or damaged, the checkpoint has not been built, or the cache cannot be
            written to; says what to run.
    """
    model = _described(paths, checkpoint, choose_precision(precision, paths.cache))
    if not force:
        found = [model] if is_complete(model.folder) else []
        if not found and precision == "auto" and not _can_write(paths.cache):
            # built in by somebody with another machine: what it multiplies is slower here, and right
            others = (_described(paths, checkpoint, other) for other in get_args(Precision))
            found = [other for other in others if is_complete(other.folder)]
        if found:
            seal_compiled(found[0])
            return found[0]
    if checkpoint is None:
        read_weights = _packaged_weights
    elif read_weights is None:
        raise SetupError(
            f"No model is built from the checkpoint {checkpoint}, or it is of another version; "
            "run: rtvoice build --checkpoint with the file or repository it comes from"
        )
    with _lock(model.folder):
        if force or not is_complete(model.folder):  # another process may have built it while we waited
            _build(model, read_weights, progress or _silent)
            with contextlib.suppress(SetupError):  # the disk is full now: it is measured again, and the model is whole
                keep_product_gain(paths.cache)
    return model


def model_folder(paths: Paths, checkpoint: str | None = None, precision: PrecisionChoice = "auto") -> Path:
    """Where the model of these weights lies, or will; see the module for what its name is made of."""
    from rtvoice.speech import weights

    digest = hashlib.sha256()
    digest.update((checkpoint or weights.SHA256).encode())
    digest.update(choose_precision(precision, paths.cache).encode())
    digest.update(_network_code())
    digest.update(metadata.version("openvino").encode())
    return paths.cache / "models" / digest.hexdigest()[:16]


def _described(paths: Paths, checkpoint: str | None, precision: Precision) -> BuiltModel:
    folder = model_folder(paths, checkpoint, precision)
    return BuiltModel(folder, folder / "compiled", precision)


def _can_write(cache: Path) -> bool:
    there = next(folder for folder in (cache, *cache.parents) if folder.exists())
    return os.access(there, os.W_OK)


def is_complete(folder: Path, *, thorough: bool = False) -> bool:
    """Whether a model is there, whole and unaltered.

    Args:
        folder: the model's.
        thorough: read every file, even where size and time are those that were written.
    """
    manifest = _read_manifest(folder / MANIFEST)
    return bool(manifest) and all(_matches(folder / name, entry, thorough) for name, entry in manifest.items())


def remove_others(folder: Path) -> int:
    """Delete all models but this one, and what killed builds left.

    Returns:
        Bytes that became free.

    Raises:
        SetupError: the cache cannot be written to.
    """
    freed = 0
    with explained(folder.parent):
        for other in sorted(folder.parent.iterdir()) if folder.parent.is_dir() else ():
            if other.is_dir() and other != folder:
                freed += sum(file.stat().st_size for file in other.rglob("*") if file.is_file())
                shutil.rmtree(other)
    return freed


def seal_compiled(model: BuiltModel) -> None:
    """Delete compiled blobs that are not what was sealed, and seal those that are new.

    `ensure_model` does so whenever it finds a model. Call it after compiling ahead of time.
    """
    sealed = _read_manifest(model.compiled / SEAL)
    found = {}
    # A cache that can only be read keeps its blobs as they are; nobody but its maker can mend it.
    with contextlib.suppress(SetupError, OSError):
        for blob in sorted(model.compiled.glob("*.blob")):
            entry = sealed.get(blob.name)
            if entry is None:
                # OpenVINO keeps others from reading it; an image is built by one user and run by another.
                blob.chmod(0o644)
                found[blob.name] = _entry(blob)
            elif _matches(blob, entry, thorough=False):
                found[blob.name] = entry
            else:
                blob.unlink()
        if found != sealed:
            write_atomically(model.compiled / SEAL, json.dumps(found, indent=2).encode())


def _build(model: BuiltModel, read_weights: Callable[[], Weights], progress: Progress) -> None:
    folder = model.folder
    progress(0.0, "reading the weights")
    weights = read_weights()
    _remove_stale(folder)
    with explained(folder.parent):
        _check_room(folder.parent, weights)
        draft = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", suffix=".part", dir=folder.parent))
        try:
            _write_networks(draft, weights, model.precision, progress)
            (draft / "compiled").mkdir()
            draft.chmod(0o755)
            if folder.exists():
                # Nobody may mistake it for a model while it disappears.
                (folder / MANIFEST).unlink(missing_ok=True)
                shutil.rmtree(folder)
            draft.rename(folder)
            _flush(folder.parent)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
    progress(1.0, "built")


def _write_networks(draft: Path, weights: Weights, precision: Precision, progress: Progress) -> None:
    import numpy as np
    import openvino as ov

    from rtvoice.speech.network import build_networks, host_arrays

    progress(0.2, "drawing the networks")
    networks = build_networks(weights, precision)
    manifest: dict[str, dict[str, Any]] = {}
    arrays: dict[str, Any] = dict(host_arrays(weights))
    np.savez(draft / ARRAYS, **arrays)
    _enter(draft / ARRAYS, manifest)
    for number, (name, network) in enumerate(networks.items()):
        progress(0.3 + 0.7 * number / len(networks), f"writing {name}")
        try:
            ov.save_model(network, draft / f"{name}.xml", compress_to_fp16=False)
        except RuntimeError as error:  # OpenVINO does not say why
            _check_room(draft.parent, weights)
            raise SetupError(f"The model cannot be written to {draft.parent}: {error}") from error
        for file in (draft / f"{name}.xml", draft / f"{name}.bin"):
            _enter(file, manifest)
    write_atomically(draft / MANIFEST, json.dumps(manifest, indent=2).encode())


def _enter(file: Path, manifest: dict[str, dict[str, Any]]) -> None:
    """Bring a file to the disk and enter it in the manifest."""
    _flush(file)
    # Whole seconds, which archives and image layers keep: the time is in OpenVINO's key of the compiled blob.
    seconds = int(file.stat().st_mtime)
    os.utime(file, (seconds, seconds))
    manifest[file.name] = _entry(file)


def _check_room(folder: Path, weights: Weights) -> None:
    needed = int(_ROOM * sum(array.nbytes for array in weights.values()))
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise SetupError(
            f"The model takes {needed >> 20} MB in {folder}, where {free >> 20} MB are free; "
            "free some, or choose another folder with --cache-dir."
        )


def _remove_stale(folder: Path) -> None:
    """Delete what builds of this model left when they were killed. Holding the lock, we know that none is at work."""
    for draft in folder.parent.glob(f"{folder.name}-*.part"):
        shutil.rmtree(draft, ignore_errors=True)


def _matches(file: Path, entry: Mapping[str, Any], thorough: bool) -> bool:
    try:
        status = file.stat()
        if status.st_size != entry["size"]:
            return False
        if status.st_mtime_ns == entry["mtime_ns"] and not thorough:
            return True
        return bool(_entry(file)["sha256"] == entry["sha256"])
    except (OSError, KeyError):
        return False


def _entry(file: Path) -> dict[str, Any]:
    status = file.stat()
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "sha256": digest}


def _read_manifest(file: Path) -> dict[str, dict[str, Any]]:
    """Read a manifest; empty if there is none, or none that can be read."""
    try:
        manifest = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) and all(isinstance(e, dict) for e in manifest.values()) else {}


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Hold the model's lock; the kernel gives it back if we die."""
    with explained(folder.parent):
        folder.parent.mkdir(parents=True, exist_ok=True)
        file = (folder.parent / f"{folder.name}.lock").open("w")
        fcntl.flock(file, fcntl.LOCK_EX)
    with file:
        yield


def _flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@functools.cache
def _network_code() -> bytes:
    """A digest of the code that draws the networks: whoever changes it gets new models without thinking of it."""
    folder = resources.files("rtvoice.speech") / "network"
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".py"):
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.digest()


def _packaged_weights() -> Weights:
    from rtvoice.speech.weights import load_weights

    return load_weights()


def _silent(_done: float, _what: str) -> None:
    """Tell nobody."""
