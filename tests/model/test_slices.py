"""The sliced generator against the exact one, on the real weights."""

from pathlib import Path

import numpy as np
import openvino as ov
import pytest

from rtvoice.speech import host
from rtvoice.speech.costs import Cost, Costs
from rtvoice.speech.network import WINDOWS, build_networks, generator_kernels, host_arrays
from rtvoice.speech.network.layers import Weights
from rtvoice.speech.network.sliced import stage1_network, stage2_network
from rtvoice.speech.norms import StyledNorms
from rtvoice.speech.pace import Pace
from rtvoice.speech.slices import SAMPLES_PER_ROW, SlicedGeneration, margin
from rtvoice.speech.statistics import Statistics
from rtvoice.speech.voices import VoiceStore
from rtvoice.speech.weights import load_weights

pytestmark = pytest.mark.model

SOURCE = "decoder.generator.m_source.l_linear"
ROWS = 98  # of features: 1.225 s


class Exact:
    """One utterance through the exact generator: its input, its samples, and what its norms measured."""

    def __init__(self):
        weights = load_weights()
        self.weights, self.arrays = Weights(weights), host_arrays(weights)
        self.kernels = {precision: generator_kernels(self.arrays, precision) for precision in ("f32", "bf16")}
        rng = np.random.default_rng(7)
        self.style = VoiceStore(Path("no folder")).style("af_heart", 60)
        at = np.arange(ROWS)
        self.f0 = np.where(at % 40 < 30, 170 + 30 * np.sin(at / 7), 0).astype(np.float32)
        self.features = rng.standard_normal((ROWS, 512)).astype(np.float32)
        source = self.source()
        source.make(len(source.rows))
        network = ov.compile_model(build_networks(weights)["generator"], "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        outputs = network({"x": self.features, "har": source.rows, "style": self.style, **self.fed(network)})
        self.samples = host.istft(outputs["post"])
        means, variances = ((outputs[f"{name}1"], outputs[f"{name}2"]) for name in ("mean", "variance"))
        self.norms = StyledNorms(self.arrays).join(self.style, Statistics(means, variances))

    def source(self, rows=0):
        mix, bias = self.arrays[f"{SOURCE}.weight"], self.arrays[f"{SOURCE}.bias"]
        return host.SourceSpectra(self.f0, mix, bias, np.random.default_rng(1), margin=rows)

    def fed(self, network, precision="f32"):
        kernels = self.kernels[precision]
        return {port.any_name: kernels[port.any_name] for port in network.inputs if port.any_name in kernels}


@pytest.fixture(scope="module")
def exact():
    return Exact()


def generate(exact, lengths1, lengths2, precision="f32"):
    """Run the slices; returns the samples of each."""
    networks = {}
    for lengths, stage, draw in ((lengths1, 1, stage1_network), (lengths2, 2, stage2_network)):
        for length in lengths:
            drawn = draw(exact.weights, length, WINDOWS, precision)
            networks[f"stage{stage}-{length}"] = ov.compile_model(drawn, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    generation = SlicedGeneration(exact.features, exact.source(margin(lengths1)), exact.norms, lengths1, lengths2)
    costs = {name: Cost(1e-3) for name in (*networks, "text", "prosody", "decoder")}
    slices = []
    for step in Pace(costs, Costs(costs), lengths1, lengths2).plan(ROWS):
        call = generation.call(step)
        network = networks[call.network]
        outputs = network({**call.inputs, **exact.fed(network, precision)})
        if (samples := generation.take({port.any_name: array for port, array in outputs.items()})) is not None:
            slices.append(np.array(samples))
    return slices


@pytest.mark.parametrize(
    ("lengths1", "lengths2"),
    [((18, 34), (16, 32)), ((7,), (5,)), ((ROWS,), (ROWS,)), ((ROWS + 40,), (ROWS + 9,)), ((50,), (49,))],
    ids=["rising", "short", "one", "longer than all", "the last is whole"],
)
def test_slices_give_the_samples_of_the_exact_form_beginnings_and_ends_included(exact, lengths1, lengths2):
    slices = generate(exact, lengths1, lengths2)
    samples = np.concatenate(slices)
    assert samples.shape == exact.samples.shape == (ROWS * SAMPLES_PER_ROW,)
    assert 0.05 < np.abs(exact.samples).max() < 1
    np.testing.assert_allclose(samples, exact.samples, atol=1e-5)


def test_kernels_of_bfloat16_leave_a_noise_that_the_speech_covers(exact):
    samples = np.concatenate(generate(exact, (18, 50), (16, 32), "bf16"))
    noise = np.sqrt(np.mean((samples - exact.samples) ** 2) / np.mean(exact.samples**2))
    assert noise < 0.05
