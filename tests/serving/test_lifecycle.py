"""The engine's life: the table, one load for all, quiet periods, and releases that race with requests."""

import asyncio
import itertools
import random
from contextlib import aclosing

import pytest

from rtvoice.errors import LoadFailed, SetupError
from rtvoice.serving.lifecycle import TRANSITIONS, Event, Lifecycle, State
from rtvoice.speech.synthesizer import SpeechOptions
from rtvoice.speech.turn import Turn
from tests.contract import SynthesizerContract, script_of
from tests.scripted import ScriptedSynthesizer


@pytest.fixture(autouse=True)
async def _watch(watched_loop):
    """Every test here runs under watch."""


class Loadable(ScriptedSynthesizer):
    """Takes its time to load and to release, fails at it on demand, and sees to it that nobody uses it wrongly."""

    def __init__(self, *, load_s=0.0, release_s=0.0, failures=(), **script):
        super().__init__(**script)
        self.load_s, self.release_s = load_s, release_s
        self.failures = list(failures)
        self.loads = self.releases = 0

    async def __aenter__(self):
        assert not self.entered
        self.loads += 1
        await asyncio.sleep(self.load_s)
        if self.failures:
            raise self.failures.pop(0)
        return await super().__aenter__()

    async def __aexit__(self, *exc_info):
        assert self.entered
        assert not self.running
        self.releases += 1
        await super().__aexit__(*exc_info)
        await asyncio.sleep(self.release_s)

    def speak(self, *args, **kwargs):
        assert self.entered, "spoken to while it is not there"
        return super().speak(*args, **kwargs)


async def say(synthesizer, text="One two three.", turn=None):
    async with aclosing(synthesizer.speak(script_of(text), SpeechOptions(), ordinal=0, turn=turn)) as slices:
        return [piece async for piece in slices]


async def reaches(lifecycle, state, within=3.0):
    async with asyncio.timeout(within):
        while lifecycle.state is not state:  # noqa: ASYNC110  # a test looks on
            await asyncio.sleep(0.001)


class TestContract(SynthesizerContract):
    """Wrapped, a synthesizer keeps its contract, also when it is released after every word."""

    @pytest.fixture(params=[None, 0.0])
    async def synthesizer(self, request):
        async with Lifecycle(Loadable(), idle_s=request.param) as lifecycle:
            yield lifecycle


def test_the_table_leaves_no_state_without_a_way_back_to_ready():
    for state in State:
        reachable, frontier = set(), {state}
        while frontier:
            reachable |= frontier
            frontier = {after for here in frontier for after in TRANSITIONS[here].values()} - reachable
        assert State.READY in reachable
    assert set(TRANSITIONS) == set(State)
    assert {event for events in TRANSITIONS.values() for event in events} == set(Event)


async def test_it_starts_cold_loads_for_speech_and_is_released_after_a_quiet_period():
    synthesizer, seen = Loadable(), []
    async with Lifecycle(
        synthesizer, idle_s=0.05, changed=lambda before, seconds, after: seen.append((before, after))
    ) as lifecycle:
        assert lifecycle.state is State.COLD
        assert await say(lifecycle)
        assert lifecycle.state is State.READY
        await reaches(lifecycle, State.RELEASED)
        assert await say(lifecycle)
    assert synthesizer.loads == synthesizer.releases == 2
    assert [after for _, after in seen] == [
        *(State.LOADING, State.READY, State.RELEASING, State.RELEASED) * 2,
    ]
    assert all(before is after for (_, before), (after, _) in itertools.pairwise(seen))


async def test_preloaded_it_is_ready_and_says_what_is_wrong():
    async with Lifecycle(Loadable(), preload=True) as lifecycle:
        assert lifecycle.state is State.READY
    with pytest.raises(SetupError, match="no weights"):
        async with Lifecycle(Loadable(failures=[SetupError("no weights")]), preload=True):
            pass


async def test_without_an_idle_time_it_stays():
    synthesizer = Loadable()
    async with Lifecycle(synthesizer) as lifecycle:
        await say(lifecycle)
        await asyncio.sleep(0.1)
        assert lifecycle.state is State.READY
        assert not synthesizer.releases


async def test_speech_however_slow_keeps_it():
    async with (
        Lifecycle(Loadable(delay_s=0.05), idle_s=0.02) as lifecycle,
        aclosing(lifecycle.speak(script_of("One two three four."), SpeechOptions(), ordinal=0)) as slices,
    ):
        async for _ in slices:
            await asyncio.sleep(0.05)
            assert lifecycle.state is State.READY


async def test_asking_what_it_offers_loads_nothing():
    synthesizer = Loadable()
    async with Lifecycle(synthesizer, idle_s=0.01) as lifecycle:
        assert lifecycle.voices
        assert lifecycle.languages
        lifecycle.check(SpeechOptions())
        await asyncio.sleep(0.03)
    assert not synthesizer.loads


