"""Where files lie if nobody says otherwise: the folders that the XDG base directory specification names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rtvoice.config import Paths

if TYPE_CHECKING:
    from collections.abc import Mapping


def default_paths(environment: Mapping[str, str]) -> Paths:
    """Choose the folders. Nothing is created.

    Args:
        environment: the process's environment. `RTVOICE_CACHE` and `RTVOICE_DATA` name the folders themselves; else
            they are `rtvoice` below `XDG_CACHE_HOME` and `XDG_DATA_HOME`, or below `~/.cache` and `~/.local/share`.
    """
    return Paths(
        cache=_folder(environment, "RTVOICE_CACHE", "XDG_CACHE_HOME", ".cache"),
        data=_folder(environment, "RTVOICE_DATA", "XDG_DATA_HOME", ".local/share"),
    )


def _folder(environment: Mapping[str, str], own: str, base: str, fallback: str) -> Path:
    if path := environment.get(own):
        return Path(path)
    # The specification has relative paths ignored.
    root = Path(environment.get(base, ""))
    return (root if root.is_absolute() else Path.home() / fallback) / "rtvoice"
