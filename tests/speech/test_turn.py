"""Accounts and turns: who goes first when the machine is asked for more than it can do."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.speech.turn import Account, Turn


def test_a_debt_is_what_was_used_and_is_forgotten():
    account = Account()
    assert account.debt(5.0) == 0
    account.charge(2.0, 0.0, now=5.0)
    assert account.debt(5.0) == 2.0
    assert 0.7 < account.debt(15.0) < 0.8
    assert account.debt(1000.0) < 1e-6


def test_a_key_is_charged_for_its_sessions():
    key = Account()
    one, other, stranger = Account(key), Account(key), Account()
    one.charge(1.0, 0.5, now=0.0)
    assert (key.used_s, key.waited_s) == (1.0, 0.5)
    assert one.debt(0.0) > other.debt(0.0) > stranger.debt(0.0) == 0


def test_who_was_given_as_much_owes_as_much_over_however_many_sessions():
    few, many = Account(), Account()
    alone, crowd = Account(few), [Account(many) for _ in range(8)]
    Account(alone).charge(4.0, 0.0, now=0.0)
    for session in crowd:
        Account(session).charge(0.5, 0.0, now=0.0)
    assert alone.debt(0.0) == pytest.approx(4.0)
    assert [session.debt(0.0) for session in crowd] == pytest.approx([4.0] * 8, rel=0.02)
    assert Account(many).debt(0.0) == pytest.approx(4.0, rel=0.15)  # one more does not escape


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0, 30)), min_size=1))
def test_a_debt_is_never_more_than_what_was_used(steps):
    account, now = Account(), 0.0
    for used, passes in steps:
        now += passes
        account.charge(used, 0.0, now)
        assert 0 <= account.debt(now) <= account.used_s * (1 + 1e-9)


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def test_audio_in_hand_waits_for_who_has_none():
    clock = Clock()
    hungry, fed = Turn(clock=clock), Turn(dry_at=lambda: 1007.5, clock=clock)
    assert hungry.deadline() < fed.deadline()


def test_who_came_first_is_first_until_it_is_heard():
    clock = Clock()
    first, second = Turn(clock=clock), Turn(clock=clock)
    assert first.deadline() == clock.now
    clock.now += 0.5
    second.deadline()
    first.account.charge(0.5, 0.0, clock.now)
    assert first.deadline() < second.deadline()


def test_having_been_dry_for_long_gives_no_right():
    clock = Clock()
    assert Turn(dry_at=lambda: 0.0, clock=clock).deadline() == clock.now


@pytest.mark.parametrize("sentences", [1, 5, 20])
def test_a_book_does_not_starve_sentences_nor_they_the_book(sentences):
    """One place, and a book that takes all that is left; sentences keep coming for a minute, one when one is done."""
    clock = Clock()
    accounts = {name: Account() for name in ("book", *range(sentences))}
    dry_at = {"book": 0.0}
    turns = {name: Turn(accounts[name], lambda name=name: dry_at.get(name), clock=clock) for name in accounts}
    asks = {name: turns[name].deadline() for name in accounts}
    steps, began, waits, turned = dict.fromkeys(accounts, 0), dict.fromkeys(accounts, clock.now), [], [clock.now]
    while clock.now < 1060:
        name = min(asks, key=asks.__getitem__)
        clock.now += 0.1
        accounts[name].charge(0.1, 0.0, clock.now)
        steps[name] += 1
        if name == "book":
            dry_at[name] = max(dry_at[name], clock.now) + 0.15  # faster than it is heard
            turned.append(clock.now)
        elif steps[name] % 5 == 0:  # five steps to its first audio, and it is all there is of it
            waits.append(clock.now - began[name])
            began[name] = clock.now
            turns[name] = Turn(accounts[name], clock=clock)
        asks[name] = turns[name].deadline()
    assert max(waits) < 1.3 * 0.5 * (sentences + 1) + 1
    assert max(later - earlier for earlier, later in pairwise(turned)) < 0.5 * sentences + 5


def test_without_anybody_who_tells_the_listener_hears_what_is_given_in_real_time():
    clock = Clock()
    turn = Turn(clock=clock)
    assert not turn.hears
    assert turn.in_hand_s == 0
    turn.give(2.0)
    assert turn.hears
    clock.now += 0.5
    assert turn.in_hand_s == 1.5
    assert turn.deadline() == clock.now + 1.5
    clock.now += 5.0
    assert turn.in_hand_s == 0
    assert turn.hears  # it has heard something, and waits
    assert turn.deadline() == clock.now
    turn.give(1.0)
    assert turn.in_hand_s == 1.0


def test_who_tells_is_believed():
    clock = Clock()
    dry_at = [None]
    turn = Turn(dry_at=lambda: dry_at[0], clock=clock)
    turn.give(3.0)
    assert turn.in_hand_s == 0  # it has not reached the listener
    dry_at[0] = clock.now + 1.0
    assert turn.in_hand_s == 1.0
    assert Turn(dry_at=lambda: dry_at[0], clock=clock).hears  # what came before it is still being heard
