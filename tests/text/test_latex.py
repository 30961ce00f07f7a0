"""Formulas in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.text.mapped import Mapped
from rtvoice.text.markup.latex import formula


def said(written: str) -> str | None:
    words = formula(Mapped.of(written))
    return None if words is None else " ".join(words.text.split())


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("$E = mc^2$", "E equals m c squared"),
        (r"$e^{i\pi} + 1 = 0$", "e to the power of i pi plus 1 equals 0"),
        (r"\(\frac{a}{b} \leq \sqrt{x_1}\)", "a over b is at most the square root of x sub 1"),
        (r"\[ \alpha \times 10^{-3} \]", "alpha times 10 to the power of minus 3"),
        (r"$$\sum_{i} x_i^3 \to \infty$$", "the sum of sub i x sub i cubed to infinity"),
        (r"$f'(x) \neq 90^\circ$", "f prime x is not equal to 90 degrees"),
        (r"$\text{rate} < 5\%$", "rate is less than 5 percent"),
        (r"$\Delta t, \Omega$", "delta t , omega"),
        ("$x$", "x"),
        ("$a/b$", "a over b"),
        (r"\(\unknown{x}\,y\)", "x y"),
        (r"$\frac{1$", "1 over"),
        (r"$\text$ ", None),
        ("$$ $$", ""),
        ("$5 or US$", None),
        ("$5.00$", None),
    ],
)
def test_said(written, words):
    assert said(written.strip()) == words or (words is None and said(written.strip()) in (None, ""))


def test_each_word_keeps_its_place():
    words = formula(Mapped.of(r"$x^2 + \pi$", 100))
    assert words is not None
    place = {words.text[at:to]: words.origin(at, to) for at, to in ((0, 1), (2, 9), (10, 14), (15, 17))}
    assert place == {"x": (101, 102), "squared": (103, 104), "plus": (105, 106), "pi": (107, 110)}


@given(st.text(alphabet="$\\{}^_ab1+-frcsqt() ", max_size=60))
def test_any_formula_is_read(content):
    words = formula(Mapped.of(f"\\({content}\\)"))
    assert words is not None
    assert not set(words.text) & set("\\{}^_$")


def test_deep_nesting_is_bounded():
    assert said(r"\(" + r"\sqrt{" * 90 + r"\)") is not None
