"""What each rewrite of the generator buys, and what memory its kernels cost: `python -m benchmarks.network`.

Each row is a process of its own that draws the two stages of the sliced generator in one way, runs them on noise, and
tells CPU-seconds a second of speech (best of several runs, one thread unless `--threads`) and what the process's
memory grew by, kernels included. Rewrites are added in turn; then windows and slice lengths are varied around the
default; last, where the time goes, and how much arithmetic of which layers that is.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from rtvoice.speech.slices import STAGE1_LENGTHS, STAGE2_LENGTHS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from openvino import Node

    from rtvoice.config import Precision
    from rtvoice.speech.network.fourier import Transform
    from rtvoice.speech.network.kernels import KernelInputs
    from rtvoice.speech.network.layers import Value

ROWS_A_SECOND = 80
"""Rows of the decoder's features, the unit of a slice's length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way to draw the stages.

    Attributes:
        name: what it is.
        fourier: taps of the convolutions in the Fourier domain; the others are direct.
        polynomial: whether Snake's sine is one; else it is OpenVINO's Sin.
        shared: whether kernels are inputs; else they are constants.
        precision: of the kernels.
        windows: window sizes for 3, 7 and 11 taps.
        lengths: slice lengths of both stages.
    """

    name: str
    fourier: tuple[int, ...] = (3, 7, 11)
    polynomial: bool = True
    shared: bool = True
    precision: Precision = "f32"
    windows: tuple[int, int, int] = (8, 16, 32)
    lengths: tuple[int, int] = (STAGE1_LENGTHS[-1], STAGE2_LENGTHS[-1])


REWRITES = (
    Variant(name="direct convolutions, Sin", fourier=(), polynomial=False, shared=False),
    Variant(name="+ Snake without Sin", fourier=(), shared=False),
    Variant(name="+ 11 taps in the Fourier domain", fourier=(11,), shared=False),
    Variant(name="+ 7 taps", fourier=(7, 11), shared=False),
    Variant(name="+ 3 taps", shared=False),
    Variant(name="+ kernels as shared inputs"),
    Variant(name="+ kernels of bfloat16", precision="bf16"),
)
WINDOWS = tuple(
    Variant(name=f"windows {a}, {b}, {c}", precision="bf16", windows=(a, b, c))
    for a, b, c in ((8, 16, 16), (8, 16, 24), (8, 24, 32), (16, 32, 32), (16, 32, 64))
)
LENGTHS = tuple(
    Variant(name=f"slices of {a / ROWS_A_SECOND:.2f} and {b / ROWS_A_SECOND:.2f} s", precision="bf16", lengths=(a, b))
    for a, b in ((18, 16), (48, 32), (130, 40), (258, 82), (300, 128))
)
"""The last is what a batch of two of the default would read its kernels for."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Something else than the default.

    Attributes:
        name: what it is.
        properties: OpenVINO's.
        environment: variables of the process.
    """

    name: str
    properties: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


SETTINGS = (
    Setting("denormals as zeros", {"CPU_DENORMALS_OPTIMIZATION": True}),
    Setting("bf16 throughout", {"INFERENCE_PRECISION_HINT": "bf16"}),
    Setting("pinned threads", {"ENABLE_CPU_PINNING": True}),
    Setting("TBB's static partitioner", {"TBB_PARTITIONER": "STATIC"}),
    Setting("TBB's automatic partitioner", {"TBB_PARTITIONER": "AUTO"}),
    Setting("primitives kept for lengths met before", {"CPU_RUNTIME_CACHE_CAPACITY": 5000}),
    Setting("huge pages for malloc", environment={"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}),
    Setting("one arena for malloc", environment={"MALLOC_ARENA_MAX": "1"}),
    Setting("malloc maps from 128 KB on", environment={"MALLOC_MMAP_THRESHOLD_": "131072"}),
)


@contextlib.contextmanager
def drawn_as(variant: Variant) -> Iterator[None]:
    """Draw networks the variant's way inside: swaps the functions that the stages are drawn with."""
    from openvino import opset13 as op

    from rtvoice.speech.network import kernels, sliced
    from rtvoice.speech.network.generator import DILATIONS
    from rtvoice.speech.network.layers import const

    module: Any = sliced
    snake, convolve, inputs = module.snake, module.convolve, kernels.KernelInputs.convolution
    dilation = 1  # of the convolution whose kernel was asked for last

    def with_sine(x: Value, scale: Value, shift: Value) -> Node:
        z = op.multiply(op.add(op.multiply(x, scale), shift), const(np.pi))
        wave = op.sin(z)
        return op.add(z, op.multiply(wave, wave))

    def convolution(self: KernelInputs, block: str, part: int, i: int) -> tuple[Transform, Node, Node]:
        nonlocal dilation
        dilation = DILATIONS[i] if part == 1 else 1
        conv = self._w / f"{block}.convs{part}.{i}"
        weight = conv["weight"] / self._w[f"{block}.alpha{part}.{i}"].reshape(1, -1, 1)
        taps = weight.shape[2]
        transform, bias = self._windows.of(taps), const(conv["bias"][None])
        if taps not in variant.fourier:
            return transform, const(weight[:, :, None]), bias
        if variant.shared:
            return inputs(self, block, part, i)
        return transform, const(transform.kernel(weight)), bias

    def convolved(x: Value, taken: Node, order: Node, kernel: Node, bias: Node, transform: Transform) -> Node:
        if transform.taps in variant.fourier:
            fourier: Node = convolve(x, taken, order, kernel, bias, transform)
            return fourier
        image = op.unsqueeze(op.transpose(x, const([1, 0], np.int64)), const([0, 2], np.int64))
        reach = dilation * (transform.taps // 2)  # rows stay where they are
        y = op.convolution(image, kernel, [1, 1], [0, reach], [0, reach], [1, dilation])
        return op.add(op.transpose(op.squeeze(y, const([0, 2], np.int64)), const([1, 0], np.int64)), bias)

    module.snake = snake if variant.polynomial else with_sine
    module.convolve = convolved
    kernels.KernelInputs.convolution = convolution  # type: ignore[method-assign]
    try:
        yield
    finally:
        module.snake, module.convolve = snake, convolve
        kernels.KernelInputs.convolution = inputs  # type: ignore[method-assign]


def measure(variant: Variant, threads: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Draw, compile and run a variant in this process."""
    import openvino as ov

    from rtvoice.speech.network.kernels import Windows, make_kernels
    from rtvoice.speech.network.layers import Weights
    from rtvoice.speech.network.sliced import stage1_network, stage2_network
    from rtvoice.speech.weights import load_weights

    w, windows = Weights(load_weights()), Windows(*variant.windows)
    with drawn_as(variant):
        models = [
            draw(w, length, windows, variant.precision)
            for draw, length in zip((stage1_network, stage2_network), variant.lengths, strict=True)
        ]
    before = _resident()
    taken = {port.any_name for model in models for port in model.inputs}
    made = make_kernels(w, windows, variant.precision)
    shared = {name: tensor for name, tensor in made.items() if name in taken}
    del made
    core, rng, result = ov.Core(), np.random.default_rng(0), dict[str, Any]()
    properties = {"INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": 1, "INFERENCE_NUM_THREADS": threads}
    requests = []
    for number, (model, length) in enumerate(zip(models, variant.lengths, strict=True), 1):
        compiled = core.compile_model(model, "CPU", {**properties, "PERF_COUNT": True, **settings})
        request = compiled.create_infer_request()
        fed = {}
        for port in compiled.inputs:
            if port.any_name in shared:
                request.set_tensor(port, shared[port.any_name])
            else:
                fed[port.any_name] = (0.3 * rng.standard_normal(tuple(port.shape))).astype(np.float32)
        request.infer(fed)
        best = float("inf")
        for _ in range(9):
            start = time.process_time()
            request.infer(fed)
            best = min(best, time.process_time() - start)
        seconds = length / ROWS_A_SECOND
        spent: Counter[str] = Counter()
        for node in request.profiling_info:
            spent[node.node_type] += node.real_time.total_seconds() / seconds
        result[f"stage{number}"] = best / seconds
        result[f"nodes{number}"] = {name: round(s, 4) for name, s in spent.most_common(6)}
        requests.append(request)
    del models, model
    result["memory_mb"] = _resident() - before
    return result


def _resident() -> int:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    status = Path("/proc/self/status").read_text("utf-8")
    return next(int(line.split()[1]) >> 10 for line in status.splitlines() if line.startswith("VmRSS"))


def arithmetic(variant: Variant) -> dict[str, float]:
    """Multiplications (GMAC) a second of speech of the stages' residual blocks, by form, and of a direct form."""
    from rtvoice.speech.network.kernels import Windows
    from rtvoice.speech.norms import CHANNELS

    windows, total = Windows(*variant.windows), dict.fromkeys(("direct", "products", "transforms"), 0.0)
    for stage, (channels, rate) in enumerate(zip(CHANNELS, (800, 4800), strict=True)):
        for taps in (3, 7, 11, 7 if stage == 0 else 11):
            transform, layers = windows.of(taps), 6
            products = transform.products / transform.kept * channels**2
            transforms = transform.products * (transform.size / transform.kept + 1) * channels
            total["direct"] += layers * rate * taps * channels**2 / 1e9
            total["products"] += layers * rate * products / 1e9
            total["transforms"] += layers * rate * transforms / 1e9
    return total


def measure_apart(
    variant: Variant, threads: int, settings: dict[str, Any], environment: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Do `measure` in a process of its own, with so much more in its environment."""
    request = json.dumps({"variant": _fields(variant), "threads": threads, "settings": settings})
    command = [sys.executable, "-m", "benchmarks.network", "--worker", request]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    measured: dict[str, Any] = json.loads(answer.stdout)
    return measured


def _fields(variant: Variant) -> dict[str, Any]:
    return {name: getattr(variant, name) for name in Variant.__slots__}


def _show(name: str, measured: dict[str, Any], first: float) -> float:
    both: float = measured["stage1"] + measured["stage2"]
    stages = f"{measured['stage1']:.3f} + {measured['stage2']:.3f}"
    print(
        f"{name:<42} {stages} = {both:.3f}   {(first or both) / both:4.2f}x   {measured['memory_mb']:5d} MB", flush=True
    )
    return both


def main() -> None:
    """Measure all rows and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="the rewrites alone")
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        request = json.loads(arguments.worker)
        fields: dict[str, Any] = request["variant"]
        fields = {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}
        print(json.dumps(measure(Variant(**fields), request["threads"], request["settings"])))
        return
    print("CPU-seconds a second of speech, stage 1 + stage 2; gain over the first row; memory of stages and kernels")
    results: dict[str, Any] = {}
    first = 0.0
    for variant in REWRITES + (() if arguments.quick else WINDOWS + LENGTHS):
        results[variant.name] = measure_apart(variant, arguments.threads, {})
        both = _show(variant.name, results[variant.name], first)
        first = first or both
    default = REWRITES[-1]
    for setting in () if arguments.quick else SETTINGS:
        results[setting.name] = measure_apart(default, arguments.threads, setting.properties, setting.environment)
        _show(f"default, {setting.name}", results[setting.name], first)
    work, spent = arithmetic(default), results[default.name]
    results["arithmetic"] = work
    seconds = sum(spent[f"nodes{i}"].get("MatMul", 0) + spent[f"nodes{i}"].get("FullyConnected", 0) for i in (1, 2))
    print(
        f"\nResidual blocks, GMAC a second of speech: direct {work['direct']:.1f}; here products "
        f"{work['products']:.2f} and transforms {work['transforms']:.2f}.\nMatrix products take {seconds:.3f} s of it: "
        f"{2 * (work['products'] + work['transforms']) / seconds:.0f} GFLOP/s without the rows that overlap."
    )
    for stage in (1, 2):
        print(f"stage {stage}: " + ", ".join(f"{name} {s * 1e3:.1f} ms" for name, s in spent[f"nodes{stage}"].items()))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1), "utf-8")


if __name__ == "__main__":
    main()
