"""Which of the built networks an engine loads, and the pool they run in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rtvoice.speech.build import ARRAYS
from rtvoice.speech.slices import STAGE2_LENGTHS, STAGES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import openvino as ov
    from numpy.typing import NDArray

    from rtvoice.config import Precision
    from rtvoice.speech.build import BuiltModel
    from rtvoice.speech.pool import Pool

    Arrays = Mapping[str, NDArray[np.float32]]

BEFORE: Final = ("text", "prosody", "decoder")
"""What runs before the generator."""

NETWORKS: Final = (*BEFORE, *STAGES)
"""The networks that speech in slices takes."""

LATER: Final = tuple(name for name in STAGES if name not in (STAGES[0], f"stage2-{STAGE2_LENGTHS[0]}"))
"""Those of them that the first slice does not need."""

EXACT: Final = "generator"
"""What takes the place of the stages for a voice without a map of its statistics."""


def read_arrays(model: BuiltModel) -> dict[str, NDArray[np.float32]]:
    """Read the arrays that are needed beside the networks."""
    with np.load(model.folder / ARRAYS) as stored:
        return dict(stored)


def make_pool(
    model: BuiltModel,
    arrays: Arrays,
    streams: int,
    threads: int,
    *,
    networks: Collection[str] = NETWORKS,
    later: Sequence[str] = (),
) -> Pool:
    """Describe the pool in which a model's networks run.

    Args:
        model: where they lie.
        arrays: what `read_arrays` returned.
        streams: inferences at once.
        threads: of one inference.
        networks: those that are loaded, begun in this order. The exact form, if it is none of them, is loaded when it
            is first needed, with kernels of its own if the others' are not of float32.
        later: those of them that may come after the pool is entered (`Pool.load_later`).
    """
    from rtvoice.speech.pool import Pool

    def kernels() -> dict[str, ov.Tensor]:
        return _kernels(arrays, model.precision)

    def exact_kernels() -> dict[str, ov.Tensor]:
        return {} if model.precision == "f32" else _kernels(read_arrays(model), "f32")

    return Pool(
        {name: model.folder / f"{name}.xml" for name in dict.fromkeys((*networks, EXACT))},
        model.compiled,
        streams=streams,
        threads=threads,
        shared=kernels,
        later=later,
        seldom=(*BEFORE, EXACT),
        rare={} if EXACT in networks else {EXACT: exact_kernels},
    )


def _kernels(arrays: Arrays, precision: Precision) -> dict[str, ov.Tensor]:
    from rtvoice.speech.network import generator_kernels  # which loads OpenVINO

    return generator_kernels(arrays, precision)
