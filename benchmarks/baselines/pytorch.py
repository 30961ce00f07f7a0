"""PyTorch eager: `kokoro.KModel` as its authors run it."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING, Any

from benchmarks.baselines import Baseline

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


class PyTorchEager(Baseline):
    """The reference implementation, threads as PyTorch chooses them."""

    _model: Any

    @property
    def checkpoint(self) -> Path:
        """The weights, as upstream reads them."""
        return self.cache / "kokoro.pth"

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.checkpoint,)

    def prepare(self) -> None:
        if not self.checkpoint.exists():
            from benchmarks.baselines.upstream import write_checkpoint
            from rtvoice.speech.weights import load_weights

            write_checkpoint(load_weights(), self.checkpoint)

    def load(self) -> None:
        from benchmarks.baselines.upstream import load_model

        self._model = load_model(self.checkpoint)

    def speak(self, phonemes: str, style: NDArray[np.float32], speed: float) -> NDArray[np.float32]:
        import torch

        samples: NDArray[np.float32] = self._model(phonemes, torch.tensor(style), speed).numpy()
        return samples

    def versions(self) -> Mapping[str, str]:
        return {name: importlib.metadata.version(name) for name in ("torch", "kokoro")}
