"""OpenVINO as one gets it from PyTorch: upstream's modules traced and converted, default options or sized ones.

The model is cut where lengths depend on data, into four networks with rtvoice's own host steps between them; nothing
in the networks is rewritten. Needs torch to convert, not to run.
"""

from __future__ import annotations

import importlib.metadata
import queue
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
    """Four networks, with OpenVINO's default options or with what its documentation tells a server to set.

    Args:
        cache: as for every baseline.
        threads: as for every baseline.
        sized: tell it how many threads to take; else it sizes itself by the cores it sees.
        cached: keep what was compiled for the next start.
        streams: run sentences side by side, a stream for every four threads and at least two (one on a single core).
    """

    def __init__(
        self, cache: Path, threads: int, *, sized: bool = False, cached: bool = False, streams: bool = False
    ) -> None:
        super().__init__(cache, threads)
        self._properties: dict[str, Any] = {}
        self._streams = min(threads, max(2, threads // 4)) if streams else 1
        if sized:
            self._properties["INFERENCE_NUM_THREADS"] = threads
        if cached:
            self._properties["CACHE_DIR"] = str(self._folder / "compiled")
        if streams:
            self._properties["NUM_STREAMS"] = self._streams
        self._idle: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()  # requests of the networks, by name

    @property
    def at_once(self) -> int:
        return self._streams

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(file for file in self._folder.rglob("*") if file.is_file())

    @property
    def _folder(self) -> Path:
        return self.cache / "traced"

    def prepare(self) -> None:
        if not (self._folder / "source.npz").exists():  # written last
            self._convert()
        if "CACHE_DIR" in self._properties:
            self.load()  # fills it

    def _convert(self) -> None:
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
        networks = {name: core.compile_model(self._folder / f"{name}.xml", "CPU", self._properties) for name in NAMES}
        for _ in range(self._streams):
            self._idle.put({name: network.create_infer_request() for name, network in networks.items()})
        with np.load(self._folder / "source.npz") as stored:
            self._mix, self._bias = stored["mix"], stored["bias"]

    def release(self) -> None:
        for _ in range(self._streams):
            self._idle.get()

    def speak(self, phonemes: str, style: Floats, speed: float) -> Floats:
        requests = self._idle.get()
        try:
            return self._spoken(requests, phonemes, style, speed)
        finally:
            self._idle.put(requests)

    def _spoken(self, requests: dict[str, Any], phonemes: str, style: Floats, speed: float) -> Floats:
        def run(name: str, *inputs: object) -> list[Any]:
            # Not `infer`, which makes a stream for the thread that calls it, beside those that were asked for.
            requests[name].start_async(list(inputs))
            requests[name].wait()
            return [tensor.data.copy() for tensor in requests[name].output_tensors]

        tokens, pace = np.array([ids(phonemes)], np.int64), np.array([speed], np.float32)
        d, t_en, durations = run("text", tokens, style, pace)
        en = host.align(d[0], durations[0])[None]
        f0, energy = run("prosody", en, style)
        asr = np.ascontiguousarray(host.align(t_en[0], durations[0]).T)[None]
        x = run("decoder", asr, f0, energy, style)[0]
        source = host.SourceSpectra(f0[0], self._mix, self._bias, np.random.Generator(np.random.Philox(_SEED)))
        source.make(len(source.rows))
        post = run("generator", x, np.ascontiguousarray(source.rows.T)[None], style)[0]
        return host.istft(post[0].T)

    def versions(self) -> Mapping[str, str]:
        import openvino as ov

        # where the processor has products of bfloat16, that is what it takes unless told otherwise
        precision = ov.Core().get_property("CPU", "INFERENCE_PRECISION_HINT").get_type_name()
        return {**{name: importlib.metadata.version(name) for name in ("openvino", "kokoro")}, "precision": precision}
