"""The pool: who runs when, and that nothing that ends early keeps its place."""

import asyncio
import gc
import time
import weakref

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

from rtvoice.errors import SetupError, SynthesisFailed
from rtvoice.speech.places import Places
from rtvoice.speech.pool import Pool
from rtvoice.speech.turn import Turn


@pytest.fixture
def networks(tmp_path):
    """Two networks: `twice` doubles a matrix product by itself some times over, `plus` adds what is shared."""
    x = op.parameter([-1, -1], np.float32, name="x")
    y = x
    for _ in range(20):
        y = op.tanh(op.matmul(y, y, False, False))
    y.output(0).set_names({"y"})
    ov.save_model(ov.Model([y], [x], "slow"), tmp_path / "slow.xml")
    a, b = op.parameter([3], np.float32, name="a"), op.parameter([3], np.float32, name="common")
    total = op.add(a, b)
    total.output(0).set_names({"sum"})
    ov.save_model(ov.Model([total], [a, b], "plus"), tmp_path / "plus.xml")
    return {name: tmp_path / f"{name}.xml" for name in ("slow", "plus")}


def common(*values):
    return {"common": ov.Tensor(np.array(values, np.float32))}


def pool(networks, tmp_path, streams=1, **more):
    return Pool(networks, tmp_path / "compiled", streams=streams, threads=1, **more)


async def test_a_network_reads_what_it_is_given_and_what_is_shared(networks, tmp_path):
    async with pool(networks, tmp_path, shared=lambda: common(10, 20, 30)) as running:
        first, second = await asyncio.gather(
            running.infer("plus", {"a": np.array([1, 2, 3], np.float32)}),
            running.infer("plus", {"a": np.array([4, 5, 6], np.float32)}),
        )
    np.testing.assert_array_equal(first["sum"], [11, 22, 33])
    np.testing.assert_array_equal(second["sum"], [14, 25, 36])


async def test_no_more_run_at_once_than_there_are_streams():
    places, running, most = Places(2), 0, 0

    async def work():
        nonlocal running, most
        await places.take()
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        places.leave()

    await asyncio.gather(*(work() for _ in range(20)))
    assert most == 2
    await asyncio.wait_for(places.all_left(), 1)


async def test_the_earliest_deadline_goes_first_then_who_came_first():
    places, order = Places(1), []
    await places.take()

    async def work(name, deadline):
        await places.take(deadline)
        order.append(name)
        places.leave()

    tasks = []
    for name, deadline in (("late", 9.0), ("soon", 1.0), ("later", 10.0), ("soon too", 1.0)):
        tasks.append(asyncio.create_task(work(name, deadline)))
        await asyncio.sleep(0)
    assert places.waiting == 4
    places.leave()
    await asyncio.gather(*tasks)
    assert order == ["soon", "soon too", "late", "later"]


async def turns_of_the_loop():
    """Let a place that was left be given away, and whoever got it begin."""
    for _ in range(4):
        await asyncio.sleep(0)


async def test_fewer_places_wait_for_who_runs_and_more_are_taken_at_once():
    places, running = Places(2), []

    async def work(name):
        await places.take()
        running.append(name)

    tasks = [asyncio.create_task(work(name)) for name in range(5)]
    await asyncio.sleep(0)
    assert running == [0, 1]
    places.resize(1)
    places.leave()
    await turns_of_the_loop()
    assert running == [0, 1]  # one still runs, and that is all that may
    places.leave()
    await turns_of_the_loop()
    assert running == [0, 1, 2]
    places.resize(3)
    await asyncio.gather(*tasks)
    assert running == [0, 1, 2, 3, 4]
    for _ in range(3):
        places.leave()
    await asyncio.wait_for(places.all_left(), 1)


async def test_who_comes_first_keeps_its_place_from_one_step_to_the_next():
    places, order = Places(1), []

    async def work(name, deadline):
        for step in range(3):
            await places.take(deadline)
            asyncio.get_running_loop().call_later(0.001, places.leave)
            await asyncio.sleep(0.001)
            order.append((name, step))

    await asyncio.gather(work("first", 1.0), work("second", 2.0), work("third", 3.0))
    assert order == [(name, step) for name in ("first", "second", "third") for step in range(3)]


