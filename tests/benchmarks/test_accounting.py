"""The kernel's books: what a process takes is counted, whoever in its tree takes it."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from benchmarks.accounting import ProcessTree

BURN = "import time\nuntil = time.process_time() + {seconds}\nwhile time.process_time() < until: pass\n"


def run_python(code, **options):
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)


@pytest.fixture
def child():
    """Takes 0.3 CPU-s, says so, and stays until its input ends."""
    process = run_python(BURN.format(seconds=0.3) + "import sys; print('done', flush=True); sys.stdin.read()")
    process.stdout.readline()
    yield process
    process.communicate(timeout=10)


@pytest.fixture
def parent():
    """Has a child that takes 0.3 CPU-s and ends, and one that lives and has 64 MB."""
    code = (
        "import subprocess, sys\n"
        f"subprocess.run([sys.executable, '-c', {BURN.format(seconds=0.3)!r}])\n"
        "hold = 'import sys; held = bytearray(64 << 20); print(1, flush=True); sys.stdin.read()'\n"
        "child = subprocess.Popen([sys.executable, '-c', hold], stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\n"
        "print('done', flush=True); sys.stdin.read(); child.communicate()\n"
    )
    process = run_python(code)
    process.stdout.readline()
    yield process
    process.communicate(timeout=10)


def test_cpu_time_of_a_process(child):
    assert 0.3 <= ProcessTree(child.pid).cpu_seconds() < 2


def test_waiting_costs_nothing(child):
    tree = ProcessTree(child.pid)
    before = tree.cpu_seconds()
    time.sleep(0.2)
    assert tree.cpu_seconds() - before <= 0.02


def test_children_count_the_ended_ones_included(parent):
    tree = ProcessTree(parent.pid)
    assert len(tree.members()) == 2
    assert tree.cpu_seconds() >= 0.3


def test_memory_is_summed_over_the_tree(parent):
    tree = ProcessTree(parent.pid)
    alone = sum(ProcessTree(pid).peak_resident_bytes() for pid in tree.members() - {parent.pid})
    assert alone >= 64 << 20
    assert tree.peak_resident_bytes() > alone


def test_mapped_files_are_told_apart(tmp_path):
    mapped, other = tmp_path / "mapped file", tmp_path / "other"
    for file in (mapped, other):
        file.write_bytes(bytes(8 << 20))
    code = (
        "import mmap, sys\n"
        f"file = open({str(mapped)!r}, 'rb')\n"
        "held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n"
        "print(sum(held[::4096]), flush=True); sys.stdin.read()\n"
    )
    process = run_python(code)
    process.stdout.readline()
    tree = ProcessTree(process.pid)
    assert 8 << 20 <= tree.mapped_bytes([mapped, other]) <= tree.memory_bytes()
    assert tree.mapped_bytes([other]) == 0
    process.communicate(timeout=10)


def test_other_processes_are_none_of_its_business(child):
    assert os.getpid() not in ProcessTree(child.pid).members()


def test_a_process_that_is_gone_has_no_members():
    process = run_python("")
    process.communicate()
    tree = ProcessTree(process.pid)
    assert tree.members() == frozenset()
    assert tree.cpu_seconds() == 0
    assert tree.peak_resident_bytes() == 0
