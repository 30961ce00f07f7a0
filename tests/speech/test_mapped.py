"""Letting go of mapped files."""

import mmap
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from rtvoice.speech.mapped import let_go, let_go_of_code

SIZE = 8 << 20


def resident(file):
    """Kilobytes of a file that are in this process's memory."""
    total, ours = 0, False
    with open("/proc/self/smaps", encoding="utf-8") as maps:
        for line in maps:
            if "-" in line.split(" ")[0] and ":" not in line.split(" ")[0]:
                ours = line.rstrip().endswith(str(file))
            elif ours and line.startswith("Rss:"):
                total += int(line.split()[1])
    return total


def test_pages_of_the_folders_files_go_and_come_back_when_they_are_read(tmp_path):
    files = {name: tmp_path / name / "weights.bin" for name in ("ours", "theirs")}
    mapped = {}
    for name, file in files.items():
        file.parent.mkdir()
        file.write_bytes(os.urandom(SIZE))
        with file.open("rb") as opened:
            mapped[name] = mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ)
    before = {name: bytes(data) for name, data in mapped.items()}
    assert resident(files["ours"]) >= SIZE >> 10
    assert let_go(tmp_path / "ours") >= SIZE
    assert resident(files["ours"]) == 0
    assert resident(files["theirs"]) >= SIZE >> 10
    assert bytes(mapped["ours"]) == before["ours"]
    for data in mapped.values():
        data.close()


def test_a_folder_is_the_same_behind_a_symbolic_link(tmp_path):
    file = tmp_path / "ours" / "weights.bin"
    file.parent.mkdir()
    file.write_bytes(bytes(SIZE))
    (tmp_path / "link").symlink_to(file.parent)
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ):
        assert let_go(tmp_path / "link") >= SIZE


def code(package):
    """Kilobytes of code of a package's libraries that are in this process's memory."""
    total, ours = 0, False
    for line in Path("/proc/self/smaps").read_text("utf-8", "replace").splitlines():
        fields = line.split()
        if "-" in fields[0] and not fields[0].endswith(":"):
            ours = fields[1] == "r-xp" and f"/{package}/" in line
        elif ours and fields[0] == "Rss:":
            total += int(fields[1])
    return total


def test_code_goes_and_runs_as_before():
    values = np.arange(200_000, dtype=np.float64)
    expected = np.fft.rfft(values)
    for _ in range(3):
        before = code("numpy")
        assert let_go_of_code() > before << 10
        assert code("numpy") < before
        np.testing.assert_array_equal(np.fft.rfft(values), expected)


RACING = """
import faulthandler, threading
from rtvoice.speech.mapped import let_go_of_code
faulthandler.dump_traceback_later(50, exit=True)
ended = threading.Event()
def release():
    while not ended.is_set():
        let_go_of_code()
thread = threading.Thread(target=release)
thread.start()
import numpy
assert numpy.linalg.inv(numpy.eye(200) * 2)[0, 0] == 0.5
import numpy.random
assert numpy.random.default_rng(1).random() < 1
ended.set()
thread.join()
"""


def test_code_may_go_while_its_libraries_are_being_loaded():
    subprocess.run([sys.executable, "-c", RACING], check=True, timeout=60, cwd=Path(__file__).parents[2])


def test_where_there_is_no_list_of_mappings_nothing_happens(tmp_path):
    assert let_go(tmp_path, maps=tmp_path / "maps") == 0
    assert let_go_of_code(tmp_path / "maps") == 0


def test_of_files_that_hold_code_only_libraries_go(tmp_path):
    library = next(
        line for line in Path("/proc/self/maps").read_text().splitlines() if "r-xp" in line and ".so" in line
    )
    start, end = (int(address, 16) for address in library.split()[0].split("-"))
    *where, _ = library.split(maxsplit=5)
    listed = {name: tmp_path / name for name in ("a", "b", "c", "d")}
    for file, name in zip(
        listed.values(), ("/lib/a.so.1", "/memfd:jit.so (deleted)", "/usr/bin/program", ""), strict=True
    ):
        file.write_text(" ".join([*where, name]) + "\n")
    assert [let_go_of_code(file) for file in listed.values()] == [end - start, 0, 0, 0]
