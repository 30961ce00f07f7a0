"""Which numbers the generator multiplies."""

import json

import pytest

from rtvoice.errors import SetupError
from rtvoice.speech import precision
from rtvoice.speech.machine import Machine, this_machine
from rtvoice.speech.precision import choose_precision, keep_product_gain, product_gain


@pytest.fixture
def machine(monkeypatch):
    """Pretend to be a machine with these flags, on which products of bfloat16 are so many times as fast."""

    def pretend(flags, gain):
        measured = []
        monkeypatch.setattr(precision, "this_machine", lambda: Machine("a processor", frozenset(flags.split()), 2))
        monkeypatch.setattr(precision, "_measured_gain", lambda: measured.append(gain) or gain)
        return measured

    return pretend


@pytest.mark.parametrize(
    ("flags", "gain", "expected"),
    [
        ("avx512f avx512_bf16", 1.9, "bf16"),
        ("avx512f amx_bf16", 7.0, "bf16"),
        ("avx512f avx512_bf16", 1.05, "f32"),
        ("avx2 avx512f avx512_vnni", 1.9, "f32"),
    ],
)
def test_bfloat16_is_chosen_where_the_processor_has_it_and_it_is_faster(tmp_path, machine, flags, gain, expected):
    machine(flags, gain)
    assert choose_precision("auto", tmp_path) == expected
    assert choose_precision("f32", tmp_path) == "f32"
    assert choose_precision("bf16", tmp_path) == "bf16"


def test_what_is_kept_is_not_measured_again(tmp_path, machine):
    measured = machine("avx512_bf16", 1.9)
    keep_product_gain(tmp_path / "cache")
    assert product_gain(tmp_path / "cache") == product_gain(tmp_path / "cache") == 1.9
    assert len(measured) == 1


def test_to_ask_changes_nothing(tmp_path, machine):
    machine("avx512_bf16", 1.9)
    assert choose_precision("auto", tmp_path / "cache") == "bf16"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", ["", "[]", '{"bf16_gain": "fast"}', '{"bf16_gain": -1}'])
def test_a_file_that_cannot_be_read_is_measured_again(tmp_path, machine, damage):
    measured = machine("avx512_bf16", 1.9)
    keep_product_gain(tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_text(damage)
    keep_product_gain(tmp_path)
    assert json.loads(file.read_text())["bf16_gain"] == 1.9
    assert len(measured) == 2


def test_a_cache_that_cannot_be_written_to_is_said(tmp_path, machine):
    machine("avx512_bf16", 1.9)
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match="cannot be written to"):
        keep_product_gain(tmp_path / "file" / "cache")


def test_this_machine_can_be_measured(tmp_path):
    keep_product_gain(tmp_path)
    assert 0.01 < product_gain(tmp_path) < 100
    assert this_machine().key in next(tmp_path.iterdir()).name
