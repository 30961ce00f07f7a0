"""Formulas of blends: what they mean, and what is said of bad ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.blends import MOST_VOICES, Share, canonical, is_blend_of, read_blend
from rtvoice.errors import InvalidInput

VOICES = ("af_heart", "am_michael", "bf_emma", "bm_george", "zf_xiaobei")


@pytest.mark.parametrize(
    ("formula", "shares"),
    [
        ("af_heart", [("af_heart", 1.0)]),
        ("af_heart(7)", [("af_heart", 1.0)]),
        ("af_heart+bf_emma", [("af_heart", 0.5), ("bf_emma", 0.5)]),
        ("bf_emma(1)+af_heart(3)", [("bf_emma", 0.25), ("af_heart", 0.75)]),
        (" af_heart ( .5 ) + bf_emma(0.5) ", [("af_heart", 0.5), ("bf_emma", 0.5)]),
        ("af_heart+am_michael(2)+bf_emma(0.5)+bm_george(.5)", [*zip(VOICES, (0.25, 0.5, 0.125, 0.125), strict=False)]),
    ],
)
def test_a_formula_gives_each_voice_its_part(formula, shares):
    assert read_blend(formula, VOICES) == tuple(Share(*share) for share in shares)
    assert is_blend_of(formula, VOICES)


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        ("", "no voice named ''"),
        ("nobody", "no voice named 'nobody'"),
        ("af_heart+nobody", "no voice named 'nobody'"),
        ("../af_heart", "no voice named"),
        ("af_heart+", "no part of a blend"),
        ("+af_heart", "no part of a blend"),
        ("af_heart(1", "no part of a blend"),
        ("af_heart(-1)+bf_emma", "no part of a blend"),
        ("af_heart(nan)+bf_emma", "no part of a blend"),
        ("af_heart(1e9)+bf_emma", "no part of a blend"),
        ("af_heart(10000)+bf_emma", "no part of a blend"),
        ("af_heart(2)bf_emma", "no part of a blend"),
        ("af_heart bf_emma", "no voice named"),
        ("af_heart(0)+bf_emma", "weight of af_heart is 0"),
        ("af_heart+bf_emma+af_heart", "af_heart is there twice"),
        ("+".join(VOICES), "5 voices are too many"),
        ("af_heart" + "+" * 200, "too long"),
    ],
)
def test_what_is_none_is_refused_with_what_to_do(formula, says):
    with pytest.raises(InvalidInput, match=says.replace("(", r"\(")) as caught:
        read_blend(formula, VOICES, "name")
    assert caught.value.field == "name"
    assert caught.value.allowed
    assert not is_blend_of(formula, VOICES)


@given(st.lists(st.tuples(st.sampled_from(VOICES), st.integers(1, 9_999)), min_size=1, unique_by=lambda term: term[0]))
def test_parts_are_in_the_proportion_of_the_weights(terms):
    terms = terms[:MOST_VOICES]
    shares = read_blend("+".join(f"{name}({weight})" for name, weight in terms), VOICES)
    assert [share.voice for share in shares] == [name for name, _ in terms]
    assert sum(share.part for share in shares) == pytest.approx(1)
    for share, (_, weight) in zip(shares, terms, strict=True):
        assert share.part / shares[0].part == pytest.approx(weight / terms[0][1])


@pytest.mark.parametrize(
    "formula", ["bf_emma(1)+af_heart(2)", "af_heart(2)+bf_emma", " af_heart(666.6667) + bf_emma(333.3333)"]
)
def test_one_blend_has_one_canonical_formula_that_reads_as_it(formula):
    found = canonical(read_blend(formula, VOICES))
    assert found == "af_heart(0.6667)+bf_emma(0.3333)"
    assert canonical(read_blend(found, VOICES)) == found


@given(st.text("af_heart()+.0123 ", max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        shares = read_blend(text, VOICES)
    except InvalidInput:
        return
    assert {share.voice for share in shares} <= set(VOICES)
