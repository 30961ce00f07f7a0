"""Where files lie by default."""

from pathlib import Path

import pytest

from rtvoice.paths import default_paths


@pytest.mark.parametrize(
    ("environment", "cache", "data"),
    [
        ({}, "HOME/.cache/rtvoice", "HOME/.local/share/rtvoice"),
        ({"XDG_CACHE_HOME": "/c", "XDG_DATA_HOME": "/d"}, "/c/rtvoice", "/d/rtvoice"),
        ({"XDG_CACHE_HOME": "relative"}, "HOME/.cache/rtvoice", "HOME/.local/share/rtvoice"),
        ({"RTVOICE_CACHE": "/own", "XDG_CACHE_HOME": "/c"}, "/own", "HOME/.local/share/rtvoice"),
        ({"RTVOICE_DATA": "/own", "RTVOICE_CACHE": ""}, "HOME/.cache/rtvoice", "/own"),
    ],
)
def test_folders(environment, cache, data, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("HOME"))
    paths = default_paths(environment)
    assert (paths.cache, paths.data) == (Path(cache), Path(data))
