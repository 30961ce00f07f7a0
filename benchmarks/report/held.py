"""Memory of a server: of its processes, of the files it loads, and as its control group counts it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.report.records import Held
from rtvoice.serving.memory import page_cache

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.accounting import ProcessTree


def held(tree: ProcessTree, files: Iterable[Path], group_before: int | None) -> Held:
    """What a server holds now.

    Args:
        tree: its processes.
        files: what it loads. Pages of them that a process maps are counted there, and not again.
        group_before: what `group_bytes` was before it started.
    """
    there = [file for file in files if file.is_file()]
    group = group_bytes()
    return Held(
        processes=tree.memory_bytes(),
        files=max(0, page_cache(there) - tree.mapped_bytes(there)),
        group=None if group is None or group_before is None else group - group_before,
    )


def group_bytes(proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Memory that the control group of this process is charged for, page cache included; None if nobody counts that.

    Args:
        proc: where procfs is mounted.
        groups: where control groups are, version 1 or 2.
    """
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "memory":
            tree, name = groups / "memory", "memory.usage_in_bytes"
        elif not controllers:
            tree, name = groups, "memory.current"
        else:
            continue
        # inside a container the path may be the host's, and the tree begins with our own group
        for file in (tree / path.lstrip("/") / name, tree / name):
            if file.is_file():
                return int(file.read_text())
    return None
