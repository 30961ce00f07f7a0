"""Slices on machines of any speed, and a listener who must not run dry."""

import itertools
import random

import pytest

from rtvoice.speech.costs import GUESS, Cost, Costs
from rtvoice.speech.pace import ROWS_A_SECOND, Pace
from rtvoice.speech.slices import LOOK_AHEAD, STAGE1_LENGTHS, STAGE2_LENGTHS, Progress, Step

SHORTEST, LONGEST = STAGE1_LENGTHS[0], STAGE1_LENGTHS[-1]
EXACT = 1.3
"""How many times what the longest slices take the whole-sentence form takes."""


def work_s(costs):
    """Seconds of work for a second of speech in the longest slices."""
    stages = ((f"stage1-{LONGEST}", LONGEST), (f"stage2-{STAGE2_LENGTHS[-1]}", STAGE2_LENGTHS[-1]))
    return costs.before_generator(1.0) + sum(costs.seconds(name) * ROWS_A_SECOND / rows for name, rows in stages)


def prior_of(speed):
    """The costs of a machine that makes so many seconds of speech in a second."""
    factor = 1 / (speed * work_s(Costs(GUESS)))
    return {name: Cost(cost.fixed_s * factor, cost.each_s * factor) for name, cost in GUESS.items()}


def machine(speed):
    return Costs(prior_of(speed))


def pace_of(speed, planned_for=None):
    return Pace(prior_of(planned_for or speed), machine(speed), STAGE1_LENGTHS, STAGE2_LENGTHS)


class Listener:
    """Plays what it is given, from the first sound on, and waits when there is nothing."""

    def __init__(self):
        self.first_s = self.dry_at = None
        self.waited_s = 0.0

    def in_hand_s(self, now):
        return 0.0 if self.dry_at is None else max(0.0, self.dry_at - now)

    def hear(self, seconds, now):
        if self.dry_at is None:
            self.first_s = self.dry_at = now
        self.waited_s = max(self.waited_s, now - self.dry_at)
        self.dry_at = max(self.dry_at, now) + seconds


def whole(sentences, costs):
    """Speak each sentence as a whole; returns the listener."""
    listener, now = Listener(), 0.0
    for seconds in sentences:
        generator_s = EXACT * seconds * (work_s(costs) - costs.before_generator(1.0))
        now += costs.before_generator(seconds) + generator_s
        listener.hear(seconds, now)
    return listener


def sliced(sentences, speed, scatter=None, planned_for=None):
    """Speak sentences in slices, as `Acoustics` does; `scatter` gives how many times its cost each slice takes."""
    listener, now = Listener(), 0.0
    pace, costs = pace_of(speed, planned_for), machine(speed)
    for seconds in sentences:
        now += costs.before_generator(seconds)
        progress, held_s, begins = Progress(round(seconds * ROWS_A_SECOND)), 0.0, listener.dry_at is None
        steps, holds = pace.plan(progress.count), True
        for number, step in enumerate(steps):
            assert step.stage == 1 or not progress.missing(step.length)
            now += costs.seconds(step.network) * (scatter() if scatter else 1.0)
            after = progress.after(step)
            held_s += (after.spoken - progress.spoken) / ROWS_A_SECOND
            progress = after
            if not held_s:
                continue
            in_hand_s = listener.in_hand_s(now) + held_s
            holds = holds and not pace.lasts(progress, steps[number + 1 :], in_hand_s, begins=begins)
            if not holds:
                listener.hear(held_s, now)
                held_s = 0.0
        assert held_s == 0
        assert progress.spoken == progress.count
    return listener


@pytest.mark.parametrize("speed", [0.3, 0.5, 0.8, 0.95, 1.0, 1.05, 1.2, 1.5, 2.0, 3.0, 5.0])
def test_speech_never_runs_dry_where_whole_sentences_would_not(speed):
    moments = random.Random(speed)  # noqa: S311  # moments, not secrets
    costs, compared = machine(speed), 0
    for number in range(60):
        sentences = [moments.uniform(1.5, 9.0) for _ in range(1 + number % 5)]
        if whole(sentences, machine(speed / 1.15)).waited_s > 0:
            continue
        compared += 1
        ours = sliced(sentences, speed, lambda: moments.uniform(0.85, 1.15))
        assert ours.waited_s <= 1e-9, sentences
        assert ours.first_s <= whole(sentences, costs).first_s
    assert compared >= 12  # each single sentence, at least


