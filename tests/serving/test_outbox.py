"""The queues before the writer."""

import asyncio

import numpy as np
import pytest

from rtvoice.protocol.messages import Error
from rtvoice.serving.outbox import Finish, Outbox, Sound


def sound(utterance, samples=2400):
    return Sound(utterance, np.zeros(samples, np.float32), joins=False)


def answer(number):
    return Error(utterance=number, code="internal", message="")


async def test_answers_pass_speech_by():
    outbox = Outbox()
    speech = [sound(1), Finish(1)]
    for item in speech:
        outbox.put(item)
    outbox.answer(answer(1))
    outbox.answer(answer(2))
    assert [await outbox.take() for _ in range(4)] == [answer(1), answer(2), *speech]


async def test_dropping_leaves_the_others():
    outbox = Outbox()
    kept = [sound(1), sound(3), Finish(1)]
    for item in (kept[0], sound(2), kept[1], Finish(2), kept[2]):
        outbox.put(item)
    assert outbox.seconds == pytest.approx(0.3)
    outbox.drop(2)
    assert outbox.seconds == pytest.approx(0.2)
    assert [await outbox.take() for _ in range(3)] == kept
    assert outbox.seconds == 0


async def test_closed_it_is_emptied_first():
    outbox = Outbox()
    outbox.answer(answer(1))
    outbox.close()
    assert await outbox.take() == answer(1)
    assert await outbox.take() is None


async def test_taking_waits_and_may_be_cancelled():
    outbox = Outbox()
    taking = asyncio.create_task(outbox.take())
    await asyncio.sleep(0)
    taking.cancel()
    await asyncio.wait([taking])
    outbox.put(Finish(1))
    assert await outbox.take() == Finish(1)


async def test_room_for_answers_is_waited_for():
    outbox = Outbox()
    for number in range(1, 65):
        outbox.answer(answer(number))
    waiting = asyncio.create_task(outbox.has_room())
    await asyncio.sleep(0.01)
    assert not waiting.done()
    await outbox.take()
    await asyncio.wait_for(waiting, 1)


async def test_nobody_waits_for_a_writer_who_is_gone():
    outbox = Outbox()
    for number in range(1, 65):
        outbox.answer(answer(number))
    waiting = asyncio.create_task(outbox.has_room())
    await asyncio.sleep(0.01)
    outbox.abandon()
    await asyncio.wait_for(waiting, 1)


async def test_progress_ends_by_itself():
    await asyncio.wait_for(Outbox().progress(0.01), 1)
