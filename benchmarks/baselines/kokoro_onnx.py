"""The package kokoro-onnx, as its users call it, on the float32 model that the row of ONNX Runtime runs."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.baselines import Baseline
from benchmarks.baselines.onnx_runtime import OnnxRuntime

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray


class KokoroOnnx(Baseline):
    """`kokoro_onnx.Kokoro.create`, given phonemes. Silence is left at the ends, so that lengths can be compared."""

    _kokoro: Any

    def prepare(self) -> None:
        OnnxRuntime(self.cache, self.threads, model="float32").prepare()

    def load(self) -> None:
        from kokoro_onnx import Kokoro

        voices = self.cache / "no-voices.npz"  # it insists on a file; styles are given with each sentence
        np.savez(voices)
        self._kokoro = Kokoro(str(OnnxRuntime(self.cache, self.threads, model="float32").path), str(voices))

    @property
    def files(self) -> tuple[Path, ...]:
        return OnnxRuntime(self.cache, self.threads, model="float32").files

    def speak(self, phonemes: str, style: NDArray[np.float32], speed: float) -> NDArray[np.float32]:
        voice = style[None]  # a voice with one row, whatever the number of phonemes
        samples: NDArray[np.float32]
        samples, _ = self._kokoro.create(phonemes, voice, speed, is_phonemes=True, trim=False)
        return samples

    def versions(self) -> Mapping[str, str]:
        return {name: importlib.metadata.version(name) for name in ("kokoro-onnx", "onnxruntime")}
