"""How long the networks take on this machine: measured once, when the model is built, and kept beside it.

It takes a few seconds: each network runs on one thread, the shortest slice of stage 2 also on more. Slices of other
lengths lie between the shortest and the longest. Each kind of machine has a file of its own in the model's folder, so
that a cache may be shared; a file that cannot be read counts as none. Without one the engine begins with a guess
(`rtvoice.speech.costs`) and learns from what it runs.
"""

from __future__ import annotations

import json
import math
import time
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rtvoice.errors import SetupError
from rtvoice.speech import build
from rtvoice.speech.cores import find_cores
from rtvoice.speech.costs import Calibration, Cost
from rtvoice.speech.files import write_atomically
from rtvoice.speech.machine import this_machine
from rtvoice.speech.slices import STAGE1_LENGTHS, STAGE2_LENGTHS, STAGES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import openvino as ov

    from rtvoice.config import Paths, PrecisionChoice
    from rtvoice.speech.build import BuiltModel, Progress, Weights
    from rtvoice.speech.cores import Cores

_BEFORE: Final = {"text": (24, 120), "prosody": (60, 300), "decoder": (60, 300)}
"""The networks before the generator, and the phonemes or frames they are measured at: of speech of 1.5 and 7.5 s."""

_ROWS: Final = {"f0": 2, "energy": 2}
"""Rows of inputs that have more than one for each frame."""

_RUNS: Final = 3
"""The best of so many runs counts, after one that does not."""

_THREADS: Final = (2, 4)
"""Numbers of threads that are tried beside one."""

_BUSY: Final = 1.2
"""How many times its CPU time an inference on one thread takes where others use the cores: then more tell nothing."""


def calibration_file(folder: Path) -> Path:
    """Where the calibration of this kind of machine lies, or will, in a model's folder."""
    return folder / f"calibration-{this_machine().key}.json"


