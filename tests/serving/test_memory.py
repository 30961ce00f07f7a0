"""What the process holds, by the kernel's books, and giving it back."""

import asyncio
import os
import subprocess
import sys

import numpy as np
import pytest

from rtvoice.serving.memory import give_back, measure, page_cache


def test_memory_that_is_taken_and_given_back_shows():
    before = measure().memory_bytes
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
    descriptor = os.open(file, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
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
