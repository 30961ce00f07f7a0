"""A text that knows where its characters came from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.text.mapped import Edit, Mapped, Pin


def test_untouched_characters_stand_for_themselves():
    text = Mapped.of("abc", 10)
    assert [text.origin(i, i + 1) for i in range(3)] == [(10, 11), (11, 12), (12, 13)]
    assert text.origin() == (10, 13)


def test_new_text_stands_for_all_it_replaces():
    spoken = Mapped.of("It cost $5.").edit([Edit(8, 10, "five dollars")])
    assert spoken.text == "It cost five dollars."
    assert spoken.origin(13, 20) == (8, 10)
    assert spoken.origin(3, 7) == (3, 7)
    assert spoken.origin(20, 21) == (10, 11)


def test_rewriting_what_was_rewritten_goes_back_to_the_original():
    once = Mapped.of("see e.g. this").edit([Edit(4, 8, "eg")])
    twice = once.edit([Edit(4, 6, "for example")])
    assert twice.text == "see for example this"
    assert twice.origin(4, 15) == (4, 8)
    assert twice.origin(16, 20) == (9, 13)


def test_a_mapped_replacement_keeps_its_own_origins():
    text = Mapped.of("5 kg")
    swapped = text.edit([Edit(0, 4, text[2:4] + text[1:2] + text[0:1])])
    assert swapped.text == "kg 5"
    assert swapped.origin(0, 2) == (2, 4)
    assert swapped.origin(3, 4) == (0, 1)


def test_deleting_and_inserting():
    text = Mapped.of("a-b").edit([Edit(1, 2, "")])
    assert text.text == "ab"
    assert text.origin(1, 2) == (2, 3)
    assert text.edit([Edit(1, 1, "!")]).origin(1, 2) == (1, 1)
    assert Mapped.of("", 7).edit([Edit(0, 0, "!")]).origin() == (7, 7)


def test_no_edit_is_no_copy():
    text = Mapped.of("abc")
    assert text.edit([]) is text


@pytest.mark.parametrize(
    "edits",
    [[Edit(2, 3, "x"), Edit(0, 1, "y")], [Edit(0, 2, "x"), Edit(1, 3, "y")], [Edit(2, 4, "x")], [Edit(2, 1, "x")]],
)
def test_edits_out_of_order_or_place_are_refused(edits):
    with pytest.raises(ValueError, match="edit of"):
        Mapped.of("abc").edit(edits)


def test_pins_are_passed_by_and_move_along():
    text = Mapped.of("a Zed b").pin(2, 5, "zˈɛd")
    moved = text.edit([Edit(0, 1, "one"), Edit(2, 3, "zz"), Edit(3, 3, "x"), Edit(6, 7, "bee")])
    assert moved.text == "one Zed bee"
    assert moved.pins == (Pin(4, 7, "zˈɛd"),)
    assert moved[4:].pins == (Pin(0, 3, "zˈɛd"),)
    assert moved[5:].pins == ()
    assert (moved + moved).pins == (Pin(4, 7, "zˈɛd"), Pin(15, 18, "zˈɛd"))


def test_inserting_beside_a_pin_is_no_touch():
    text = Mapped.of("Zed").pin(0, 3)
    assert text.edit([Edit(0, 0, "<"), Edit(3, 3, ">")]).text == "<Zed>"


@pytest.mark.parametrize(("at", "to"), [(2, 2), (0, 9), (-1, 2), (1, 3)])
def test_pins_lie_in_the_text_and_apart(at, to):
    with pytest.raises(ValueError, match="cannot pin"):
        Mapped.of("abcdef").pin(2, 4).pin(at, to)


def test_strip():
    stripped = Mapped.of("  ab \n", 5).strip()
    assert (stripped.text, stripped.origin()) == ("ab", (7, 9))
    assert Mapped.of("  ").strip().text == ""


@st.composite
def rewritings(draw):
    """A text and rounds of edits to it."""
    text = draw(st.text(max_size=30))
    rounds = []
    length = len(text)
    for _ in range(draw(st.integers(0, 3))):
        edges = sorted(draw(st.lists(st.integers(0, length), max_size=8).filter(lambda e: len(e) % 2 == 0)))
        edits = [Edit(at, to, draw(st.text(max_size=5))) for at, to in zip(edges[::2], edges[1::2], strict=True)]
        rounds.append(edits)
        length += sum(len(new) - (to - at) for at, to, new in edits)
    return text, rounds


@given(rewritings(), st.integers(0, 1000))
def test_edits_equal_those_of_a_plain_list_of_characters(rewriting, start):
    text, rounds = rewriting
    mapped = Mapped.of(text, start)
    plain = [(c, start + i, start + i + 1) for i, c in enumerate(text)]
    for edits in rounds:
        mapped = mapped.edit(edits)
        before = list(plain)
        for at, to, new in reversed(edits):
            if at < to:
                low, high = min(s for _, s, _ in before[at:to]), max(e for _, _, e in before[at:to])
            elif before:
                low = high = before[at - 1][2] if at else before[0][1]
            else:
                low = high = mapped.origin()[0]
            plain[at:to] = [(c, low, high) for c in new]
    assert mapped.text == "".join(c for c, _, _ in plain)
    assert [mapped.origin(i, i + 1) for i in range(len(mapped))] == [(s, e) for _, s, e in plain]


@given(st.text(max_size=20), st.integers(0, 20), st.integers(0, 20))
def test_slices_are_joined_to_the_whole(text, at, to):
    mapped = Mapped.of(text, 3)
    at, to = sorted((at, to))
    assert Mapped.join([mapped[:at], mapped[at:to], mapped[to:]]) == mapped
