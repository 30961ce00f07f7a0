"""Letting go of mapped files."""

import mmap
import os

from rtvoice.speech.mapped import let_go

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


def test_where_there_is_no_list_of_mappings_nothing_happens(tmp_path):
    assert let_go(tmp_path, tmp_path / "maps") == 0
