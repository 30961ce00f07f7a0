"""Upstream's own checkpoint, in place of the packaged weights. Needs the extra `reference`; never used while serving.

The packaged weights are upstream's at eight bits; its checkpoint `kokoro-v1_0.pth` has all 32. Upstream's own
`kokoro.KModel` loads it, and is then compared with the file: where a part does not fit, KModel says nothing and keeps
its random initial values.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rtvoice.errors import SetupError
from rtvoice.speech import hub
from rtvoice.speech.vocabulary import config_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_UNUSED = ("bert.pooler.", "bert.embeddings.position_ids")
"""What some checkpoints hold and speech does not need."""

_FREE = (".norm.weight", ".norm.bias")
"""Scale and shift of the instance norms, which checkpoints leave out: 1 and 0."""


def locate_checkpoint(source: str, endpoint: str | None = None) -> tuple[Path, str]:
    """Find a checkpoint, on disk or on the hub.

    Args:
        source: a file, or `hexgrad/Kokoro-82M` for upstream's own, which is then downloaded and checked.
        endpoint: the hub's address; None leaves it to huggingface_hub and its settings.

    Returns:
        The file, and its identity: the first 16 digits of its SHA-256.

    Raises:
        SetupError: there is no such file, it cannot be fetched, or the extra is missing.
    """
    hub.import_extra("kokoro")  # before anything is downloaded in vain
    if source == hub.REPOSITORY:
        file = hub.download(hub.CHECKPOINT, sha256=hub.CHECKPOINT_SHA256, endpoint=endpoint)
        return file, hub.CHECKPOINT_SHA256[:16]
    file = Path(source)
    if not file.is_file():
        raise SetupError(f"There is no checkpoint {source}: it is a file, or {hub.REPOSITORY} for upstream's own.")
    return file, hub.digest(file)[:16]


def load_checkpoint(file: Path) -> dict[str, NDArray[np.float32]]:
    """Read a checkpoint in the form of upstream's `kokoro-v1_0.pth`.

    Returns:
        The same arrays as `rtvoice.speech.weights.load_weights`: same names, shapes and layout, weight norm folded.

    Raises:
        SetupError: the extra is missing, or this is not a checkpoint of Kokoro-82M.
    """
    stored = _stored(file)
    loaded = _loaded_by_upstream(file)
    _compare(file, stored, loaded)
    folded = _fold(loaded)
    if wrong := [name for name, array in folded.items() if not np.isfinite(array).all()]:
        raise SetupError(f"{file} holds numbers that are not finite, in {wrong[0]}.")
    return {name: np.ascontiguousarray(folded[name], np.float32) for name in sorted(folded)}


def _stored(file: Path) -> dict[str, NDArray[Any]]:
    """What is in the file: a dictionary of the network's parts, each a dictionary of tensors."""
    parts = hub.load_tensors(file)
    if not isinstance(parts, dict) or not all(isinstance(part, dict) for part in parts.values()):
        raise SetupError(f"{file} is no checkpoint of Kokoro-82M: its parts are missing.")
    return {
        f"{part}.{key.removeprefix('module.')}": tensor.numpy()
        for part, tensors in parts.items()
        for key, tensor in tensors.items()
        if not f"{part}.{key.removeprefix('module.')}".startswith(_UNUSED)
    }


def _loaded_by_upstream(file: Path) -> dict[str, NDArray[np.float32]]:
    kokoro = hub.import_extra("kokoro")
    config = json.loads(config_file().read_text("utf-8"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's, about how upstream is written
        try:
            model = kokoro.KModel(hub.REPOSITORY, config=config, model=str(file))
        except (AssertionError, RuntimeError, AttributeError) as error:
            reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
            raise SetupError(f"{file} is no checkpoint of Kokoro-82M: {reason[0]}") from error
    return {name: tensor.numpy() for name, tensor in model.state_dict().items() if not name.startswith(_UNUSED)}


def _compare(file: Path, stored: Mapping[str, NDArray[Any]], loaded: Mapping[str, NDArray[np.float32]]) -> None:
    """Refuse a checkpoint that did not fill the network, or that says what our networks do not compute."""
    if missing := [name for name in loaded if name not in stored and not name.endswith(_FREE)]:
        raise SetupError(f"{file} is no complete checkpoint of Kokoro-82M: it lacks {missing[0]}.")
    if unknown := [name for name in stored if name not in loaded]:
        raise SetupError(f"{file} is no checkpoint of Kokoro-82M: {unknown[0]} is no part of it.")
    for name, array in stored.items():
        if not np.array_equal(array, loaded[name], equal_nan=True):
            raise SetupError(f"{file} is no checkpoint of Kokoro-82M: {name} has another shape.")
    for name, array in loaded.items():
        if _is_of_instance_norm(name, loaded) and not np.all(array == (1 if name.endswith("weight") else 0)):
            raise SetupError(f"{file} scales the instance norms ({name}), which Kokoro-82M does not.")


def _is_of_instance_norm(name: str, loaded: Mapping[str, NDArray[np.float32]]) -> bool:
    """Instance norms lie beside the linear layer that makes their style: `norm` beside `fc`."""
    return name.endswith(_FREE) and f"{name.rpartition('.norm.')[0]}.fc.weight" in loaded


def _fold(loaded: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[np.float32]]:
    """Give each convolution its weight: g * v / |v|, the norm over all axes but the first; a filter of zeros stays."""
    folded: dict[str, NDArray[np.float32]] = {}
    for name, array in loaded.items():
        if name.endswith("weight_g") or _is_of_instance_norm(name, loaded):
            continue
        if name.endswith("weight_v"):
            norm = np.sqrt(np.square(array, dtype=np.float64).sum(axis=tuple(range(1, array.ndim)), keepdims=True))
            scale = loaded[name.removesuffix("v") + "g"] / np.where(norm > 0, norm, 1.0)
            folded[name.removesuffix("_v")] = (array * scale).astype(np.float32)
        else:
            folded[name] = array
    return folded
