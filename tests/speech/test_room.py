"""Memory that may still be taken: limits of control groups, of the process and of the machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rtvoice.errors import SetupError
from rtvoice.speech.room import Room, check_room, find_room

MB = 1_000_000


@pytest.fixture
def kernel(tmp_path):
    """Files of /proc and of control groups as given: contents by path below `proc` and `cgroup`."""

    def make(files: dict[str, str]) -> Room:
        for name, content in files.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        return find_room(tmp_path / "proc", tmp_path / "cgroup")

    return make


V2 = {"proc/self/cgroup": "0::/pod/box\n"}
V1 = {"proc/self/cgroup": "9:memory:/docker/abc\n4:cpu:/docker/other\n"}


def test_without_a_limit_there_is_none(kernel):
    assert kernel({}) == Room(None, None)
    assert kernel({**V2, "cgroup/memory.max": "max\n"}).pages is None


def test_version_2_counts_what_is_cached_as_free(kernel):
    files = {
        "cgroup/pod/box/memory.max": "1000\n",
        "cgroup/pod/box/memory.current": "700\n",
        "cgroup/pod/box/memory.stat": "anon 400\ninactive_file 200\nactive_file 80\nslab 30\nslab_reclaimable 9\n",
    }
    assert kernel(V2 | files).pages == 1000 - 700 + 289


def test_the_tightest_of_the_groups_above_holds(kernel):
    files = {
        "cgroup/pod/box/memory.max": "1000\n",
        "cgroup/pod/box/memory.current": "100\n",
        "cgroup/pod/memory.max": "1200\n",
        "cgroup/pod/memory.current": "900\n",
    }
    assert kernel(V2 | files).pages == 300


@pytest.mark.parametrize(
    ("most", "free_kb", "swap"), [("max\n", 2, 2048), ("50\n", 2, 40), ("50\n", 0, 0), (None, 1, 1024)]
)
def test_what_may_be_moved_to_disk_counts_as_free(kernel, most, free_kb, swap):
    files = {
        "proc/meminfo": f"MemTotal: 9999 kB\nMemAvailable:  9000 kB\nSwapFree:  {free_kb} kB\n",
        "cgroup/pod/box/memory.max": "1000\n",
        "cgroup/pod/box/memory.current": "700\n",
    }
    if most is not None:
        files |= {"cgroup/pod/box/memory.swap.max": most, "cgroup/pod/box/memory.swap.current": "10\n"}
    assert kernel(V2 | files).pages == 300 + swap


def test_version_1(kernel):
    files = {
        "cgroup/memory/docker/abc/memory.limit_in_bytes": "1000\n",
        "cgroup/memory/docker/abc/memory.usage_in_bytes": "700\n",
        "cgroup/memory/docker/abc/memory.stat": "inactive_file 1\ntotal_inactive_file 50\ntotal_active_file 20\n",
        "cgroup/memory/memory.limit_in_bytes": f"{(1 << 63) - 4096}\n",
        "cgroup/memory/memory.usage_in_bytes": "999999\n",
    }
    assert kernel(V1 | files).pages == 370


def test_what_the_machine_has_left_is_a_limit_too(kernel):
    assert kernel({"proc/meminfo": "MemFree: 10 kB\nMemAvailable:  3 kB\nSwapFree: 1 kB\n"}).pages == 4096


@pytest.mark.parametrize("content", ["", "nonsense", "max", "12 kB nonsense\nMemAvailable:\n"])
def test_files_of_nonsense_are_no_limit(kernel, content):
    files = {"proc/meminfo": content, "cgroup/memory.max": content, "cgroup/memory.current": content}
    assert kernel({"proc/self/cgroup": "0::/\n", **files}).pages is None


@pytest.mark.parametrize("kind", ["RLIMIT_DATA", "RLIMIT_AS"])
def test_a_limit_of_the_process_leaves_what_it_has_not_taken(kind):
    code = (
        "import resource; from rtvoice.speech.room import find_room;"
        f"before = find_room().addresses; resource.setrlimit(resource.{kind}, (3 << 30, 3 << 30));"
        "print(before, find_room().addresses)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after = done.stdout.split()
    if before != "None":
        pytest.skip("this process is limited already")
    assert 2 << 30 < int(after) < 3 << 30


@pytest.mark.parametrize("room", [Room(None, None), Room(5000 * MB, None), Room(None, 5000 * MB)])
def test_where_there_is_enough_nobody_is_refused(room):
    check_room(2, room)


@pytest.mark.parametrize(
    ("room", "says"),
    [
        (Room(512 * MB, None), "512 MB are left of what the container"),
        (Room(-3 * MB, 9000 * MB), "0 MB are left of what the container"),
        (Room(9000 * MB, 700 * MB), "ulimit"),
    ],
)
def test_where_there_is_too_little_it_says_how_much_is_needed(room, says):
    with pytest.raises(SetupError, match=says):
        check_room(1, room)


def test_fewer_streams_are_proposed_where_there_are_several():
    with pytest.raises(SetupError, match="--streams 1"):
        check_room(8, Room(1000 * MB, None))
    check_room(1, Room(1000 * MB, None))
