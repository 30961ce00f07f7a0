"""ONNX Runtime, on the float32 model exported from PyTorch and on the int8 file the default weights come from."""

from __future__ import annotations

import importlib.metadata
import io
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from benchmarks.baselines import Baseline
from rtvoice.speech.files import write_atomically
from rtvoice.speech.vocabulary import ids
from rtvoice.speech.weights import find_parts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray


class OnnxRuntime(Baseline):
    """A session of ONNX Runtime.

    Args:
        cache: as for every baseline.
        threads: as for every baseline.
        model: which file to run: `float32` or `int8`.
        sized: tell it how many threads to take, and not to spin while they wait; else its options are the default ones
            and it sizes itself by the cores it sees.
    """

    _session: Any

    def __init__(self, cache: Path, threads: int, *, model: Literal["float32", "int8"], sized: bool = False) -> None:
        super().__init__(cache, threads)
        self._float32 = model == "float32"
        self._sized = sized
        self.path = cache / f"kokoro.{model}.onnx"

    def prepare(self) -> None:
        if self.path.exists():
            return
        if self._float32:
            write_atomically(self.path, _exported(self.cache))
        else:
            write_atomically(self.path, b"".join(part.read_bytes() for part in find_parts()))

    def load(self) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        if self._sized:
            options.intra_op_num_threads = self.threads
            options.inter_op_num_threads = 1
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(self.path, options, providers=["CPUExecutionProvider"])

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    def speak(self, phonemes: str, style: NDArray[np.float32], speed: float) -> NDArray[np.float32]:
        names = [given.name for given in self._session.get_inputs()]  # the two files differ in names, not in order
        inputs = (np.array([ids(phonemes)], np.int64), style, np.array([speed], np.float32))
        samples: NDArray[np.float32] = self._session.run(None, dict(zip(names, inputs, strict=True)))[0].reshape(-1)
        return samples

    def versions(self) -> Mapping[str, str]:
        return {"onnxruntime": importlib.metadata.version("onnxruntime")}


def _exported(cache: Path) -> bytes:
    """Export upstream's model with PyTorch's tracing exporter, for any number of phonemes."""
    import torch
    from kokoro.model import KModelForONNX

    from benchmarks.baselines.pytorch import PyTorchEager
    from benchmarks.baselines.upstream import load_model

    baseline = PyTorchEager(cache, 1)
    baseline.prepare()
    # The default's inverse STFT is of complex numbers, which the exporter does not know.
    model = KModelForONNX(load_model(baseline.checkpoint, disable_complex=True)).eval()
    exported = io.BytesIO()
    torch.onnx.export(
        model,
        (torch.tensor([[0, *range(1, 49), 0]]), torch.zeros(1, 256), torch.ones(1)),
        exported,
        input_names=["input_ids", "style", "speed"],
        output_names=["audio", "durations"],
        dynamic_axes={"input_ids": {1: "T"}, "audio": {0: "N"}, "durations": {0: "T"}},
        opset_version=17,
        dynamo=False,
    )
    return exported.getvalue()
