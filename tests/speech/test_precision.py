"""Which numbers the generator multiplies."""

import pytest

from rtvoice.speech.precision import choose_precision


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("fpu sse avx512f avx512_bf16 avx512_vnni", "bf16"),
        ("fpu avx512f amx_bf16 amx_tile", "bf16"),
        ("fpu avx2 avx512f avx512_vnni", "f32"),
    ],
)
def test_bfloat16_is_chosen_where_the_processor_multiplies_it(tmp_path, flags, expected):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor\t: 0\nmodel name\t: avx512_bf16\nflags\t\t: {flags}\n\nprocessor\t: 1\n")
    assert choose_precision("auto", cpuinfo) == expected
    assert choose_precision("f32", cpuinfo) == "f32"
    assert choose_precision("bf16", cpuinfo) == "bf16"


def test_where_nothing_is_known_it_is_float32(tmp_path):
    assert choose_precision("auto", tmp_path / "none") == "f32"