async def test_who_is_cancelled_while_a_place_is_about_to_be_given_away_does_not_get_it():
    places, got = Places(1), []
    await places.take()

    async def work(name, deadline):
        await places.take(deadline)
        got.append(name)

    first, second = asyncio.create_task(work("first", 1.0)), asyncio.create_task(work("second", 2.0))
    await asyncio.sleep(0)
    places.leave()
    first.cancel()
    await turns_of_the_loop()
    assert got == ["second"]
    await asyncio.gather(first, second, return_exceptions=True)
    places.leave()
    await asyncio.wait_for(places.all_left(), 1)


async def test_who_waits_for_what_there_is_less_of_keeps_no_place_from_others():
    places, order = Places(2, {"text": 1, "decoder": 1}), []

    async def work(name, deadline, kind=""):
        await places.take(deadline, kind)
        order.append(name)

    await work("first", 1.0, "text")
    tasks = [asyncio.create_task(work(*waiting)) for waiting in (("text", 2.0, "text"), ("sooner", 1.0, "text"))]
    await turns_of_the_loop()
    assert places.waiting == 2
    await work("passes", 9.0)  # which would be due last
    tasks.append(asyncio.create_task(work("decoder", 3.0, "decoder")))
    await turns_of_the_loop()
    places.leave()
    await turns_of_the_loop()
    assert order == ["first", "passes", "decoder"]
    places.leave("text")
    await turns_of_the_loop()
    assert order[3:] == ["sooner"]  # the earliest deadline, as for places
    places.leave("decoder")
    await turns_of_the_loop()
    assert order[4:] == []  # a place is free, what they need is not
    places.leave("text")
    await asyncio.gather(*tasks)
    assert order[4:] == ["text"]
    places.leave("text")
    await asyncio.wait_for(places.all_left(), 1)


