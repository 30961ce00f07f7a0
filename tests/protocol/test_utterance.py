"""The table of an utterance's life, walked at random."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.protocol.utterance import FINAL, ROLES, TRANSITIONS, Event, IllegalEvent, Role, State, Utterance


def test_the_table_is_complete():
    assert set(TRANSITIONS) == set(State)
    assert set(ROLES) == set(Event)
    assert frozenset({State.DONE, State.CANCELLED, State.FAILED}) == FINAL


@pytest.mark.parametrize("state", [state for state in State if state not in FINAL])
def test_what_lives_can_always_be_cancelled_and_fail(state):
    assert TRANSITIONS[state][Event.CANCEL] is State.CANCELLED
    assert TRANSITIONS[state][Event.FAIL] is State.FAILED


def test_done_comes_from_draining_only():
    assert [state for state in State if State.DONE in TRANSITIONS[state].values()] == [State.DRAINING]


@given(st.lists(st.sampled_from(Event)))
def test_any_walk(events):
    utterance = Utterance(1)
    for event in events:
        before = utterance.state
        if event in TRANSITIONS[before]:
            utterance.apply(event)
            assert before not in FINAL  # the first terminal state is the last state
            assert utterance.state is TRANSITIONS[before][event]
        else:
            with pytest.raises(IllegalEvent) as caught:
                utterance.apply(event)
            assert utterance.state is before
            assert (caught.value.event, caught.value.state, caught.value.role) == (event, before, ROLES[event])
        assert utterance.ended == (utterance.state in FINAL)


def test_an_illegal_event_says_who_did_what_when():
    utterance = Utterance(1)
    utterance.apply(Event.END)
    with pytest.raises(IllegalEvent, match=r"client.*'text'.*draining") as caught:
        utterance.receive_text(3, now=0.0)
    assert caught.value.role is Role.CLIENT
    assert utterance.characters == 0
    with pytest.raises(IllegalEvent, match=r"server.*'finish'.*open"):
        Utterance(2).apply(Event.FINISH)


def test_time_to_first_audio_counts_from_the_first_text_that_is_some():
    utterance = Utterance(1)
    utterance.receive_text(0, now=1.0)
    utterance.receive_text(5, now=2.0)
    assert utterance.first_audio_ms is None
    utterance.send_audio(2400, now=2.25)
    utterance.send_audio(2400, now=9.0)
    assert utterance.first_audio_ms == 250
    assert utterance.audio_ms == 200


def test_spoken_reaches_to_the_end_of_the_word_that_has_begun():
    utterance = Utterance(1)
    for sample, end in ((0, 5), (100, 9), (250, 12)):
        utterance.mark(sample, end)
    assert [utterance.spoken(samples) for samples in (0, 1, 100, 101, 250, 251, 9999)] == [0, 5, 5, 9, 9, 12, 12]


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000))), st.integers(0, 1000), st.integers(0, 1000))
def test_spoken_never_falls_with_what_was_heard(marks, some, more):
    utterance = Utterance(1)
    for sample, end in marks:
        utterance.mark(sample, end)
    assert utterance.spoken(min(some, more)) <= utterance.spoken(max(some, more))
