"""What the process holds, by the kernel's books, and giving it back."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rtvoice.serving.memory import give_back, keep_little, measure, page_cache, restart_without_thread_caches


def settled():
    """What is held when nothing that earlier tests started is still ending."""
    give_back([])  # what is free already would be taken without a trace
    now = measure().memory_bytes
    for _ in range(50):
        time.sleep(0.1)
        before, now = now, measure().memory_bytes
        if abs(now - before) < 1 << 20:
            break
    return now


def test_memory_that_is_taken_and_given_back_shows():
    before = settled()
    held = np.ones(64 << 20, np.uint8)
    assert measure().memory_bytes - before > 48 << 20
    del held
    give_back([])
    assert measure().memory_bytes - before < 16 << 20


def test_a_child_counts_while_it_lives_and_its_time_for_ever():
    code = "import sys; held = b'x' * (64 << 20); [n * n for n in range(3_000_000)]; print('.'); sys.stdin.read()"
    before = measure()
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdout.readline()
    during = measure()
    child.communicate()
    after = measure()
    assert during.memory_bytes - before.memory_bytes > 48 << 20
    assert after.memory_bytes - before.memory_bytes < 32 << 20
    assert before.cpu_s + 0.05 < during.cpu_s <= after.cpu_s + 0.05


def test_where_there_is_no_procfs_it_says_what_it_can(tmp_path):
    usage = measure(tmp_path)
    assert usage.memory_bytes > 1 << 20
    assert usage.cpu_s > 0


def test_files_are_forgotten_by_the_kernel(tmp_path):
    file = tmp_path / "weights"
    file.write_bytes(bytes(8 << 20))
    if page_cache([file]) < 8 << 20:
        pytest.skip("this file system keeps nothing in memory")
    give_back([file, tmp_path / "missing", tmp_path])
    left = page_cache([file])
    if left == 8 << 20:
        pytest.skip("this file system is memory")
    assert left < 1 << 20
    assert page_cache([file]) == left  # looking brings nothing back


def test_an_empty_file_has_no_pages(tmp_path):
    (tmp_path / "empty").touch()
    assert page_cache([tmp_path / "empty"]) == 0


async def test_giving_back_needs_no_loop():
    await asyncio.to_thread(give_back, [])


ALLOCATING = """
import sys, threading
from rtvoice.serving.memory import keep_little, measure
if sys.argv[1] == "tidy":
    keep_little()
barrier = threading.Barrier(8)
def work():
    barrier.wait()
    for _ in range(50):
        blocks = [bytearray(3000) for _ in range(300)]
for thread in (threads := [threading.Thread(target=work) for _ in range(8)]):
    thread.start()
for thread in threads:
    thread.join()
print(sum(1 for line in open("/proc/self/maps") if line.split()[0].split("-")[0].endswith("000000")))
del (learnt := [bytearray(8 << 20)])[:]
big = [bytearray(2 << 20) for _ in range(20)]
before = measure().memory_bytes
del big[:-1]
print(before - measure().memory_bytes)
"""


def test_large_blocks_go_back_at_once_and_threads_share_heaps():
    def run(how):
        command = [sys.executable, "-c", ALLOCATING, how]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
        return [int(line) for line in done.stdout.split()]

    (heaps, freed), (tidy_heaps, tidy_freed) = run("as it comes"), run("tidy")
    assert tidy_heaps < heaps
    assert freed < 8 << 20 < 36 << 20 < tidy_freed


@pytest.mark.parametrize("before", [{}, {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "7"}])
def test_how_many_kernels_are_kept_is_said_unless_it_is_already(before, monkeypatch):
    monkeypatch.setattr("os.environ", dict(before))
    keep_little()
    assert os.environ == {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "20"} | before


def test_where_the_c_library_is_another_nothing_happens(monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    monkeypatch.setattr("os.environ", {})
    keep_little()
    give_back([])


STARTED_ANEW = """
import os, sys
from rtvoice.serving.memory import restart_without_thread_caches
print(os.getpid(), flush=True)
restart_without_thread_caches()
print(sys.argv[1:], os.environ["GLIBC_TUNABLES"])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is another C library")
@pytest.mark.parametrize(
    ("before", "after", "starts"),
    [
        (None, "glibc.malloc.tcache_count=0", 2),
        ("glibc.malloc.arena_max=3", "glibc.malloc.arena_max=3:glibc.malloc.tcache_count=0", 2),
        ("glibc.malloc.tcache_count=5", "glibc.malloc.tcache_count=5", 1),
    ],
)
def test_a_program_starts_anew_as_the_same_process_without_thread_caches_unless_they_were_chosen(before, after, starts):
    ours = {"GLIBC_TUNABLES", "RTVOICE_RESTARTED"}
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    if before is not None:
        environment["GLIBC_TUNABLES"] = before
    command = [sys.executable, "-c", STARTED_ANEW, "an argument", "--and", "more"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root, env=environment)
    *pids, last = done.stdout.splitlines()
    assert len(pids) == starts
    assert len(set(pids)) == 1
    assert last == f"['an argument', '--and', 'more'] {after}"


def test_a_program_that_is_passed_no_tunables_starts_anew_once_only():
    code = STARTED_ANEW.replace("\nprint(os.getpid()", "\nos.environ.pop('GLIBC_TUNABLES', None)\nprint(os.getpid()")
    environment = {name: value for name, value in os.environ.items() if name != "RTVOICE_RESTARTED"}
    command = [sys.executable, "-c", code.replace('os.environ["GLIBC_TUNABLES"]', '"end"')]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root, env=environment, timeout=30)
    assert done.stdout.splitlines()[2:] == ["[] end"]


@pytest.mark.parametrize("hidden", ["sys.executable", "os.confstr"])
def test_where_there_is_no_program_or_another_c_library_nothing_starts_anew(hidden, monkeypatch):
    def no_such_name(_):
        raise ValueError

    for name in ("GLIBC_TUNABLES", "RTVOICE_RESTARTED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(hidden, "" if hidden == "sys.executable" else no_such_name)
    monkeypatch.setattr("os.execve", lambda *_: pytest.fail("it starts"))
    restart_without_thread_caches()
