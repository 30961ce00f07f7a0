"""Kokoro-82M as OpenVINO networks, written operation by operation.

::

    ids [1, T], style [1, 256], speed [1]
      text      -> d [T, 640], t_en [T, 512], durations [T]    (frames of 25 ms)
      host      -> rows of d and t_en repeated by their durations: en [F, 640], asr [F, 512]
      prosody   -> f0 [2F], energy [2F]                        (80 Hz)
      decoder   -> x [2F, 512]                                 (80 Hz)
      host      -> harmonic source and its STFT: har [120F + 1, 22]
      generator -> post [120F + 1, 22]                         (4,800 Hz)
      host      -> inverse STFT: 600F samples at 24 kHz

`style[:, 128:]` feeds text and prosody, `style[:, :128]` decoder and generator. The host's steps are in
`rtvoice.speech.host`. `generator` is exact and needs all of what is spoken; `stage1` and `stage2` do its work, inverse
STFT included, in slices of so many rows of `x`, its norms' statistics given (`sliced`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtvoice.speech.network.decoder import decoder_network
from rtvoice.speech.network.generator import generator_network
from rtvoice.speech.network.kernels import Windows, make_kernels
from rtvoice.speech.network.layers import Weights
from rtvoice.speech.network.prosody import prosody_network
from rtvoice.speech.network.sliced import stage1_network, stage2_network
from rtvoice.speech.network.text import text_network
from rtvoice.speech.slices import STAGE1_LENGTHS, STAGE2_LENGTHS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import openvino as ov
    from numpy.typing import NDArray

    from rtvoice.config import Precision

WINDOWS = Windows()


def build_networks(weights: Mapping[str, NDArray[np.float32]], precision: Precision = "f32") -> dict[str, ov.Model]:
    """Build all networks.

    Args:
        weights: named arrays as `rtvoice.speech.weights.load_weights` returns them.
        precision: of the kernels of decoder and stages.

    Returns:
        The networks by name: text, prosody, decoder, generator, and for each length stage1-<length>, stage2-<length>.
    """
    w = Weights(weights)
    networks = {
        "text": text_network(w),
        "prosody": prosody_network(w),
        "decoder": decoder_network(w, WINDOWS, precision),
        "generator": generator_network(w, WINDOWS),
    }
    for length in STAGE1_LENGTHS:
        networks[f"stage1-{length}"] = stage1_network(w, length, WINDOWS, precision)
    for length in STAGE2_LENGTHS:
        networks[f"stage2-{length}"] = stage2_network(w, length, WINDOWS, precision)
    return networks


def host_arrays(weights: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[np.float32]]:
    """Return the arrays that are needed beside the networks: for their kernels, norms and the harmonic source."""
    prefixes = tuple(f"decoder.generator.{module}" for module in ("noise_res", "resblocks", "m_source", "ups"))
    return {name: array for name, array in weights.items() if name.startswith(prefixes)}


def generator_kernels(arrays: Mapping[str, NDArray[np.float32]], precision: Precision = "f32") -> dict[str, ov.Tensor]:
    """Make the kernels that the networks take as inputs, by the inputs' names, from `host_arrays`.

    Args:
        arrays: see there.
        precision: of convolutions; the exact form takes float32.
    """
    return make_kernels(Weights(arrays), WINDOWS, precision)
