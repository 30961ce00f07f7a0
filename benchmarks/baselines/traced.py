"""OpenVINO as one gets it from PyTorch: upstream's modules traced and converted, default options.

The model is cut where lengths depend on data, into four networks with rtvoice's own host steps between them; nothing
in the networks is rewritten. Needs torch to convert, not to run.
"""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.baselines import Baseline
from benchmarks.baselines.pytorch import PyTorchEager
from rtvoice.speech import host
from rtvoice.speech.vocabulary import ids
from rtvoice.speech.weights import load_weights

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

NAMES = ("text", "prosody", "decoder", "generator")
_SOURCE = "decoder.generator.m_source.l_linear"
_SEED = 0


class TracedOpenVino(Baseline):
    """Four networks, compiled with default options; OpenVINO sizes its threads by the cores it sees."""

    @property
    def _folder(self) -> Path:
        return self.cache / "traced"

    def prepare(self) -> None:
        if (self._folder / "source.npz").exists():  # written last
            return
        from benchmarks.baselines.tracing import convert

        baseline = PyTorchEager(self.cache, self.threads)
        baseline.prepare()
        self._folder.mkdir(exist_ok=True)
        convert(baseline.checkpoint, self._folder)
        weights = load_weights()
        np.savez(self._folder / "source.npz", mix=weights[f"{_SOURCE}.weight"], bias=weights[f"{_SOURCE}.bias"])

    def load(self) -> None:
        import openvino as ov

        core = ov.Core()
        self._networks = {name: core.compile_model(self._folder / f"{name}.xml", "CPU") for name in NAMES}
        with np.load(self._folder / "source.npz") as stored:
            self._mix, self._bias = stored["mix"], stored["bias"]

    def speak(self, phonemes: str, style: Floats, speed: float) -> Floats:
        tokens, pace = np.array([ids(phonemes)], np.int64), np.array([speed], np.float32)
        d, t_en, durations = self._run("text", tokens, style, pace)
        en = host.align(d[0], durations[0])[None]
        f0, energy = self._run("prosody", en, style)
        asr = np.ascontiguousarray(host.align(t_en[0], durations[0]).T)[None]
        x = self._run("decoder", asr, f0, energy, style)[0]
        source = host.SourceSpectra(f0[0], self._mix, self._bias, np.random.Generator(np.random.Philox(_SEED)))
        source.make(len(source.rows))
        post = self._run("generator", x, np.ascontiguousarray(source.rows.T)[None], style)[0]
        return host.istft(post[0].T)

    def versions(self) -> Mapping[str, str]:
        return {name: importlib.metadata.version(name) for name in ("openvino", "kokoro")}

    def _run(self, name: str, *inputs: object) -> list[Any]:
        return list(self._networks[name](list(inputs)).values())