def read_calibration(folder: Path) -> Calibration | None:
    """Read what was measured for a model on this kind of machine; None if nothing was, or it cannot be read."""
    try:
        stored = json.loads(calibration_file(folder).read_bytes())
        costs = {
            str(name): Cost(float(cost["fixed_s"]), float(cost["each_s"])) for name, cost in stored["costs"].items()
        }
        speedups = {int(threads): float(times) for threads, times in stored["speedups"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    sound = all(0 < cost.fixed_s < math.inf and 0 <= cost.each_s < math.inf for cost in costs.values())
    sound &= all(threads >= 1 and 0 < times < math.inf for threads, times in speedups.items())
    return Calibration(costs, speedups) if sound and costs.keys() == {*_BEFORE, *STAGES} else None


def calibrate(folder: Path, cores: Cores) -> Calibration:
    """Measure this machine with a built model, and keep what was found if the folder can be written to.

    Blocks for some seconds, and takes the memory of the networks meanwhile; not while somebody listens.

    Args:
        folder: the model's.
        cores: what the process may use.

    Raises:
        SetupError: the model does not load.
    """
    try:
        calibration = _measure(folder, cores)
    except RuntimeError as error:
        raise SetupError(f"the built model does not load ({error}); run `rtvoice build --force`") from error
    with suppress(SetupError):  # a cache that can only be read: measured again when somebody asks again
        data: dict[str, Any] = {"machine": str(this_machine()), **asdict(calibration)}
        write_atomically(calibration_file(folder), json.dumps(data, indent=2).encode())
    return calibration


def prepare_model(
    paths: Paths,
    checkpoint: str | None = None,
    progress: Progress | None = None,
    *,
    precision: PrecisionChoice = "auto",
    read_weights: Callable[[], Weights] | None = None,
    force: bool = False,
) -> BuiltModel:
    """Do as `build.ensure_model`. Whoever has to build also calibrates, so that nobody else waits for it."""
    built = False

    def told(done: float, what: str) -> None:
        nonlocal built
        built = True
        if progress is not None:
            progress(done, what)

    model = build.ensure_model(paths, checkpoint, told, precision=precision, read_weights=read_weights, force=force)
    if built:
        told(1.0, "measuring this machine")
        calibrate(model.folder, find_cores())
        told(1.0, "built and measured")
    return model


def _measure(folder: Path, cores: Cores) -> Calibration:
    bench = _Bench(folder)
    costs = {name: _line(sizes, [bench.run(name, size).cpu_s for size in sizes]) for name, sizes in _BEFORE.items()}
    for stage, lengths in (("stage1", STAGE1_LENGTHS), ("stage2", STAGE2_LENGTHS)):
        ends = lengths[-1], lengths[0]
        line = _line(ends, [bench.run(f"{stage}-{length}").cpu_s for length in ends])
        costs |= {f"{stage}-{length}": Cost(line.of(length)) for length in lengths}
    return Calibration(costs, _speedups(bench, f"stage2-{STAGE2_LENGTHS[0]}", cores.usable))


def _speedups(bench: _Bench, network: str, cores: int) -> dict[int, float]:
    alone = bench.run(network)
    if alone.wall_s > _BUSY * alone.cpu_s:
        return {}
    tried = (threads for threads in _THREADS if threads <= cores)
    found = {threads: alone.wall_s / bench.run(network, threads=threads).wall_s for threads in tried}
    # slower on more threads: somebody has come meanwhile
    return found if all(times >= 1 for times in found.values()) else {}


def _line(sizes: tuple[int, int], seconds: list[float]) -> Cost:
    """The line through two measurements that scatter: neither its slope nor what it is at 0 is negative."""
    (small, small_s), (large, large_s) = sorted(zip(sizes, seconds, strict=True))
    each_s = max(0.0, (large_s - small_s) / (large - small))
    return Cost(max(1e-6, small_s - each_s * small), each_s)


class _Took(NamedTuple):
    """What an inference takes: CPU time, which others do not lengthen, and time by the clock."""

    cpu_s: float
    wall_s: float


class _Bench:
    """Runs networks on numbers without meaning."""

    def __init__(self, folder: Path) -> None:
        import openvino as ov

        self._core, self._folder = ov.Core(), folder
        self._arrays: dict[tuple[str, tuple[int, ...]], ov.Tensor] = {}  # which networks share, kernels above all
        self._compiled: tuple[tuple[str, int], ov.CompiledModel] | None = None  # the last

    def run(self, network: str, size: int = 0, *, threads: int = 1) -> _Took:
        """Run a network; `size`: phonemes or frames, of networks of any shape."""
        model = self._model(network, threads)
        request = model.create_infer_request()
        for port in model.inputs:
            request.set_tensor(port, self._input(port, size))
        request.infer()
        took = []
        for _ in range(_RUNS):
            cpu, wall = time.process_time(), time.perf_counter()
            request.infer()
            took.append(_Took(time.process_time() - cpu, time.perf_counter() - wall))
        return _Took(min(each.cpu_s for each in took), min(each.wall_s for each in took))

    def _model(self, network: str, threads: int) -> ov.CompiledModel:
        if self._compiled is None or self._compiled[0] != (network, threads):
            self._compiled = None  # two at once are not needed
            properties = {
                "INFERENCE_PRECISION_HINT": "f32",
                "NUM_STREAMS": 1,
                "INFERENCE_NUM_THREADS": threads,
                "ENABLE_CPU_PINNING": False,
            }
            model = self._core.compile_model(self._folder / f"{network}.xml", "CPU", properties)
            self._compiled = (network, threads), model
        return self._compiled[1]

    def _input(self, port: ov.Output, size: int) -> ov.Tensor:
        import openvino as ov

        rows = _ROWS.get(port.any_name, 1) * size
        shape = tuple(rows if each.is_dynamic else each.get_length() for each in port.partial_shape)
        key = (port.any_name, shape)
        if key not in self._arrays:
            self._arrays[key] = ov.Tensor(port.element_type, shape)
            _fill(self._arrays[key])
        return self._arrays[key]


def _fill(tensor: ov.Tensor) -> None:
    """Write something near 1 into every element, so that memory is really there and no number is denormal."""
    import openvino as ov

    if tensor.element_type == ov.Type.bf16:
        tensor.data.view(np.uint16)[...] = 0x3C00
    else:
        tensor.data[...] = 1 if tensor.element_type == ov.Type.i64 else 0.01
