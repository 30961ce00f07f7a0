"""The seam that every engine under comparison stands behind, and the list of them.

An engine runs in a process of its own, in the environment it needs (`Row.environment`); `benchmarks.worker` is that
process. A module of this package imports its engine's libraries in `prepare` and `load` only, so that listing the
engines takes none of them.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

Environment = Literal["serving", "reference"]


class Baseline(ABC):
    """One way to make speech of phonemes; rtvoice's own stands behind the same interface as what it is compared with.

    Args:
        cache: where files made by `prepare` lie.
        threads: cores the process is confined to. An engine that sizes itself may be told; a default is left alone.
    """

    def __init__(self, cache: Path, threads: int) -> None:
        self.cache = cache
        self.threads = threads

    def prepare(self) -> None:  # noqa: B027 - most engines have nothing to prepare
        """Make what `load` reads, once, in a process that is not measured. Does nothing where it is made already."""

    @abstractmethod
    def load(self) -> None:
        """Get ready to speak. Measured as the load time."""

    @abstractmethod
    def speak(self, phonemes: str, style: NDArray[np.float32], speed: float) -> NDArray[np.float32]:
        """Synthesise one sentence.

        Args:
            phonemes: of the model's vocabulary, at most 510.
            style: the voice's row for that number of phonemes, [1, 256].
            speed: factor on the pace.

        Returns:
            Mono samples at 24 kHz, [N].
        """

    def stream(self, phonemes: str, style: NDArray[np.float32], speed: float) -> Iterator[NDArray[np.float32]]:
        """Synthesise one sentence as `speak` does, and give samples as soon as they are there: here, all at once."""
        yield self.speak(phonemes, style, speed)

    def release(self) -> None:  # noqa: B027 - engines that nobody releases need not know how
        """Let go of what `load` took; it may be called again afterwards. Does nothing where that was not written."""

    @property
    def at_once(self) -> int:
        """Sentences that it speaks side by side, from as many threads."""
        return 1

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that `load` reads, beside libraries. There once `prepare` has run."""
        return ()

    def versions(self) -> Mapping[str, str]:
        """The libraries that make the difference, and their versions; `precision`, where it may not be float32."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a table: an engine and how it is set up.

    Attributes:
        name: how it is called on a command line and in results.
        label: how it is called in a table.
        environment: which interpreter it runs in.
        target: `module:class` of its `Baseline`, in this package.
        options: keyword arguments of the class.
        caveat: what makes it another thing than Kokoro-82M with the float32 weights of the other rows.
    """

    name: str
    label: str
    environment: Environment
    target: str
    options: Mapping[str, Any]
    caveat: str = ""

    def baseline(self, cache: Path, threads: int) -> Baseline:
        """Make the engine, not yet loaded."""
        module, name = self.target.split(":")
        made: Baseline = getattr(importlib.import_module(f"{__name__}.{module}"), name)(cache, threads, **self.options)
        return made


ROWS = {
    row.name: row
    for row in (
        Row(
            name="pytorch-eager",
            label="PyTorch eager (kokoro)",
            environment="reference",
            target="pytorch:PyTorchEager",
            options={},
        ),
        Row(
            name="onnxruntime-default",
            label="ONNX Runtime, default",
            environment="reference",
            target="onnx_runtime:OnnxRuntime",
            options={"model": "float32"},
        ),
        Row(
            name="onnxruntime-sized",
            label="ONNX Runtime, sized",
            environment="reference",
            target="onnx_runtime:OnnxRuntime",
            options={"model": "float32", "sized": True},
        ),
        Row(
            name="onnxruntime-int8",
            label="ONNX Runtime, int8 file",
            environment="reference",
            target="onnx_runtime:OnnxRuntime",
            options={"model": "int8"},
            caveat="computes in int8, not with the float32 weights of the others",
        ),
        Row(
            name="openvino-default",
            label="OpenVINO, default, as traced",
            environment="reference",
            target="traced:TracedOpenVino",
            options={},
        ),
        Row(
            name="openvino-sized",
            label="OpenVINO, sized, as traced",
            environment="reference",
            target="traced:TracedOpenVino",
            options={"sized": True, "cached": True, "streams": True},
        ),
        Row(
            name="kokoro-onnx",
            label="kokoro-onnx",
            environment="reference",
            target="kokoro_onnx:KokoroOnnx",
            options={},
        ),
        Row(
            name="piper",
            label="Piper, medium voice",
            environment="reference",
            target="piper:Piper",
            options={},
            caveat="another, much smaller model (63 MB), with a voice of its own",
        ),
        Row(
            name="rtvoice",
            label="rtvoice",
            environment="serving",
            target="own:Own",
            options={"sliced": True},
        ),
        Row(
            name="rtvoice-f32",
            label="rtvoice, float32 throughout",
            environment="serving",
            target="own:Own",
            options={"sliced": True, "precision": "f32"},
        ),
        Row(
            name="rtvoice-exact",
            label="rtvoice, exact form",
            environment="serving",
            target="own:Own",
            options={"sliced": False},
        ),
    )
}
"""Every engine, in the order of a table's rows. The first is what ratios are taken to."""

STEPS = {
    row.name: row
    for row in (
        Row(
            name="openvino-threads",
            label="OpenVINO, as many threads as cores, as traced",
            environment="reference",
            target="traced:TracedOpenVino",
            options={"sized": True},
        ),
        Row(
            name="openvino-cached",
            label="OpenVINO, the same with a compile cache, as traced",
            environment="reference",
            target="traced:TracedOpenVino",
            options={"sized": True, "cached": True},
        ),
    )
}
"""What lies between `openvino-default` and `openvino-sized`, one step after the other."""


def find_row(name: str) -> Row:
    """The engine, or the step, of that name."""
    return ROWS.get(name) or STEPS[name]
