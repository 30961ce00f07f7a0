"""The text network: phoneme ids to what each phoneme means, how it sounds, and how long it lasts."""

from __future__ import annotations

import numpy as np
import openvino as ov
from openvino import Node
from openvino import opset13 as op

from rtvoice.speech.network.layers import (
    Floats,
    Value,
    Weights,
    columns,
    const,
    convolution,
    from_image,
    layer_norm,
    leaky_relu,
    linear,
    lstm,
    repeat_rows,
    reshape,
    style_scale_shift,
    to_image,
    transpose,
)

_LAYERS, _HEADS, _WIDTH = 12, 12, 768


def text_network(w: Weights) -> ov.Model:
    """Build the text network.

    Inputs: `ids` [1, T] int64, phoneme ids with a 0 at each end; `style` [1, 256]; `speed` [1].
    Outputs: `d` [T, 640], for the prosody; `t_en` [T, 512], for the decoder; `durations` [T], whole frames of 25 ms,
    at least 1.
    """
    ids = op.parameter([1, -1], np.int64, name="ids")
    style = op.parameter([1, 256], np.float32, name="style")
    speed = op.parameter([1], np.float32, name="speed")
    prosodic = columns(style, 128, 256)
    meaning = linear(_plbert(ids, w / "bert"), w / "bert_encoder")  # (T, 512)
    d = _duration_encoder(meaning, prosodic, w / "predictor.text_encoder")  # (T, 640)
    votes = linear(lstm(d, w / "predictor.lstm"), w / "predictor.duration_proj.linear_layer")  # (T, 50)
    durations = op.divide(op.reduce_sum(op.sigmoid(votes), const([1], np.int64)), speed)
    durations = op.maximum(op.round(durations, "half_to_even"), const(1.0))
    t_en = _text_encoder(ids, w / "text_encoder")
    for node, name in ((d, "d"), (t_en, "t_en"), (durations, "durations")):
        node.output(0).set_names({name})
    return ov.Model([d, t_en, durations], [ids, style, speed], "text")


def _plbert(ids: Value, w: Weights) -> Node:
    """ALBERT over phonemes: one layer's weights, run twelve times."""  # (T, 768)
    embeddings = w / "embeddings"
    tokens = op.gather(
        const(embeddings["word_embeddings.weight"]), op.squeeze(ids, const(0, np.int64)), const(0, np.int64)
    )
    last = op.gather(op.shape_of(tokens), const(0, np.int64), const(0, np.int64))
    places = op.range(const(0, np.int64), last, const(1, np.int64), "i64")
    positions = const(embeddings["position_embeddings.weight"] + embeddings["token_type_embeddings.weight"][0])
    x = op.add(tokens, op.gather(positions, places, const(0, np.int64)))  # (T, 128)
    x = linear(_affine_norm(x, embeddings / "LayerNorm"), w / "encoder.embedding_hidden_mapping_in")
    layer = _AlbertLayer(w / "encoder.albert_layer_groups.0.albert_layers.0")
    for _ in range(_LAYERS):
        x = layer(x)
    return x


def _embed(ids: Value, table: Floats) -> Node:
    return op.gather(const(table), op.squeeze(ids, const(0, np.int64)), const(0, np.int64))  # (T, C)


class _AlbertLayer:
    """Self-attention and a feed-forward block. Its constants are made once, so that all runs share them."""

    def __init__(self, w: Weights) -> None:
        parts = [w / f"attention.{part}" for part in ("query", "key", "value")]
        self._project = const(np.concatenate([part["weight"] for part in parts]))  # (3 * 768, 768)
        self._project_bias = const(np.concatenate([part["bias"] for part in parts]))
        self._dense, self._dense_bias = _linear_constants(w / "attention.dense")
        self._ffn, self._ffn_bias = _linear_constants(w / "ffn")
        self._ffn_output, self._ffn_output_bias = _linear_constants(w / "ffn_output")
        self._attention_norm = w / "attention.LayerNorm"
        self._full_norm = w / "full_layer_layer_norm"

    def __call__(self, x: Value) -> Node:  # (T, 768) -> (T, 768)
        projected = op.add(op.matmul(x, self._project, False, True), self._project_bias)
        heads = transpose(reshape(projected, -1, 3, _HEADS, _WIDTH // _HEADS), 1, 2, 0, 3)  # (3, 12, T, 64)
        query, key, value = op.split(heads, const(0, np.int64), 3).outputs()
        query, key, value = (op.squeeze(part, const([0], np.int64)) for part in (query, key, value))
        scores = op.multiply(op.matmul(query, key, False, True), const(1 / np.sqrt(_WIDTH // _HEADS)))  # (12, T, T)
        seen = op.matmul(op.softmax(scores, -1), value, False, False)  # (12, T, 64)
        seen = reshape(transpose(seen, 1, 0, 2), -1, _WIDTH)
        seen = op.add(op.matmul(seen, self._dense, False, True), self._dense_bias)
        x = _affine_norm(op.add(seen, x), self._attention_norm)
        h = op.add(op.matmul(x, self._ffn, False, True), self._ffn_bias)  # (T, 2048)
        h = op.matmul(op.gelu(h, "TANH"), self._ffn_output, False, True)
        return _affine_norm(op.add(op.add(h, self._ffn_output_bias), x), self._full_norm)


def _linear_constants(w: Weights) -> tuple[Node, Node]:
    return const(w["weight"]), const(w["bias"])


def _affine_norm(x: Value, w: Weights) -> Node:
    return op.add(op.multiply(layer_norm(x, 1e-12), const(w["weight"])), const(w["bias"]))


def _duration_encoder(x: Value, prosodic: Value, w: Weights) -> Node:
    """Three LSTMs, each followed by a layer norm that the style shapes, the style beside the data throughout."""
    repeated = repeat_rows(prosodic, x)  # (T, 128)
    x = op.concat([x, repeated], 1)
    for i in (0, 2, 4):
        x = lstm(x, w / f"lstms.{i}")
        scale, shift = style_scale_shift(prosodic, w / f"lstms.{i + 1}")
        x = op.concat([op.add(op.multiply(layer_norm(x, 1e-5), scale), shift), repeated], 1)
    return x  # (T, 640)


def _text_encoder(ids: Value, w: Weights) -> Node:
    """Three convolutions of 5 taps over embedded phonemes, then an LSTM."""
    x = _embed(ids, w["embedding.weight"])
    for i in range(3):
        x = from_image(convolution(to_image(x), w / f"cnn.{i}.0"))
        x = op.add(op.multiply(layer_norm(x, 1e-5), const(w[f"cnn.{i}.1.gamma"])), const(w[f"cnn.{i}.1.beta"]))
        x = leaky_relu(x, 0.2)
    return lstm(x, w / "lstm")  # (T, 512)
