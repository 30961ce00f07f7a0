"""What every test may use: both event loops, and a watch over tasks and blocking."""

from __future__ import annotations

import asyncio
import gc
import time
from pathlib import Path

import pytest
import uvloop

_ON_BOTH_LOOPS = {"serving", "test_client.py", "test_engine.py"}
_MAX_BLOCK_CPU_S = 0.05
_MAX_BLOCK_WALL_S = 0.5  # other programs may hold the cores for a while


def pytest_asyncio_loop_factories(config, item):
    """Run what concerns sockets and tasks on asyncio's loop and on uvloop."""
    factories = {"asyncio": asyncio.new_event_loop}
    if Path(item.path).relative_to(Path(__file__).parent).parts[0] in _ON_BOTH_LOOPS:
        factories["uvloop"] = uvloop.new_event_loop
    return factories


@pytest.fixture
async def watched_loop():
    """Fail if the test leaves tasks behind, or if something held the loop for more than 50 ms.

    A virtual machine that is stopped for a while counts that as the thread's own time, so the test runs again then
    (pyproject.toml).
    """
    before = asyncio.all_tasks()
    longest = {"cpu": 0.0, "wall": 0.0}

    async def beat():
        interval = 0.005
        while True:
            cpu, wall = time.thread_time(), time.monotonic()
            await asyncio.sleep(interval)
            longest["cpu"] = max(longest["cpu"], time.thread_time() - cpu)
            longest["wall"] = max(longest["wall"], time.monotonic() - wall - interval)

    heart = asyncio.create_task(beat(), name="heartbeat")
    gc.disable()  # the collector's walk over all that a test run has loaded is none of the loop's
    yield
    gc.enable()
    heart.cancel()
    await asyncio.wait([heart])
    left = asyncio.all_tasks() - before - {asyncio.current_task()}
    if left:  # what was cancelled may need another turn of the loop
        _, left = await asyncio.wait(left, timeout=1.0)
    assert not left, f"tasks left behind: {left}"
    assert longest["cpu"] <= _MAX_BLOCK_CPU_S, f"the loop was busy for {longest['cpu'] * 1000:.0f} ms without a pause"
    assert longest["wall"] <= _MAX_BLOCK_WALL_S, f"the loop was held for {longest['wall'] * 1000:.0f} ms"