async def test_one_load_serves_all_who_wait_and_tells_them_how_far_it_is():
    synthesizer = Loadable(load_s=0.1)
    async with Lifecycle(synthesizer, idle_s=0.05) as lifecycle:
        told = [[] for _ in range(10)]
        turns = [Turn(loading=lambda *what, heard=heard: heard.append(what)) for heard in told]
        assert all(await asyncio.gather(*(say(lifecycle, turn=turn) for turn in turns)))
        assert synthesizer.loads == 1
        assert all(len(heard) == 1 and heard[0][1] is None for heard in told)
        await reaches(lifecycle, State.RELEASED)
        assert lifecycle.loading_s == pytest.approx(0.1, abs=0.05)
        await say(lifecycle, turn=turns[0])
        assert told[0][-1][1] == pytest.approx(0.1, abs=0.05)
        assert lifecycle.loading_s == 0


async def test_a_failed_load_tells_all_who_wait_and_the_next_request_tries_again():
    synthesizer = Loadable(load_s=0.02, failures=[SetupError("the disk is full"), MemoryError()])
    async with Lifecycle(synthesizer) as lifecycle:
        results = await asyncio.gather(*(say(lifecycle) for _ in range(5)), return_exceptions=True)
        assert len({id(error) for error in results}) == 5
        assert all(isinstance(error, LoadFailed) and "the disk is full" in str(error) for error in results)
        assert lifecycle.state is State.COLD
        with pytest.raises(LoadFailed, match="MemoryError"):
            await say(lifecycle)
        assert await say(lifecycle)
    assert synthesizer.loads == 3


async def test_who_leaves_while_it_loads_leaves_the_load_to_others():
    synthesizer = Loadable(load_s=0.05)
    async with Lifecycle(synthesizer) as lifecycle:
        leaving, staying = (asyncio.create_task(say(lifecycle)) for _ in range(2))
        await asyncio.sleep(0.01)
        leaving.cancel()
        assert await staying
        assert synthesizer.loads == 1


async def test_waking_it_loads_ahead_and_begins_the_quiet_period_anew():
    synthesizer = Loadable(load_s=0.01)
    async with Lifecycle(synthesizer, idle_s=0.08) as lifecycle:
        lifecycle.wake()
        await reaches(lifecycle, State.READY)
        await asyncio.sleep(0.05)
        lifecycle.wake()
        await asyncio.sleep(0.05)
        assert lifecycle.state is State.READY
        await reaches(lifecycle, State.RELEASED)
        assert synthesizer.loads == 1


async def test_a_load_that_nobody_waits_for_may_fail():
    async with Lifecycle(Loadable(failures=[SetupError("no")])) as lifecycle:
        lifecycle.wake()
        await asyncio.sleep(0.01)
        assert await say(lifecycle)


async def test_a_release_that_fails_is_a_release():
    class Clinging(Loadable):
        async def __aexit__(self, *exc_info):
            await super().__aexit__(*exc_info)
            raise RuntimeError("it holds on")

    async with Lifecycle(Clinging(), idle_s=0.01) as lifecycle:
        await say(lifecycle)
        await reaches(lifecycle, State.RELEASED)
        assert await say(lifecycle)
        await reaches(lifecycle, State.RELEASED)


async def test_memory_is_given_back_unless_somebody_waits():
    given = []
    async with Lifecycle(Loadable(release_s=0.05), idle_s=0.01, give_back=lambda: given.append(1)) as lifecycle:
        await say(lifecycle)
        await reaches(lifecycle, State.RELEASING)
        assert await say(lifecycle)
        assert not given
        await reaches(lifecycle, State.RELEASED)
        assert given


@pytest.mark.parametrize("moment", [State.LOADING, State.READY, State.RELEASING])
async def test_closing_at_any_moment_leaves_nothing_behind(moment):
    synthesizer = Loadable(load_s=0.03, release_s=0.03, delay_s=0.01)
    lifecycle = Lifecycle(synthesizer, idle_s=0.0 if moment is State.RELEASING else None)
    async with lifecycle:
        lifecycle.wake()
        await reaches(lifecycle, moment)
    assert not synthesizer.entered
    with pytest.raises(LoadFailed):
        await say(lifecycle)


async def test_a_thousand_releases_race_with_requests():
    """Requests come at every moment of loading, speaking and releasing, and some leave early: each is answered."""
    rng = random.Random(7)  # noqa: S311  # moments, not secrets
    synthesizer = Loadable(load_s=0.0005, release_s=0.0005, failures=[])
    answered = 0

    async def client(requests):
        nonlocal answered
        for _ in range(requests):
            await asyncio.sleep(rng.choice((0, 0, 0.0005, 0.001, 0.002)))
            task = asyncio.create_task(say(lifecycle, "One two."))
            if rng.random() < 0.2:
                await asyncio.sleep(rng.choice((0, 0.0005)))
                task.cancel()
                await asyncio.wait([task])
            else:
                assert len(await task) == 2
            answered += 1

    async with Lifecycle(synthesizer, idle_s=0.0) as lifecycle, asyncio.timeout(60):
        while synthesizer.releases < 1000:
            await asyncio.gather(*(client(50) for _ in range(2)))
    assert answered
    # closing may cut a load off that somebody who left had asked for: it was begun and never there
    assert 0 <= synthesizer.loads - synthesizer.releases <= 1


async def test_a_clock_that_jumps_delays_nothing():
    now = [0.0]
    async with Lifecycle(Loadable(), idle_s=30, clock=lambda: now[0]) as lifecycle:
        await say(lifecycle)
        now[0] += 1e6  # the machine slept
        assert await say(lifecycle)
        assert lifecycle.state is State.READY
