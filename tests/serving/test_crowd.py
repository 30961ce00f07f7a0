"""Many clients of one engine of known speed: who is heard when, and whether that was predicted. In virtual time."""

import asyncio
import logging
import random
import statistics

import pytest
import structlog

from rtvoice.config import ClientLimits
from rtvoice.serving.quota import Client
from tests.serving.crowd import Crowd, SlicedEngine, WholeEngine, in_virtual_time

SENTENCE = "This is a sentence of about eleven words, give or take two."
TURN = " ".join([SENTENCE] * 3)
BOOK = " ".join([SENTENCE] * 200)


@pytest.fixture(autouse=True)
def _quiet():
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    yield
    structlog.reset_defaults()


def p90(values):
    return sorted(values)[int(0.9 * len(values))]


def sentences(speed, *, book, client=None):
    """First audio of clients with a sentence each at random moments, alone or beside one who has a book read."""

    async def play():
        crowd, moments = Crowd(SlicedEngine(speed), wait_s=None), random.Random(20)  # noqa: S311  # moments
        reader = asyncio.create_task(crowd.speak(BOOK, client=client)) if book else None
        await asyncio.sleep(3)
        speaking = (crowd.speak(SENTENCE, after_s=moments.uniform(0, 20), client=client) for _ in range(20))
        heard = await asyncio.gather(*speaking)
        if reader is not None:
            assert not reader.done()
            reader.cancel()
            await asyncio.wait([reader])
        return [each.first_s for each in heard]

    return in_virtual_time(play)


@pytest.mark.parametrize("speed", [2.0, 4.0, 8.0])
@pytest.mark.parametrize("of_one_address", [False, True])
def test_twenty_sentences_are_heard_as_soon_beside_a_book(speed, of_one_address):
    def first_audio(*, book):
        return sentences(speed, book=book, client=Client(ClientLimits()) if of_one_address else None)

    assert p90(first_audio(book=True)) <= 1.3 * p90(first_audio(book=False))


def test_turns_of_four_clients_begin_sooner_than_whole_sentences_one_by_one():
    """The whole-sentence engine makes half as much speech in a second, as other engines do on the same machine."""

    def turns(make):
        async def play():
            crowd = Crowd(make(), wait_s=None)
            return await asyncio.gather(*(crowd.speak(TURN, after_s=number / 1000) for number in range(4)))

        return [heard.first_s for heard in in_virtual_time(play)]

    ours, theirs = turns(lambda: SlicedEngine(5.0)), turns(lambda: WholeEngine(2.5))
    assert statistics.median(ours) <= statistics.median(theirs) / 2
    assert p90(ours) <= p90(theirs) / 3


@pytest.mark.parametrize("speed", [1.3, 2.0, 4.0, 8.0])
def test_one_listener_never_runs_dry(speed):
    async def play():
        return await Crowd(SlicedEngine(speed)).speak(TURN)

    assert in_virtual_time(play).dry_s == 0


def test_the_first_audio_of_whoever_comes_is_predicted():
    """Of nine in ten within a factor of two, idle or overrun, with one place or four."""
    shares = []
    for speed, places, spread_s in ((2.5, 1, 20.0), (5.0, 1, 5.0), (2.5, 4, 5.0)):

        async def play(speed=speed, places=places, spread_s=spread_s):
            crowd, moments = Crowd(SlicedEngine(speed, places), wait_s=None), random.Random(3)  # noqa: S311
            texts = (" ".join([SENTENCE] * moments.randint(1, 3)) for _ in range(20 * places))
            return await asyncio.gather(*(crowd.speak(text, after_s=moments.uniform(0, spread_s)) for text in texts))

        shares += [heard.predicted_s / heard.first_s for heard in in_virtual_time(play)]
    assert sum(0.5 <= share <= 2.0 for share in shares) >= 0.9 * len(shares)
    assert 0.8 <= statistics.median(shares) <= 1.25


def test_over_the_limit_some_are_refused_at_once_and_the_others_heard_in_time():
    async def play():
        crowd = Crowd(SlicedEngine(2.5), wait_s=2.0)
        heard = await asyncio.gather(*(crowd.speak(SENTENCE, after_s=number / 20) for number in range(20)))
        taken = [each for each in heard if each.refused_ms is None]
        refused = [each for each in heard if each.refused_ms is not None]
        assert len(taken) >= 3
        assert len(refused) >= 5
        assert max(each.first_s for each in taken) < 2 * 2.0
        assert all(100 <= each.refused_ms <= 60_000 for each in refused)
        assert crowd.admission.retry_after_s is None  # they have ended
        again = await crowd.speak(SENTENCE)
        assert again.first_s < 2.0

    in_virtual_time(play)


def test_a_client_with_many_sessions_gets_no_more_than_one_with_one():
    """Two clients, and half of what they ask for can be made: half of that is the modest one's."""

    async def play():
        crowd = Crowd(SlicedEngine(1.5), wait_s=None)
        greedy = Client(ClientLimits())
        crowding = [asyncio.create_task(crowd.speak(BOOK, client=greedy)) for _ in range(8)]
        await asyncio.sleep(5)  # all of them are dry
        began = asyncio.get_running_loop().time()
        await crowd.speak(" ".join([SENTENCE] * 8))
        took_s = asyncio.get_running_loop().time() - began
        for task in crowding:
            task.cancel()
        await asyncio.wait(crowding)
        return took_s

    speech_s = 8 * 4.2
    assert in_virtual_time(play) <= 1.6 * speech_s / (1.5 / 2)


def test_no_more_is_made_ahead_of_a_listener_than_may_be():
    async def play():
        engine = SlicedEngine(8.0)
        crowd = Crowd(engine, wait_s=None, audio_ahead_s=4.0)
        reader = asyncio.create_task(crowd.speak(BOOK))
        await asyncio.sleep(20)
        made_s = engine.seconds_made
        reader.cancel()
        await asyncio.wait([reader])
        await asyncio.sleep(10)
        # the rest of what ran is dropped, and nothing is begun
        return made_s, engine.seconds_made

    made_s, in_all_s = in_virtual_time(play)
    assert 20 <= made_s <= 20 + 4.0 + 1.0
    assert in_all_s <= made_s + 1.0


def test_a_cancelled_utterance_leaves_its_place_with_the_slice_that_runs():
    async def play():
        engine = SlicedEngine(1.2)
        crowd = Crowd(engine, wait_s=None)
        reader = asyncio.create_task(crowd.speak(BOOK))
        await asyncio.sleep(10)
        reader.cancel()
        await asyncio.wait([reader])
        alone = await Crowd(SlicedEngine(1.2), wait_s=None).speak(SENTENCE)
        heard = await crowd.speak(SENTENCE)
        longest_s = max(engine.costs.seconds(network) for network in ("stage1-150", "stage2-64"))
        return heard.first_s - alone.first_s, longest_s

    more_s, longest_s = in_virtual_time(play)
    assert more_s <= longest_s + 0.01
