"""The arithmetic that the table of layers counts."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

from benchmarks.layers import Group, bound, measure, multiplications, summarise


@pytest.mark.parametrize(
    ("layer", "inputs", "output", "expected"),
    [
        ("MatMul", [(47, 75, 256), (47, 256, 128)], (47, 75, 128), 47 * 75 * 256 * 128),
        ("FullyConnected", [(1, 60, 768), (768, 768)], (1, 60, 768), 60 * 768 * 768),
        ("Convolution", [(1, 514, 1, 160), (1024, 514, 1, 3)], (1, 1024, 1, 160), 160 * 1024 * 514 * 3),
        (
            "RNNSeq",
            [(1, 60, 640), (1, 2, 256), (1, 2, 256), (2, 1024, 640), (2, 1024, 256)],
            (1, 2, 60, 256),
            60 * 2 * 1024 * (640 + 256),
        ),
        ("Subgraph", [(60, 128)], (60, 128), 0),
    ],
)
def test_multiplications_follow_from_the_shapes(layer, inputs, output, expected):
    assert multiplications(layer, inputs, output) == expected


def test_a_network_is_run_and_its_layers_are_told_apart(tmp_path):
    x, kernel = op.parameter([64, 256], np.float32, name="x"), op.parameter([3, 256, 128], np.float32, name="kernel.a")
    y = op.tanh(op.matmul(op.reshape(x, np.array([1, 64, 256]), False), kernel, False, False))
    ov.save_model(ov.Model([y], [x, kernel], "stage1-5"), tmp_path / "stage1-5.xml")
    kernels = {"kernel.a": ov.Tensor(np.ones((3, 256, 128), np.float32))}
    groups = measure(ov.Core(), tmp_path / "stage1-5.xml", 0.5, kernels)
    (products,) = [group for group in groups if group.kind == "products of the Fourier form"]
    assert products.network == "stage1"
    assert products.gmac == pytest.approx(3 * 64 * 256 * 128 / 0.5 / 1e9)
    assert products.seconds > 0


def test_the_table_says_what_bounds_a_group():
    near = Group("stage2", "products of the Fourier form", "f32", gmac=4.0, seconds=0.08)
    moves = Group("stage2", "norms, activations, moves", "f32", gmac=0.0, seconds=0.02)
    assert (bound(near, 110.0), bound(moves, 110.0)) == ("arithmetic", "memory")
    table = summarise([near, moves], {"f32": 110.0})
    assert "91%" in table
    assert "100 ms of a core" in table