async def test_what_there_is_less_of_is_passed_on_by_who_is_cancelled_in_the_moment_of_getting_it():
    places = Places(2, {"text": 1})
    await places.take(kind="text")
    first, second = (asyncio.create_task(places.take(kind="text")) for _ in range(2))
    await asyncio.sleep(0)
    places.leave("text")
    await asyncio.sleep(0)
    await asyncio.sleep(0)  # the first has it, and has not run yet
    first.cancel()
    await asyncio.wait_for(second, 1)
    with pytest.raises(asyncio.CancelledError):
        await first
    waiting = asyncio.create_task(places.take(kind="text"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert places.waiting == 0
    places.leave("text")
    await asyncio.wait_for(places.all_left(), 1)


async def test_a_network_that_runs_seldom_takes_turns_and_the_others_go_on(networks, tmp_path):
    x, a = np.full((300, 300), 0.01, np.float32), np.zeros(3, np.float32)
    async with pool(networks, tmp_path, streams=2, seldom=("slow",), shared=lambda: common(1, 1, 1)) as running:
        slow = [asyncio.create_task(running.infer("slow", {"x": x})) for _ in range(3)]
        await asyncio.sleep(0)
        assert running.waiting == 2
        slow[1].cancel()
        for _ in range(2):  # there is a place beside the one
            np.testing.assert_array_equal((await running.infer("plus", {"a": a}))["sum"], [1, 1, 1])
        await asyncio.wait(slow)
        assert slow[1].cancelled()
        np.testing.assert_array_equal(slow[0].result()["y"], slow[2].result()["y"])
        assert len(running._requests["slow"]) == 1


async def test_a_pool_tells_how_many_may_run_now_and_never_takes_more_than_its_streams(networks, tmp_path):
    running = pool(networks, tmp_path, streams=2)
    assert running.places == 2
    for limit, places in ((1, 1), (8, 2), (0, 1)):
        running.limit(limit)
        assert running.places == places


async def test_work_is_charged_to_whom_it_was_done_for(networks, tmp_path):
    turn, other = Turn(), Turn()
    async with pool(networks, tmp_path) as running:
        await asyncio.gather(
            running.run(lambda: time.sleep(0.05), turn=turn), running.run(lambda: time.sleep(0.01), turn=other)
        )
        await asyncio.sleep(0)
    assert turn.account.used_s >= 0.05
    assert other.account.used_s >= 0.01
    assert other.account.waited_s >= 0.04


async def test_who_stops_waiting_leaves_the_queue_and_holds_nothing():
    places = Places(1)
    await places.take()
    waiting = asyncio.create_task(places.take())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert places.waiting == 0
    places.leave()
    await asyncio.wait_for(places.all_left(), 1)


async def test_a_place_given_in_the_moment_of_cancelling_is_passed_on():
    places = Places(1)
    await places.take()
    first, second = (asyncio.create_task(places.take()) for _ in range(2))
    await asyncio.sleep(0)
    places.leave()  # gives it to the first, whose task has not run yet
    first.cancel()
    await asyncio.wait_for(second, 1)
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_cancelled_inference_gives_its_place_up_when_it_ends(networks, tmp_path):
    x = np.full((300, 300), 0.01, np.float32)
    async with pool(networks, tmp_path) as running:
        task = asyncio.create_task(running.infer("slow", {"x": x}))
        await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        again = await asyncio.wait_for(running.infer("slow", {"x": x}), 30)
    assert np.isfinite(again["y"]).all()


async def test_wrong_inputs_fail_alone(networks, tmp_path):
    async with pool(networks, tmp_path) as running:
        with pytest.raises(SynthesisFailed, match="slow"):
            await running.infer("slow", {"x": np.zeros((2, 3), np.float32)})
        with pytest.raises(SynthesisFailed):
            await running.infer("slow", {"no such input": np.zeros((2, 2), np.float32)})
        assert (await running.infer("slow", {"x": np.zeros((2, 2), np.float32)}))["y"].shape == (2, 2)


async def test_what_a_step_of_the_host_raises_is_raised_to_who_waits(networks, tmp_path):
    def fails():
        raise ArithmeticError("no")

    async with pool(networks, tmp_path) as running:
        with pytest.raises(ArithmeticError):
            await running.run(fails)
        assert await running.run(lambda: 7) == 7


async def test_warming_runs_networks_of_fixed_shapes_once_and_leaves_them_usable(networks, tmp_path):
    async with pool(networks, tmp_path, streams=2, shared=lambda: common(1, 1, 1)) as running:
        await running.warm()
        outputs = await running.infer("plus", {"a": np.array([1, 2, 3], np.float32)})
    np.testing.assert_array_equal(outputs["sum"], [2, 3, 4])


async def test_a_damaged_network_says_what_to_run(networks, tmp_path):
    networks["slow"].write_text("<net>")
    with pytest.raises(SetupError, match="rtvoice build"):
        async with pool(networks, tmp_path):
            pass


async def test_what_may_come_later_does_or_when_it_is_needed(networks, tmp_path):
    async with pool(networks, tmp_path, shared=lambda: common(1, 1, 1), later=("plus",)) as running:
        assert "plus" not in running._requests
        assert "slow" in running._requests
        both = asyncio.gather(
            running.load_later(), *(running.infer("plus", {"a": np.zeros(3, np.float32)}) for _ in range(3))
        )
        _, *outputs = await asyncio.wait_for(both, 30)
        assert all(output["sum"].tolist() == [1, 1, 1] for output in outputs)
        requests = running._requests["plus"]
        await running.load_later()
        assert running._requests["plus"] is requests


async def test_what_comes_later_and_is_damaged_says_what_to_run_and_ends_nothing_else(networks, tmp_path):
    networks["plus"].write_text("<net>")
    async with pool(networks, tmp_path, later=("plus",)) as running:
        with pytest.raises(SetupError, match="rtvoice build"):
            await running.load_later()
        with pytest.raises(SetupError, match="rtvoice build"):
            await running.infer("plus", {})
        assert (await running.infer("slow", {"x": np.zeros((2, 2), np.float32)}))["y"].shape == (2, 2)


async def test_a_network_that_there_is_no_room_for_ends_nothing_else(networks, tmp_path, monkeypatch):
    def full(model, shared):
        raise RuntimeError("Could not allocate")

    async with pool(networks, tmp_path, later=("plus",)) as running:
        monkeypatch.setattr("rtvoice.speech.pool._request", full)
        with pytest.raises(SetupError, match="no room to run the plus network: Could not allocate"):
            await running.infer("plus", {})
        monkeypatch.undo()
        assert (await running.infer("slow", {"x": np.zeros((2, 2), np.float32)}))["y"].shape == (2, 2)
        outputs = await running.infer("plus", {"a": np.ones(3, np.float32), "common": np.ones(3, np.float32)})
        assert outputs["sum"].tolist() == [2, 2, 2]


async def test_leaving_waits_for_what_is_being_loaded_for_nobody_any_more(networks, tmp_path, monkeypatch):
    ended = []

    def slowly(self, file, streams):
        time.sleep(0.3)
        ended.append(file)
        raise SetupError("too late")

    async with pool(networks, tmp_path, later=("plus",)) as running:
        monkeypatch.setattr(Pool, "_compile", slowly)
        loading = asyncio.create_task(running.load_later())
        await asyncio.sleep(0.05)
        loading.cancel()
        await asyncio.wait([loading])
        assert loading.cancelled()
        assert not ended
    assert ended


async def test_leaving_waits_for_what_runs(networks, tmp_path):
    async with pool(networks, tmp_path) as running:
        task = asyncio.create_task(running.infer("slow", {"x": np.full((300, 300), 0.01, np.float32)}))
        await asyncio.sleep(0.001)
    assert task.done()


async def test_who_speaks_while_the_pool_is_left_is_told(networks, tmp_path):
    slow = {"x": np.eye(300, dtype=np.float32)}
    running = pool(networks, tmp_path, shared=lambda: common(1, 2, 3), later=["plus"])
    await running.__aenter__()
    runs = asyncio.create_task(running.infer("slow", slow))
    await turns_of_the_loop()
    waiting = [asyncio.create_task(work) for work in (running.infer("slow", slow), running.run(lambda: 1))]
    await turns_of_the_loop()
    assert running.waiting == 2
    loading = asyncio.create_task(running.load_later())
    await turns_of_the_loop()
    async with asyncio.timeout(60):
        await running.__aexit__(None, None, None)
        assert (await runs)["y"].shape == (300, 300)
        for told in (*waiting, loading, running.infer("slow", slow), running.run(lambda: 1), running.load_later()):
            with pytest.raises(SynthesisFailed, match="closed"):
                await told


async def test_networks_give_back_what_they_hold_and_stay_usable(networks, tmp_path):
    async with pool(networks, tmp_path, shared=lambda: common(10, 20, 30)) as running:
        before = running.runs
        x = np.eye(2, dtype=np.float32)
        first = await running.infer("slow", {"x": x})
        slow = asyncio.create_task(running.infer("slow", {"x": np.zeros((600, 600), np.float32)}))
        await asyncio.sleep(0)
        await running.give_back()  # while one runs
        await slow
        await running.give_back()
        second = await running.infer("slow", {"x": x})
        assert running.runs == before + 3
    np.testing.assert_array_equal(first["y"], second["y"])


async def test_rare_networks_come_when_they_are_needed_and_go_when_memory_is_given_back(networks, tmp_path):
    own = {"plus": lambda: common(1, 1, 1)}
    a = np.zeros(3, np.float32)
    async with pool(networks, tmp_path, streams=2, rare=own, shared=lambda: common(9, 9, 9)) as running:
        for _ in range(2):
            assert "plus" not in running._requests
            outputs = await asyncio.gather(*(running.infer("plus", {"a": a}) for _ in range(3)))
            assert all(output["sum"].tolist() == [1, 1, 1] for output in outputs)
            await running.give_back(fixed=False)
            assert "plus" in running._requests
            await running.give_back()
        await running.infer("plus", {"a": a})
        slow = [asyncio.create_task(running.infer("slow", {"x": np.full((300, 300), 0.01, np.float32)})) for _ in "ab"]
        await asyncio.sleep(0)
        waiting = asyncio.create_task(running.infer("plus", {"a": a}))
        await asyncio.sleep(0)
        await running.give_back()  # while one waits for it
        assert (await waiting)["sum"].tolist() == [1, 1, 1]
        await asyncio.gather(*slow)


async def test_what_was_left_is_free(networks, tmp_path):
    async with pool(networks, tmp_path, shared=lambda: common(10, 20, 30)) as running:
        await running.infer("plus", {"a": np.array([1, 2, 3], np.float32)})
        await running.infer("slow", {"x": np.zeros((2, 2), np.float32)})
        cancelled = asyncio.create_task(running.infer("slow", {"x": np.full((300, 300), 0.01, np.float32)}))
        await asyncio.sleep(0.001)
        cancelled.cancel()
        held = [weakref.ref(requests[0]) for requests in running._requests.values() if requests]
        held.append(weakref.ref(running))
    del running, cancelled
    gc.collect()
    assert len(held) > 1
    assert not any(reference() for reference in held)
