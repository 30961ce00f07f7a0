"""What decoder and generator multiply: float32, or bfloat16 where this machine multiplies that faster.

A processor says whether it has products of bfloat16. How much faster they are here is measured once, by a product as
the generator makes them, and kept in the cache for each kind of machine when a model is built there.
"""

from __future__ import annotations

import functools
import json
import math
import time
from typing import TYPE_CHECKING, Final

from rtvoice.speech.files import explained, write_atomically
from rtvoice.speech.machine import this_machine

if TYPE_CHECKING:
    from pathlib import Path

    from rtvoice.config import Precision, PrecisionChoice

_FLAGS: Final = frozenset({"avx512_bf16", "amx_bf16"})
"""Of processors with products of bfloat16 that are summed in float32, as Linux names them."""

_WORTH: Final = 1.15
"""How many times as fast as those of float32 such products must be, to make up for the noise they leave."""

_MATRICES, _ROWS, _CHANNELS = 16, 64, 256
"""A product as the generator makes them, fewer at once."""

_RUNS: Final = 7


def choose_precision(wanted: PrecisionChoice, cache: Path) -> Precision:
    """Return what is wanted; for "auto", bfloat16 if it is worth it on this machine.

    Blocks for a tenth of a second where nothing was measured yet.

    Args:
        wanted: see `rtvoice.config.EngineConfig`.
        cache: the folder where what was measured is kept.
    """
    if wanted != "auto":
        return wanted
    return "bf16" if _FLAGS & this_machine().flags and product_gain(cache) >= _WORTH else "f32"


def product_gain(cache: Path) -> float:
    """Return how many times as fast as products of float32 those of bfloat16 are here: as kept, else measured now."""
    try:
        gain = float(json.loads(_file(cache).read_bytes())["bf16_gain"])
    except (OSError, ValueError, KeyError, TypeError):
        return _measured_gain()
    return gain if 0 < gain < math.inf else _measured_gain()


def keep_product_gain(cache: Path) -> None:
    """Keep what is measured on this machine for the processes to come.

    Raises:
        SetupError: the cache cannot be written to.
    """
    with explained(cache):
        cache.mkdir(parents=True, exist_ok=True)
    told = {"machine": str(this_machine()), "bf16_gain": product_gain(cache)}
    write_atomically(_file(cache), json.dumps(told).encode())


def _file(cache: Path) -> Path:
    return cache / f"products-{this_machine().key}.json"


@functools.cache  # it does not change while the process lives
def _measured_gain() -> float:
    return _product_s("f32") / _product_s("bf16")


def _product_s(precision: Precision) -> float:
    """Return the CPU time of a product on one thread."""
    import openvino as ov
    from openvino import opset13 as op

    kind = {"f32": ov.Type.f32, "bf16": ov.Type.bf16}[precision]
    rows = op.parameter([_MATRICES, _ROWS, _CHANNELS], kind)
    kernel = op.parameter([_MATRICES, _CHANNELS, _CHANNELS], kind)
    model = ov.Model([op.matmul(rows, kernel, False, False)], [rows, kernel])
    properties = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
    compiled = ov.Core().compile_model(model, "CPU", properties)
    request, best = compiled.create_infer_request(), math.inf
    for port in compiled.inputs:
        tensor = ov.Tensor(kind, port.shape)
        tensor.data[...] = 0
        request.set_tensor(port, tensor)
    for _ in range(_RUNS):
        began = time.process_time()
        request.infer()
        best = min(best, time.process_time() - began)
    return best
