"""The control groups that a process is in: what a container's limits are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def groups(controller: str, proc: Path, cgroups: Path) -> list[Path]:
    """The folders of our control group and its ancestors, where they can be seen: each one's limit holds.

    Each line of /proc/self/cgroup is number:controllers:path. Version 2 has one, with no controllers, and its tree at
    the top. Inside a container the path may be the host's, and what we see of the tree begins below it.

    Args:
        controller: what is limited: `cpu` or `memory`.
        proc: where procfs is mounted.
        cgroups: where control groups are, version 1 or 2.
    """
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        trees = [cgroups / controllers, cgroups / controller] if controllers else [cgroups, cgroups / "unified"]
        parts = [part for part in path.split("/") if part and part != ".."]
        found += [tree.joinpath(*parts[:depth]) for tree in trees for depth in range(len(parts), -1, -1)]
    return found
