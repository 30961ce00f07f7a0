"""Memory comes down when an engine has been loaded, while it speaks, and when nobody speaks any more."""

import asyncio
import mmap
import time
from contextlib import asynccontextmanager

import pytest

from rtvoice.errors import SetupError
from rtvoice.speech.settling import keep_settled
from tests.speech.test_mapped import SIZE, resident


class ScriptedPool:
    """Writes down what is asked of it. `runs`: inferences so far."""

    def __init__(self, damaged=False):
        self.runs, self.events, self.deadlines = 0, [], []
        self._damaged = damaged

    async def load_later(self):
        self.events.append("load later")
        if self._damaged:
            raise SetupError("damaged")

    async def warm(self, turn):
        self.events.append("warm")
        self.deadlines.append(turn.deadline())
        self.runs += 1

    async def features(self, phonemes, style, speed, turn):
        self.events.append("features")
        self.deadlines.append(turn.deadline())
        self.runs += 1

    async def give_back(self, *, fixed=True):
        self.events.append("all" if fixed else "lengths")

    async def reaches(self, event, times=1):
        async with asyncio.timeout(30):
            while self.events.count(event) < times:  # noqa: ASYNC110  # a test looks on
                await asyncio.sleep(0.001)


@asynccontextmanager
async def settled(pool, folder, **seconds):
    task = asyncio.create_task(keep_settled(pool, pool, folder, **seconds))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()


@pytest.mark.parametrize("damaged", [False, True])
async def test_all_is_loaded_and_run_once_before_anything_is_let_go(tmp_path, damaged):
    pool = ScriptedPool(damaged)
    async with settled(pool, tmp_path, quiet_s=0.01, busy_s=100):
        await pool.reaches("all")
    assert pool.events == ["load later", "warm", "features", "lengths", "all"]


async def test_speech_goes_before_what_is_only_run_once(tmp_path):
    pool = ScriptedPool()
    asked = asyncio.get_running_loop().time()
    async with settled(pool, tmp_path, quiet_s=0.01, busy_s=100):
        await pool.reaches("features")
    assert min(pool.deadlines) >= asked + 100


async def test_while_somebody_speaks_only_what_belongs_to_lengths_is_given_back_and_files_go(tmp_path):
    file = tmp_path / "weights.bin"
    file.write_bytes(bytes(SIZE))
    pool = ScriptedPool()

    async def speak():
        while True:
            pool.runs += 1
            await asyncio.sleep(0)

    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert sum(mapped[::4096]) == 0
        assert resident(file) >= SIZE >> 10
        speaking = asyncio.create_task(speak())
        async with settled(pool, tmp_path, quiet_s=0.01, busy_s=0.02):
            await pool.reaches("lengths", 3)
            assert resident(file) == 0
        speaking.cancel()
    assert "all" not in pool.events


async def test_when_nobody_speaks_memory_comes_down_once_until_somebody_has_spoken_again(tmp_path):
    pool = ScriptedPool()
    async with settled(pool, tmp_path, quiet_s=0.01, busy_s=0.02):
        await pool.reaches("all")
        before = list(pool.events)
        await asyncio.sleep(0.1)
        assert pool.events == before
        pool.runs += 1
        await pool.reaches("all", 2)


async def test_who_leaves_meanwhile_waits_until_memory_has_come_down(tmp_path):
    class Slow(ScriptedPool):
        async def give_back(self, *, fixed=True):
            await super().give_back(fixed=fixed)
            await asyncio.to_thread(time.sleep, 0.1)
            self.events.append("given back")

    pool = Slow()
    async with settled(pool, tmp_path, quiet_s=100, busy_s=100):
        await pool.reaches("lengths")
    assert pool.events[-1] == "given back"
