"""Who is taken, by what was measured and who waits; time passed in."""

import pytest

from rtvoice.errors import Overloaded
from rtvoice.serving.admission import Admission

LEFT = 0.75


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def admission(clock, most_s=3.0, places=1, loading_s=0.0):
    made = Admission(most_s=most_s, places=lambda: places, loading_s=lambda: loading_s, clock=clock)
    made.learn(0.5)
    return made


def dry():
    return 0.0


def test_before_anything_is_measured_everybody_is_taken(clock):
    fresh = Admission(most_s=0.0, places=lambda: 1, clock=clock)
    for _ in range(100):
        fresh.check()
        fresh.begin(dry)
    assert fresh.retry_after_s is None


def test_the_wait_is_the_work_of_those_before_and_ones_own(clock):
    queue = admission(clock)
    assert queue.predicted_s == 0.5
    for _ in range(4):
        queue.begin(dry)
    assert queue.predicted_s == 0.5 + 4 * LEFT * 0.5
    assert queue.hungry == 4


def test_more_places_shorten_the_queue_and_not_the_work(clock):
    queue = admission(clock, places=2)
    for _ in range(4):
        queue.begin(dry)
    assert queue.predicted_s == 0.5 + 2 * LEFT * 0.5


def test_over_the_limit_it_says_how_long_to_stay_away(clock):
    queue = admission(clock, most_s=0.5 + 5 * LEFT * 0.5)
    begun = [queue.begin(dry) for _ in range(7)]
    with pytest.raises(Overloaded) as caught:
        queue.check()
    assert caught.value.retry_after_ms == round(2 * LEFT * 500)
    begun[0].over()
    begun[0].over()
    begun[1].over()
    queue.check()


def test_who_has_audio_in_hand_does_not_count_until_it_runs_dry(clock):
    queue = admission(clock)
    waiting = queue.begin(lambda: 102.0)
    assert queue.hungry == 1
    waiting.heard(0.5)
    assert queue.hungry == 0
    clock.now = 103.0
    assert queue.hungry == 1


def test_who_heard_something_and_waits_for_more_counts_for_little(clock):
    queue = admission(clock)
    queue.begin(lambda: 0.0).heard(0.5)
    assert queue.hungry == 1
    assert 0.5 < queue.predicted_s < 0.5 + 0.2 * 0.5


def test_before_the_first_measurement_the_engine_predicts_and_then_counts_as_one_of_them(clock):
    queue = Admission(most_s=3.0, places=lambda: 1, work_s=lambda: 0.4, clock=clock)
    assert queue.predicted_s == 0.4
    queue.learn(0.8)
    assert queue.predicted_s == pytest.approx(0.6)
    queue.learn(0.9)
    assert queue.predicted_s == pytest.approx(0.7)
    for _ in range(100):
        queue.learn(2.0)
    assert queue.predicted_s == pytest.approx(2.0, rel=0.01)


def test_a_load_is_predicted_and_refuses_nobody(clock):
    queue = admission(clock, loading_s=1e9)
    assert queue.predicted_s == 1e9 + 0.5
    queue.check()
    queue.begin(dry)
    queue.check()  # one load serves all who wait


def test_work_that_once_took_too_long_locks_nobody_out(clock):
    queue = admission(clock)
    queue.learn(1e9)
    queue.check()
    first = queue.begin(dry)
    with pytest.raises(Overloaded):
        queue.check()
    first.over()
    queue.check()


def test_the_average_follows_what_is_measured_and_each_is_measured_once(clock):
    queue = admission(clock)
    for _ in range(50):
        waiting = queue.begin(dry)
        waiting.heard(2.0)
        waiting.heard(99.0)
        waiting.over()
    assert queue.predicted_s == pytest.approx(2.0, rel=0.02)


def test_retries_are_neither_at_once_nor_in_an_hour(clock):
    waits_s = 0.5 * (1 + LEFT)
    for most_s, retry_after_s in ((waits_s - 1e-4, 0.1), (1e-6, waits_s)):
        queue = admission(clock, most_s=most_s)
        queue.begin(dry)
        assert queue.retry_after_s == pytest.approx(retry_after_s, abs=1e-3)
    for _ in range(5):
        queue.learn(1e9)
    assert queue.retry_after_s == 60


def test_without_a_limit_everybody_is_taken(clock):
    queue = admission(clock, most_s=None, loading_s=1e9)
    queue.check()
