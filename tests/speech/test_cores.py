"""Cores: affinity, and the quota of control groups of both versions."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.speech.cores import Cores, find_cores, follow, size
from rtvoice.speech.costs import GUESS, UNMEASURED, Calibration, Cost, Costs


@pytest.fixture
def kernel(tmp_path):
    """A /proc/self/cgroup and a tree of control groups as given."""

    def make(lines: str, files: dict[str, str]) -> Cores:
        (tmp_path / "proc" / "self").mkdir(parents=True)
        (tmp_path / "proc" / "self" / "cgroup").write_text(lines)
        for name, content in files.items():
            file = tmp_path / "cgroup" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        return find_cores(tmp_path / "proc", tmp_path / "cgroup")

    return make


def v1(quota: int, period: int = 100_000) -> dict[str, str]:
    return {"cpu.cfs_quota_us": f"{quota}\n", "cpu.cfs_period_us": f"{period}\n"}


class TestQuota:
    def test_version_2_in_a_container(self, kernel):
        assert kernel("0::/\n", {"cpu.max": "150000 100000\n"}).quota == 1.5

    def test_version_2_without_a_limit(self, kernel):
        assert kernel("0::/\n", {"cpu.max": "max 100000\n"}).quota is None

    def test_the_least_limit_of_the_ancestors_holds(self, kernel):
        files = {
            "cpu.max": "max 100000\n",
            "pod/cpu.max": "50000 100000\n",
            "pod/box/cpu.max": "200000 100000\n",
        }
        assert kernel("0::/pod/box\n", files).quota == 0.5

    @pytest.mark.parametrize("folder", ["cpu,cpuacct", "cpu"])
    def test_version_1(self, kernel, folder):
        files = {f"{folder}/docker/abc/{name}": content for name, content in v1(250_000).items()}
        lines = "12:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n"
        assert kernel(lines, files).quota == 2.5

    def test_version_1_whose_path_is_the_hosts(self, kernel):
        files = {f"cpu,cpuacct/{name}": content for name, content in v1(50_000).items()}
        assert kernel("4:cpu,cpuacct:/docker/not/seen/here\n", files).quota == 0.5

    def test_version_1_without_a_limit(self, kernel):
        files = {f"cpu/{name}": content for name, content in v1(-1).items()}
        assert kernel("4:cpu:/\n", files).quota is None

    def test_another_controllers_files_do_not_count(self, kernel):
        files = {f"cpuset/{name}": content for name, content in v1(50_000).items()}
        assert kernel("4:cpuset:/\n", files).quota is None

    @pytest.mark.parametrize("content", ["", "max", "nonsense 100000", "100000 0", "-1 100000"])
    def test_files_of_nonsense_are_no_limit(self, kernel, content):
        assert kernel("0::/\n", {"cpu.max": content}).quota is None

    def test_a_system_without_control_groups(self, tmp_path):
        assert find_cores(tmp_path, tmp_path).quota is None


class TestUsable:
    @pytest.mark.parametrize(
        ("allowed", "quota", "usable"),
        [(8, None, 8), (8, 2.0, 2), (8, 2.9, 2), (8, 0.25, 1), (2, 7.5, 2), (1, None, 1)],
    )
    def test_whole_cores_never_none_and_never_more_than_allowed(self, allowed, quota, usable):
        assert Cores(allowed, quota).usable == usable

    def test_affinity_is_respected(self):
        one = min(os.sched_getaffinity(0))
        code = f"import os; os.sched_setaffinity(0, {{{one}}})\n"
        code += "from rtvoice.speech.cores import find_cores; print(find_cores().allowed)"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert done.stdout == "1\n"


@pytest.mark.parametrize(
    ("usable", "streams", "threads", "sizes"),
    [
        (1, None, None, (1, 1)),
        (2, None, None, (1, 2)),
        (3, None, None, (1, 2)),
        (8, None, None, (4, 2)),
        (2, 2, None, (2, 1)),
        (8, 2, None, (2, 2)),
        (8, None, 4, (2, 4)),
        (1, None, 4, (1, 4)),
        (2, 3, 3, (3, 3)),  # whoever says so
    ],
)
def test_streams_and_threads_fit_the_cores(usable, streams, threads, sizes):
    found = size(Cores(usable, None), streams, threads)
    assert (found.streams, found.threads) == sizes
    if streams is None and threads is None:
        assert found.streams * found.threads <= usable


def calibrated(work_s=0.5, **speedups):
    """What was measured on a machine that takes so long for a second of speech on one thread."""
    factor = work_s / Costs().work_s
    costs = {name: Cost(factor * cost.fixed_s, factor * cost.each_s) for name, cost in GUESS.items()}
    return Calibration(costs, {int(name[1:]): times for name, times in speedups.items()})


@pytest.mark.parametrize(
    ("usable", "measured", "sizes"),
    [
        (8, calibrated(x2=1.9, x4=3.4), (4, 2)),
        (8, calibrated(x2=1.2, x4=1.5), (8, 1)),  # threads that share a core
        (8, calibrated(2.0, x2=1.9, x4=3.4), (2, 4)),  # two threads would fall behind
        (8, calibrated(2.0, x2=1.9, x4=2.0), (4, 2)),  # and four would not help
        (2, calibrated(2.0, x2=1.9), (1, 2)),
        (1, calibrated(2.0), (1, 1)),
        (4, calibrated(), (2, 2)),  # others used the machine when it was measured
    ],
)
def test_what_was_measured_decides_how_many_threads_an_inference_has(usable, measured, sizes):
    found = size(Cores(usable, None), calibration=measured)
    assert (found.streams, found.threads) == sizes


@given(
    st.integers(1, 64),
    st.none() | st.floats(0.05, 100),
    st.just(UNMEASURED) | st.builds(calibrated, st.floats(0.05, 5), x2=st.floats(0.5, 2), x4=st.floats(0.5, 4)),
)
def test_no_more_threads_than_cores(allowed, quota, measured):
    found = size(Cores(allowed, quota), calibration=measured)
    share = min(allowed, quota or allowed)
    assert found.streams * found.threads <= max(1, share)
    assert found.streams * found.threads > share / 2 - 1  # nor are half of them idle


async def test_a_quota_that_changes_is_followed():
    quotas = iter([4.0, 4.0, 1.0, 1.0, 0.5, 8.0])
    told = []

    def find():
        return Cores(8, next(quotas))

    with pytest.raises((StopIteration, RuntimeError)):
        await follow(told.append, 2, find, every_s=0)
    assert told == [2, 1, 4]


async def test_a_quota_is_read_again_from_the_files_of_the_control_group(tmp_path):
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "cgroup").write_text("0::/\n")
    allowed = len(os.sched_getaffinity(0))
    told = asyncio.Queue()
    following = asyncio.create_task(follow(told.put_nowait, 1, lambda: find_cores(tmp_path, tmp_path), every_s=0.001))
    assert await told.get() == allowed
    (tmp_path / "cpu.max").write_text("100000 100000\n")
    if allowed > 1:
        assert await told.get() == 1
        (tmp_path / "cpu.max").write_text("max 100000\n")
        assert await told.get() == allowed
    assert not following.done()
    following.cancel()
