from __future__ import annotations

import pytest

from benchmarks.table import Figure, render


def test_a_figure_is_the_median_with_its_range():
    figure = Figure.of([1.4, 1.2, 1.3])
    assert (figure.median, figure.low, figure.high) == (1.3, 1.2, 1.4)
    assert figure.spread == pytest.approx(0.2 / 1.3)
    assert figure.show() == "1.30 (1.20-1.40)"


def test_one_run_has_no_range():
    assert Figure.of([1234.4]).show(0) == "1,234"


def test_columns_line_up():
    assert render(("", "a"), [("long name", "1"), ("x", "100")]).splitlines() == [
        "             a",
        "---------  ---",
        "long name    1",
        "x          100",
    ]
