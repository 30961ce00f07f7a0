"""The bill of a day, the roofline, and memory as control groups count it: figures worked out by hand."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.network import Variant
from benchmarks.report.bill import DAY_S, LISTS, PAPER, SPEECH_S, Burst, Rates, arrivals, bill, eight_bursts
from benchmarks.report.held import group_bytes
from benchmarks.report.records import Peaks, Rewrite
from benchmarks.report.roofline import place, traffic
from rtvoice.config import Prices

KEPT = Rates(cpu_s=0.5, idle_cpu=0.0, speaking_gib=2.0, warm_gib=1.0)
RELEASED = dataclasses.replace(KEPT, released_gib=0.1, restore_s=2.0, restore_cpu_s=3.0)
PRICES = Prices(cpu_s=10.0, gib_s=1.0)


def test_one_burst_by_hand():
    day = [Burst(0, 100)]
    kept = bill(day, KEPT, PRICES, 60)
    assert kept.cpu_s == 50
    assert kept.gib_s == 2 * 100 + (DAY_S - 100)
    assert kept.cost == 10 * 50 + kept.gib_s
    assert kept.restores == 0
    released = bill(day, RELEASED, PRICES, 60)
    assert released.restores == 1
    assert released.cpu_s == 50 + 3
    assert released.gib_s == pytest.approx(2 * 102 + 60 + 0.1 * (DAY_S - 160))


def test_quiet_that_is_shorter_than_the_release_keeps_it_loaded():
    day = [Burst(0, 10), Burst(50, 10)]
    released = bill(day, RELEASED, PRICES, 60)
    assert released.restores == 1  # for the next day's first
    assert released.gib_s == pytest.approx(2 * (20 + 2) + 40 + 60 + 0.1 * (DAY_S - 60 - 60))


def test_bursts_that_overlap_are_spoken_together():
    day = [Burst(0, 100), Burst(50, 20), Burst(90, 60)]
    kept = bill(day, KEPT, PRICES, 60)
    assert kept.cpu_s == 90
    assert kept.gib_s == pytest.approx(2 * 150 + DAY_S - 150)


@pytest.mark.parametrize("day", [eight_bursts(), arrivals()], ids=["bursts", "arrivals"])
def test_both_days_have_two_hours_of_speech(day):
    assert sum(burst.speech_s for burst in day) == pytest.approx(SPEECH_S)
    assert all(0 <= burst.start_s < DAY_S for burst in day)
    assert [burst.start_s for burst in day] == sorted(burst.start_s for burst in day)


def test_people_come_the_same_each_time_and_mostly_by_day():
    assert arrivals() == arrivals()
    assert arrivals(1) != arrivals(2)
    by_day = sum(8 * 3600 <= burst.start_s < 20 * 3600 for burst in arrivals())
    assert by_day > 0.6 * len(arrivals())


@given(
    st.lists(st.builds(Burst, st.floats(0, DAY_S - 1), st.floats(1, 4000)), min_size=1, max_size=20),
    st.floats(0, 4000),
)
def test_a_day_is_never_longer_than_a_day_and_release_saves_memory(bursts, idle_s):
    day = sorted(bursts, key=lambda burst: burst.start_s)
    every = dataclasses.replace(KEPT, speaking_gib=1.0, warm_gib=1.0)
    kept = bill(day, every, PRICES, idle_s)
    longest = max(burst.start_s + burst.speech_s for burst in day) - day[0].start_s
    assert kept.gib_s == pytest.approx(max(DAY_S, longest))
    free = dataclasses.replace(RELEASED, speaking_gib=1.0, restore_s=0.0)
    assert bill(day, free, PRICES, idle_s).gib_s <= kept.gib_s + 1e-6


def test_the_papers_prices_make_the_papers_cost():
    # 0.66 audio-s/CPU-s on 32 vCPU with 8,659 MB: 0.0631 USD an audio-hour
    wall_s = 3600 / (0.66 * 32)
    cost = 3600 / 0.66 * PAPER.cpu_s + wall_s * 8659e6 / 2**30 * PAPER.gib_s
    assert cost == pytest.approx(0.0631, rel=0.01)
    assert PAPER in LISTS.values()


def test_a_form_lies_under_the_roof_of_its_intensity():
    point = place(Rewrite(cpu_s=0.5, gmac=20.0, gbytes=8.0, memory_mb=1), Peaks(gflops=100.0, gbytes_s=10.0))
    assert (point.intensity, point.gflops, point.roof) == (5, 80, 50)
    point = place(Rewrite(cpu_s=1.0, gmac=20.0, gbytes=1.0, memory_mb=1), Peaks(gflops=100.0, gbytes_s=10.0))
    assert point.roof == 100


def test_the_fourier_form_moves_more_than_the_direct_one():
    direct, fourier = traffic(Variant(name="", fourier=())), traffic(Variant(name=""))
    # 48 layers that read and write 800 rows of 256, or 4,800 of 128, and their kernels some times a second
    rows = 24 * 4 * 2 * (800 * 256 + 4800 * 128) / 1e9
    assert rows < direct < 2 * rows
    assert direct < fourier < 20 * direct


def test_control_groups_of_both_versions(tmp_path):
    proc, groups = tmp_path / "proc", tmp_path / "groups"
    (proc / "self").mkdir(parents=True)
    assert group_bytes(proc, groups) is None
    (proc / "self" / "cgroup").write_text("4:memory:/a/b\n1:cpu:/\n0::/\n")
    assert group_bytes(proc, groups) is None
    (groups / "memory" / "a" / "b").mkdir(parents=True)
    (groups / "memory" / "a" / "b" / "memory.usage_in_bytes").write_text("123\n")
    assert group_bytes(proc, groups) == 123
    (proc / "self" / "cgroup").write_text("0::/unseen/from/here\n")
    (groups / "memory.current").write_text("456\n")
    assert group_bytes(proc, groups) == 456
    (proc / "self" / "cgroup").unlink()
    assert group_bytes(proc, groups) is None
