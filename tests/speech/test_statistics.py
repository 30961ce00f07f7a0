"""The map from what the decoder gives to the statistics of the generator's norms."""

import io

import numpy as np
import pytest

from rtvoice.speech.norms import CHANNELS, EPSILON, NORMS, StyledNorms, norm_names
from rtvoice.speech.statistics import INPUTS, OUTPUTS, BlendedMap, Statistics, StatisticsMap, describe

RNG = np.random.default_rng(0)


def statistics(rng=RNG):
    means = [rng.standard_normal((NORMS, c)).astype(np.float32) for c in CHANNELS]
    variances = [np.exp(rng.standard_normal((NORMS, c))).astype(np.float32) for c in CHANNELS]
    return Statistics(tuple(means), tuple(variances))


def problem(count, rng):
    """Descriptions, and statistics that are a smooth function of them."""
    hidden = rng.standard_normal((count, 4))
    mixing = np.random.default_rng(1).standard_normal((4, INPUTS))
    outcome = np.random.default_rng(2).standard_normal((4, OUTPUTS))
    descriptions = hidden @ mixing + 3
    return descriptions.astype(np.float32), (np.tanh(hidden / 2) @ outcome).astype(np.float32)


def test_flat_and_back_is_the_same():
    given = statistics()
    back = Statistics.of_flat(given.flat())
    for stage in (0, 1):
        np.testing.assert_allclose(back.means[stage], given.means[stage])
        np.testing.assert_allclose(back.variances[stage], given.variances[stage], rtol=1e-5)


def test_it_predicts_what_it_was_not_shown():
    rng = np.random.default_rng(3)
    fitted = StatisticsMap.fit(*problem(150, rng))
    descriptions, flat = problem(40, rng)
    predicted = np.stack([fitted.predict(row).flat() for row in descriptions])
    unexplained = ((predicted - flat) ** 2).mean() / flat.var()
    assert unexplained < 0.1


def test_what_is_saved_is_what_is_loaded():
    fitted = StatisticsMap.fit(*problem(30, np.random.default_rng(4)))
    file = io.BytesIO()
    fitted.save(file)
    file.seek(0)
    loaded = StatisticsMap.load(file)
    row = problem(1, np.random.default_rng(5))[0][0]
    np.testing.assert_array_equal(loaded.predict(row).flat(), fitted.predict(row).flat())


def blended(rng):
    """Two maps, and what a blend of them says that is off by the same everywhere."""
    maps = [StatisticsMap.fit(*problem(40, rng)) for _ in range(2)]
    off = np.random.default_rng(7).standard_normal(OUTPUTS).astype(np.float32)

    def exact(row):
        return 0.25 * maps[0].flat(row) + 0.75 * maps[1].flat(row) + off

    return maps, exact


def test_a_few_sentences_give_what_the_mean_of_two_maps_is_off_by():
    rng = np.random.default_rng(8)
    maps, exact = blended(rng)
    shown, held_out = problem(3, rng)[0], problem(5, rng)[0]
    fitted = BlendedMap.fit(maps, (0.25, 0.75), shown, np.stack([exact(row) for row in shown]))
    for row in held_out:
        np.testing.assert_allclose(fitted.predict(row).flat(), exact(row), atol=5e-3)


def test_what_was_fitted_to_a_blend_belongs_to_its_voices_maps():
    rng = np.random.default_rng(9)
    maps, exact = blended(rng)
    shown = problem(3, rng)[0]
    fitted = BlendedMap.fit(maps, (0.25, 0.75), shown, np.stack([exact(row) for row in shown]))
    file = io.BytesIO()
    fitted.save(file)
    file.seek(0)
    loaded = BlendedMap.load(file, maps, (0.25, 0.75))
    np.testing.assert_array_equal(loaded.predict(shown[0]).flat(), fitted.predict(shown[0]).flat())
    file.seek(0)
    assert BlendedMap.load(file, [StatisticsMap.fit(*problem(40, rng)), maps[1]], (0.25, 0.75)) is None
    with pytest.raises(ValueError, match="damaged"):
        BlendedMap.load(io.BytesIO(b"PK\x03\x04 nonsense"), maps, (0.25, 0.75))


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 nonsense", "other sizes", "other names"])
def test_a_damaged_map_is_refused(damage):
    file = io.BytesIO(damage if isinstance(damage, bytes) else b"")
    if damage == "other sizes":
        np.savez(file, **dict.fromkeys(StatisticsMap.__slots__, np.zeros((3, 3))))
    elif damage == "other names":
        np.savez(file, something=np.zeros(3))
    file.seek(0)
    with pytest.raises(ValueError, match=r"damaged|of another model"):
        StatisticsMap.load(file)


def test_a_description_of_unvoiced_speech_is_finite():
    row = describe(np.zeros(512, np.float32), np.zeros(8, np.float32), np.zeros(8, np.float32), np.ones(4, np.float32))
    assert row.shape == (INPUTS,)
    assert np.isfinite(row).all()


def test_norms_scale_and_shift_as_the_adaptive_norm_before_a_snake_does():
    rng = np.random.default_rng(6)
    arrays = {}
    for stage, channels in enumerate(CHANNELS):
        for norm, alpha in norm_names(stage):
            arrays[f"decoder.generator.{norm}.fc.weight"] = rng.standard_normal((2 * channels, 128)).astype(np.float32)
            arrays[f"decoder.generator.{norm}.fc.bias"] = rng.standard_normal(2 * channels).astype(np.float32)
            arrays[f"decoder.generator.{alpha}"] = rng.uniform(0.5, 2, (1, channels, 1)).astype(np.float32)
    style, given = rng.standard_normal((1, 256)).astype(np.float32), statistics(rng)
    norms = StyledNorms(arrays).join(style, given)
    stage, row = 1, 17
    norm, alpha = norm_names(stage)[row]
    x = rng.standard_normal((5, CHANNELS[stage])).astype(np.float32)
    weight, bias = arrays[f"decoder.generator.{norm}.fc.weight"], arrays[f"decoder.generator.{norm}.fc.bias"]
    gamma, beta = np.split(style[0, :128] @ weight.T + bias, 2)
    normal = (x - given.means[stage][row]) / np.sqrt(given.variances[stage][row] + EPSILON)
    expected = arrays[f"decoder.generator.{alpha}"].reshape(-1) / np.pi * ((1 + gamma) * normal + beta)
    np.testing.assert_allclose(x * norms.scales[stage][row] + norms.shifts[stage][row], expected, rtol=1e-3, atol=1e-3)
