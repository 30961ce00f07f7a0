"""What importing a layer loads, seen from a fresh interpreter."""

import subprocess
import sys

import pytest

import rtvoice

HEAVY = {"asyncio", "numpy", "openvino", "websockets", "structlog", "uvloop", "misaki", "spacy", "onnx"}


def loaded_by(statement):
    code = f"import sys\n{statement}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        ("import rtvoice", set()),
        ("import rtvoice.errors, rtvoice.config, rtvoice.paths", set()),
        ("import rtvoice.audio", {"numpy"}),
        ("import rtvoice.protocol.messages, rtvoice.protocol.codec, rtvoice.protocol.conversation", set()),
        ("import rtvoice.protocol.routes, rtvoice.protocol.elevenlabs, rtvoice.protocol.deepgram", set()),
        ("import rtvoice.text.front, rtvoice.text.segment", set()),
        ("import rtvoice.client; rtvoice.connect", {"asyncio", "websockets"}),
        ("import rtvoice.serving.narration", {"asyncio", "numpy"}),
        ("import rtvoice.engine", {"asyncio", "numpy"}),
    ],
)
def test_a_layer_loads_only_what_it_is_for(statement, allowed):
    assert loaded_by(statement) & HEAVY - allowed == set()


def test_the_public_names():
    assert rtvoice.__all__ == ["Engine", "RtvoiceError", "__version__", "connect"]
    assert set(rtvoice.__all__) <= set(dir(rtvoice))
    for name in rtvoice.__all__:
        assert getattr(rtvoice, name) is not None
    with pytest.raises(AttributeError):
        rtvoice.nothing  # noqa: B018
