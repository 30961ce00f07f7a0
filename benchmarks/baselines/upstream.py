"""Upstream's own model, `kokoro.KModel`, with rtvoice's weights in it. Needs the extra `reference`."""

from __future__ import annotations

import io
import json
import tempfile
from typing import TYPE_CHECKING, Any

import torch
from kokoro import KModel
from torch import Tensor

from rtvoice.speech.files import write_atomically
from rtvoice.speech.vocabulary import config_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

REPOSITORY = "hexgrad/Kokoro-82M"


def write_checkpoint(weights: Mapping[str, NDArray[np.float32]], path: Path) -> None:
    """Write named arrays as a checkpoint in the form of upstream's `kokoro-v1_0.pth`, atomically.

    That is a dictionary of state dictionaries, one a part of the model, whose keys begin with `module.` - upstream
    drops those seven characters whenever a part does not load strictly, whether they are there or not. Convolutions
    are split into norm and direction again: w = g * v / |v|. A filter of zeros gets norm 0 and any direction, because
    0 / |0| would be no number.

    Args:
        weights: as `rtvoice.speech.weights.load_weights` returns them. What they lack (ALBERT's pooler, never used,
            and the affine parameters of instance norms, 1 and 0) is left as the model makes it.
        path: the file to write.

    Raises:
        ValueError: a name or a shape is none of upstream's model.
    """
    template = _empty_model().state_dict()
    for name, array in weights.items():
        for key, value in _split(name, torch.tensor(array), template).items():
            if template[key].shape != value.shape:
                raise ValueError(f"{key} has the shape {list(value.shape)}; upstream's is {list(template[key].shape)}")
            template[key] = value
    checkpoint: dict[str, dict[str, Tensor]] = {}
    for name, value in template.items():
        part, rest = name.split(".", 1)
        checkpoint.setdefault(part, {})[f"module.{rest}"] = value.clone()
    buffer = io.BytesIO()
    torch.save(checkpoint, buffer)
    write_atomically(path, buffer.getvalue())


def load_model(checkpoint: Path, *, disable_complex: bool = False) -> KModel:
    """Load upstream's model from a checkpoint file, ready to infer.

    Args:
        checkpoint: the file. Without one, upstream would download.
        disable_complex: take the inverse STFT made for tracing. Its audio is off; the default's is right.
    """
    return KModel(REPOSITORY, config=_config(), model=str(checkpoint), disable_complex=disable_complex).eval()


def _split(name: str, value: Tensor, template: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """One parameter, under the key or the keys that upstream keeps it."""
    if name in template:
        return {name: value}
    if f"{name}_v" not in template:
        raise ValueError(f"{name} is no parameter of upstream's model")
    norm = torch.linalg.vector_norm(value, dim=tuple(range(1, value.ndim)), keepdim=True)
    direction = torch.where(norm > 0, value, torch.ones_like(value))
    return {f"{name}_g": norm, f"{name}_v": direction}


def _empty_model() -> KModel:
    """Upstream's model as it is made, before weights: a checkpoint of no parts loads into it."""
    with tempfile.NamedTemporaryFile(suffix=".pth") as file:
        torch.save({}, file.name)
        return KModel(REPOSITORY, config=_config(), model=file.name)


def _config() -> dict[str, Any]:
    config: dict[str, Any] = json.loads(config_file().read_text("utf-8"))
    return config
