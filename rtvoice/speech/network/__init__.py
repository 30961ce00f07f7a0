"""Kokoro-82M as four OpenVINO networks, written operation by operation.

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
`rtvoice.speech.host`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtvoice.speech.network.decoder import decoder_network
from rtvoice.speech.network.generator import generator_network
from rtvoice.speech.network.layers import Weights
from rtvoice.speech.network.prosody import prosody_network
from rtvoice.speech.network.text import text_network

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import openvino as ov
    from numpy.typing import NDArray

NETWORK_VERSION = 2
"""Rises with every change of a graph, so that models built before it are built again."""


def build_networks(weights: Mapping[str, NDArray[np.float32]]) -> dict[str, ov.Model]:
    """Build all networks.

    Args:
        weights: named arrays as `rtvoice.speech.weights.load_weights` returns them.

    Returns:
        The networks by name: text, prosody, decoder, generator.
    """
    w = Weights(weights)
    return {
        "text": text_network(w),
        "prosody": prosody_network(w),
        "decoder": decoder_network(w),
        "generator": generator_network(w),
    }
