"""Figures against their limits."""

from benchmarks.criteria import Criterion, show


def test_a_limit_is_a_highest_or_a_lowest_figure():
    assert Criterion("x", 1.0, 1.0).kept
    assert not Criterion("x", 1.1, 1.0).kept
    assert Criterion("x", 1.0, 1.0, at_least=True).kept
    assert not Criterion("x", 0.9, 1.0, at_least=True).kept


def test_no_number_keeps_to_no_limit():
    assert not Criterion("x", float("nan"), 1.0).kept
    assert not Criterion("x", float("nan"), 1.0, at_least=True).kept


def test_the_table_says_which_are_not_kept():
    lines = show([Criterion("one", 1.0, 2.0), Criterion("other", 3.0, 2.0)]).splitlines()
    assert lines[2].endswith("yes")
    assert lines[3].endswith("NO")
