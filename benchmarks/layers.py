"""Where the time of a second of speech goes, layer by layer, and how near it is to what a core can do.

`python -m benchmarks.layers` runs every network of the built model on one thread, on what a sentence of four seconds
feeds it, and adds up OpenVINO's own times by kind of layer: arithmetic, time, operations a second, and their share of
what this core does at best in that precision, which is measured in the same run by a product of large matrices. What
does no arithmetic to speak of is bound by memory.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import openvino as ov
from openvino import opset13 as op

from benchmarks.baselines.own import own_paths
from benchmarks.machine import fingerprint
from benchmarks.table import render
from rtvoice.speech.build import ensure_model
from rtvoice.speech.networks import read_arrays
from rtvoice.speech.slices import STAGE1_LENGTHS, STAGE2_LENGTHS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtvoice.config import Precision, PrecisionChoice

ROWS_A_SECOND: Final = 80
"""Of the decoder's features, of which slices are counted."""

SECONDS, PHONEMES, FRAMES = 4.0, 62, 160
"""A sentence, as the networks before the generator see it."""

_RUNS: Final = 9
_TYPES: Final = {"f32": ov.Type.f32, "bf16": ov.Type.bf16}
_PROPERTIES: Final = {
    "INFERENCE_PRECISION_HINT": "f32",
    "INFERENCE_NUM_THREADS": 1,
    "NUM_STREAMS": 1,
    "ENABLE_CPU_PINNING": False,
    "PERF_COUNT": True,
}


@dataclass(frozen=True, slots=True)
class Group:
    """Layers of one kind in one network.

    Attributes:
        network: its name, without the length of its slices.
        kind: of layers.
        precision: of what they multiply.
        gmac: multiplications (10^9) a second of speech.
        seconds: a second of speech.
    """

    network: str
    kind: str
    precision: Precision
    gmac: float
    seconds: float

    @property
    def gflops(self) -> float:
        """Operations a second, 10^9; a multiplication and its addition are two."""
        return 2 * self.gmac / self.seconds


def kind_of(network: str, layer: str, shape: tuple[int, ...]) -> str:
    """Name the kind of a layer.

    Args:
        network: it is of.
        layer: OpenVINO's type of it.
        shape: of its output.
    """
    if layer in ("MatMul", "FullyConnected"):
        if not network.startswith("stage"):
            return "matrix products"
        return "products of the Fourier form" if len(shape) == 3 else "transforms, up-sampling, source, inverse STFT"
    if layer in ("RNNSeq", "RNNCell"):
        return "LSTM"
    if layer == "Convolution":
        return "convolutions"
    return "norms, activations, moves"


def multiplications(layer: str, inputs: list[tuple[int, ...]], output: tuple[int, ...]) -> int:
    """Count a layer's multiplications by its shapes; 0 for a layer that is bound by memory."""
    match layer:
        case "MatMul" | "FullyConnected":
            return math.prod(output) * inputs[0][-1]
        case "Convolution":  # weights [out, in, ...taps]
            return math.prod(output) * math.prod(inputs[1][1:])
        case "RNNSeq":  # data [1, T, in], weights [directions, 4 size, in], recurrent [directions, 4 size, size]
            weights = [shape for shape in inputs if (len(shape) == 3 and shape[1] == 4 * shape[-1]) or len(shape) == 3]
            steps = inputs[0][1]
            return steps * sum(math.prod(shape) for shape in weights[-2:])
    return 0


def peak_gflops(core: ov.Core, precision: Precision, size: int = 1536) -> float:
    """What one core does at best: a product of two square matrices."""
    kind = _TYPES[precision]
    a, b = (op.parameter([size, size], kind, name=name) for name in "ab")
    compiled = core.compile_model(ov.Model([op.matmul(a, b, False, False)], [a, b]), "CPU", _PROPERTIES)
    request = compiled.create_infer_request()
    for port in compiled.inputs:
        request.set_tensor(port, ov.Tensor(kind, port.shape))
    return 2 * size**3 / max(_timed(request).values()) / 1e9


def _timed(request: ov.InferRequest) -> dict[str, float]:
    """Run it some times; returns the seconds of each node that took any, in the shortest run."""
    best: dict[str, float] = {}
    for _ in range(_RUNS):
        request.infer()
        nodes = {node.node_name: node.real_time.total_seconds() for node in request.profiling_info}
        nodes = {name: seconds for name, seconds in nodes.items() if seconds > 0}
        if not best or sum(nodes.values()) < sum(best.values()):
            best = nodes
    return best


def fed(model: ov.Model) -> dict[str, list[int]]:
    """The shapes of a network's inputs for the sentence."""
    lengths = {
        "ids": [1, PHONEMES],
        "en": [FRAMES, 640],
        "asr": [FRAMES, 512],
        "f0": [2 * FRAMES],
        "energy": [2 * FRAMES],
    }
    fixed = {port.any_name: list(port.shape) for port in model.inputs if not port.partial_shape.is_dynamic}
    return lengths | fixed