@pytest.mark.parametrize(("speed", "share"), [(1.2, 0.4), (2.0, 0.25), (3.0, 0.22), (5.0, 0.22)])
def test_a_machine_faster_than_speech_is_heard_early(speed, share):
    assert sliced([6.0], speed).first_s < share * whole([6.0], machine(speed)).first_s


@pytest.mark.parametrize("speed", [0.3, 0.6, 0.9, 1.2])
def test_a_machine_slower_than_was_thought_never_runs_dry_inside_a_sentence(speed):
    for seconds in (1.0, 2.5, 6.0, 12.0):
        ours = sliced([seconds], speed, planned_for=4.0)
        assert ours.waited_s == 0
        assert ours.first_s <= whole([seconds], machine(speed)).first_s * 1.2


def test_the_first_slices_of_a_fast_machine_are_the_shortest_then_they_grow():
    steps = pace_of(5.0).plan(800)
    assert steps[:2] == (Step(1, SHORTEST), Step(2, STAGE2_LENGTHS[0]))
    assert STAGE2_LENGTHS[0] + LOOK_AHEAD == SHORTEST
    assert steps.count(Step(1, LONGEST)) >= 4
    assert len({step for step in steps if step.stage == 2}) == len(STAGE2_LENGTHS)


def test_slices_of_a_slow_machine_are_the_cheapest():
    assert pace_of(0.5).plan(4 * LONGEST)[0] == Step(1, LONGEST)
    assert {step.length for step in pace_of(0.5).plan(4 * LONGEST) if step.stage == 1} == {LONGEST}


def test_the_last_slice_is_no_longer_than_pays():
    assert pace_of(0.5).plan(LONGEST + 10)[-2].length < LONGEST
    assert [step.length for step in pace_of(5.0).plan(5)] == [SHORTEST, STAGE2_LENGTHS[0]]


def test_a_plan_does_not_change_with_what_is_measured():
    costs = machine(3.0)
    pace = Pace(prior_of(3.0), costs, STAGE1_LENGTHS, STAGE2_LENGTHS)
    before = pace.plan(500)
    for _ in range(100):
        costs.learn(f"stage1-{SHORTEST}", 5.0)
    assert pace.plan(500) == before
    begun = Progress(500, made=SHORTEST, spoken=STAGE2_LENGTHS[0])
    assert not pace.lasts(begun, before[2:], 0.2, begins=True)
    assert pace.lasts(Progress(500, 500, 500), (), 0.2, begins=True)


def test_costs_follow_what_is_measured_and_are_not_thrown_by_one_that_was_held_up():
    costs = Costs({"a": Cost(1.0), "b": Cost(0.5, 0.01), "c": Cost(3.0)})
    costs.learn("a", 100.0)
    assert costs.seconds("a") <= 1.2 + 1e-9
    for _ in range(60):
        costs.learn("a", 2.0)
        costs.learn("b", 3.0, 100)
    assert costs.seconds("a") == pytest.approx(2.0, rel=0.01)
    assert costs.seconds("b", 100) == pytest.approx(3.0, rel=0.01)
    assert costs.seconds("c") == pytest.approx(6.0, rel=0.05)  # nothing is known of it but how the others do
    costs.learn("unheard of", 1.0)
    costs.learn("a", 0.0)
    assert costs.seconds("a") == pytest.approx(2.0, rel=0.01)


def test_every_network_of_the_default_path_has_a_cost():
    lengths = itertools.chain(
        (f"stage1-{rows}" for rows in STAGE1_LENGTHS), (f"stage2-{rows}" for rows in STAGE2_LENGTHS)
    )
    assert {"text", "prosody", "decoder", *lengths} == set(GUESS)
    assert 0.1 < Costs().first_audio_s < 1.0
