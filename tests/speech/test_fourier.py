"""The Fourier form of a convolution against the direct one."""

import numpy as np
import openvino as ov
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openvino import opset13 as op

from rtvoice.speech.network.fourier import PaddedPlaces, Transform, convolve, places
from rtvoice.speech.network.layers import const, row_count, tensor

RNG = np.random.default_rng(1)


def direct(x, weight, bias, dilation):
    """Convolve [T, in] with [out, in, K] without padding, in float64."""
    taps = weight.shape[2]
    length = len(x) - dilation * (taps - 1)
    return bias + sum(x[k * dilation : k * dilation + length].astype(float) @ weight[:, :, k].T for k in range(taps))


def run(model, *inputs):
    return ov.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(inputs)[0]


def problem(taps, rows, c_in=5, c_out=4):
    return (
        RNG.standard_normal((rows, c_in)).astype(np.float32),
        RNG.standard_normal((c_out, c_in, taps)).astype(np.float32),
        RNG.standard_normal((1, c_out)).astype(np.float32),
    )


@settings(max_examples=25, deadline=None)
@given(
    taps=st.sampled_from([3, 7, 11]),
    extra=st.integers(1, 20),
    dilation=st.sampled_from([1, 3, 5]),
    length=st.integers(1, 130),
    start=st.integers(0, 40),
)
def test_without_padding_it_equals_the_direct_form_row_for_row(taps, extra, dilation, length, start):
    size = taps + extra + (taps + extra) % 2
    transform = Transform.of(size, taps)
    reach = dilation * (taps // 2)
    rows = start + reach + length + reach + start
    x, weight, bias = problem(taps, rows)
    x[:start] = x[rows - start :] = 3  # what does not count
    data, kernel = op.parameter(x.shape, np.float32), op.parameter([transform.products, 5, 4], np.float32)
    y = convolve(data, *places(rows, start, transform, dilation), kernel, const(bias), transform)
    got = run(ov.Model([y], [data, kernel]), x, transform.kernel(weight))
    assert got.shape == (rows, 4)
    expected = direct(x[start : rows - start], weight, bias, dilation)
    np.testing.assert_allclose(got[start + reach : start + reach + length], expected, atol=3e-5)


def test_a_kernel_of_bfloat16_makes_products_of_such_numbers():
    transform = Transform.of(32, 11)
    x, weight, bias = problem(11, 200, c_in=64, c_out=64)
    data, kernel = op.parameter(x.shape, np.float32), op.parameter([transform.products, 64, 64], ov.Type.bf16)
    y = convolve(data, *places(200, 0, transform, 1), kernel, const(bias), transform)
    assert y.get_element_type() == ov.Type.f32
    got = run(ov.Model([y], [data, kernel]), x, tensor(transform.kernel(weight), ov.Type.bf16))
    expected = direct(x, weight, bias, 1)
    noise = np.sqrt(np.mean((got[5:-5] - expected) ** 2) / np.mean(expected**2))
    assert 1e-4 < noise < 1e-2  # eight bits behind the point, neither exact nor worse than two roundings


@settings(max_examples=25, deadline=None)
@given(taps=st.sampled_from([3, 7, 11]), dilation=st.sampled_from([1, 3, 5]), length=st.integers(1, 130))
def test_padded_by_zeros_it_keeps_the_length_whatever_that_is(taps, dilation, length):
    transform = Transform.of(32, taps)
    x, weight, bias = problem(taps, length)
    data, kernel = op.parameter([-1, 5], np.float32), op.parameter([transform.products, 5, 4], np.float32)
    zero_behind = op.pad(data, const([0, 0], np.int64), const([1, 0], np.int64), "constant", const(0.0))
    y = convolve(zero_behind, *PaddedPlaces(row_count(data)).of(transform, dilation), kernel, const(bias), transform)
    got = run(ov.Model([y], [data, kernel]), x, transform.kernel(weight))
    reach = dilation * (taps // 2)
    expected = direct(np.pad(x, ((reach, reach), (0, 0))), weight, bias, dilation)
    np.testing.assert_allclose(got, expected, atol=3e-5)


@pytest.mark.parametrize(("size", "taps", "products"), [(8, 3, 11), (16, 7, 23), (32, 11, 47)])
def test_a_window_takes_three_products_a_complex_bin(size, taps, products):
    transform = Transform.of(size, taps)
    assert transform.products == products == 3 * (size // 2 - 1) + 2
    assert transform.kept == size - taps + 1