def measure(core: ov.Core, file: Path, seconds: float, kernels: Mapping[str, ov.Tensor]) -> list[Group]:
    """Run a network and add up its layers.

    Args:
        core: OpenVINO.
        file: the network's.
        seconds: of speech that one run makes.
        kernels: its inputs that are shared.
    """
    model = core.read_model(file)
    shapes = fed(model)
    model.reshape({port.any_name: ov.PartialShape(shapes[port.any_name]) for port in model.inputs})
    compiled = core.compile_model(model, "CPU", _PROPERTIES)
    request, rng = compiled.create_infer_request(), np.random.default_rng(0)
    for port in compiled.inputs:
        tensor = kernels.get(port.any_name)
        if tensor is None:
            tensor = ov.Tensor(port.element_type, port.shape)
            tensor.data[...] = 1 if port.any_name in ("ids", "speed") else 0.1 * rng.standard_normal(port.shape)
        request.set_tensor(port, tensor)
    times = _timed(request)
    gmac: dict[tuple[str, Precision], float] = defaultdict(float)
    spent: dict[tuple[str, Precision], float] = defaultdict(float)
    network = file.stem.split("-")[0]
    for node in compiled.get_runtime_model().get_ordered_ops():
        seconds_of_node = times.get(node.get_friendly_name(), 0.0)
        if not seconds_of_node:
            continue
        info = node.get_rt_info()
        layer, output = info["layerType"].astype(str), tuple(node.output(0).shape)
        inputs = [tuple(source.get_source_output().shape) for source in node.inputs()]
        multiplied: Precision = "bf16" if "bf16" in info["runtimePrecision"].astype(str) else "f32"
        key = kind_of(network, layer, output), multiplied
        gmac[key] += multiplications(layer, inputs, output) / seconds / 1e9
        spent[key] += seconds_of_node / seconds
    return [Group(network, *key, gmac[key], spent[key]) for key in spent]


def bound(group: Group, peak: float) -> str:
    """What keeps a group from being faster."""
    if not group.gmac or group.gflops < 0.15 * peak:
        return "memory" if group.kind != "LSTM" else "one step after the other"
    return "arithmetic" if group.gflops > 0.6 * peak else "arithmetic, and reading kernels and rows"


def summarise(groups: list[Group], peaks: Mapping[Precision, float]) -> str:
    """The table."""
    total = sum(group.seconds for group in groups)
    lines = [
        (
            group.network,
            group.kind,
            group.precision,
            f"{group.gmac:.2f}" if group.gmac else "",
            f"{1e3 * group.seconds:.1f}",
            f"{group.seconds / total:.0%}",
            f"{group.gflops:.0f}" if group.gmac else "",
            f"{group.gflops / peaks[group.precision]:.0%}" if group.gmac else "",
            bound(group, peaks[group.precision]),
        )
        for group in groups
    ]
    header = ("network", "layers", "", "GMAC", "ms", "", "GFLOP/s", "of the best", "bound by")
    best = ", ".join(f"{gflops:.0f} GFLOP/s in {precision}" for precision, gflops in peaks.items())
    return f"{render(header, lines)}\n\nA second of speech takes {1e3 * total:.0f} ms of a core, whose best is {best}."


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cache", type=Path, default=Path(".cache/benchmarks"), help="where the model is built")
    parser.add_argument("--precision", choices=("auto", "f32", "bf16"), default="auto")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    wanted: PrecisionChoice = arguments.precision
    from rtvoice.speech.network import generator_kernels

    model, core = ensure_model(own_paths(arguments.cache), precision=wanted), ov.Core()
    kernels = generator_kernels(read_arrays(model), model.precision)
    runs = {
        "text": SECONDS,
        "prosody": SECONDS,
        "decoder": SECONDS,
        f"stage1-{STAGE1_LENGTHS[-1]}": STAGE1_LENGTHS[-1] / ROWS_A_SECOND,
        f"stage2-{STAGE2_LENGTHS[-1]}": STAGE2_LENGTHS[-1] / ROWS_A_SECOND,
    }
    groups: list[Group] = []
    for name, seconds in runs.items():
        print(f"{name} ...", file=sys.stderr, flush=True)
        groups += sorted(
            measure(core, model.folder / f"{name}.xml", seconds, kernels), key=lambda group: -group.seconds
        )
    peaks = {kind: peak_gflops(core, kind) for kind in sorted({group.precision for group in groups})}
    print(summarise(groups, peaks))
    if arguments.json:
        document = {"machine": fingerprint(), "peaks": peaks, "groups": [asdict(group) for group in groups]}
        arguments.json.write_text(json.dumps(document, indent=1), "utf-8")


if __name__ == "__main__":
    main()
