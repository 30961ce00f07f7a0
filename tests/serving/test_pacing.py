"""The playback clock, with time passed in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.serving.pacing import PlaybackClock


def test_the_clock_starts_with_the_first_frame_and_runs_in_real_time():
    clock = PlaybackClock()
    assert clock.ahead(5.0) == 0
    clock.sent(2.0, now=10.0)
    assert clock.ahead(10.0) == 2.0
    assert clock.ahead(11.5) == pytest.approx(0.5)
    assert clock.ahead(99.0) == 0


def test_a_listener_who_ran_dry_waits():
    clock = PlaybackClock()
    clock.sent(1.0, now=0.0)
    clock.sent(1.0, now=5.0)
    assert clock.ahead(5.0) == 1.0


def test_an_interruption_takes_the_newest_audio_only():
    clock = PlaybackClock()
    clock.sent(3.0, now=0.0)  # an utterance before
    clock.sent(1.0, now=0.0)  # the one interrupted
    assert clock.interrupt(1.0, now=1.0) == 1.0
    assert clock.ahead(1.0) == 2.0


def test_an_interruption_leaves_what_was_heard():
    clock = PlaybackClock()
    clock.sent(3.0, now=0.0)
    assert clock.interrupt(3.0, now=1.0) == 2.0
    assert clock.ahead(1.0) == 0


@given(st.lists(st.tuples(st.sampled_from(["sent", "interrupt"]), st.floats(0, 10), st.floats(0, 10))))
def test_what_is_ahead_is_never_more_than_what_was_sent(steps):
    clock, now, sent = PlaybackClock(), 0.0, 0.0
    for what, seconds, passes in steps:
        now += passes
        if what == "sent":
            clock.sent(seconds, now)
            sent += seconds
        else:
            ahead = clock.ahead(now)
            assert 0 <= clock.interrupt(seconds, now) <= min(seconds, ahead)
        assert 0 <= clock.ahead(now) <= sent + 1e-9
