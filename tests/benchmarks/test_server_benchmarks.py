"""The benchmarks of the server: what they do with figures, and that they find a server that runs or does not."""

import os
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from benchmarks import lifecycle, load
from benchmarks.plot import Line, draw
from benchmarks.server import Server, ServerFailed

SCRIPTED = """
import asyncio
from rtvoice.config import ServerConfig
from rtvoice.serving.logs import configure_logging
from rtvoice.serving.server import serve
from tests.scripted import ScriptedSynthesizer
configure_logging("json")
asyncio.run(serve(ServerConfig(port=0, idle_release_s=0.2), ScriptedSynthesizer()))
"""


def test_a_server_is_started_asked_watched_and_ended():
    with Server([sys.executable, "-c", SCRIPTED]) as server:
        assert server.url.startswith("ws://127.0.0.1:")
        assert server.tree.memory_bytes() > 10 << 20
        assert server.reach("released", 20) < 20
        assert server.metrics()["rtvoice_loads_total", "done"] == 1
        (pid,) = server.tree.members()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_server_that_does_not_start_says_why():
    with (
        pytest.raises(ServerFailed, match="no such weights"),
        Server([sys.executable, "-c", "exit('no such weights')"]),
    ):
        pass


async def test_clients_are_heard_and_a_book_is_read_beside_them():
    with Server([sys.executable, "-c", SCRIPTED]) as server:
        heard = await load.turns(server.url, 1)
        assert len(heard) == 4
        assert all(0 < value < 20 for value in heard)


def test_percentiles():
    assert load.percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert load.percentile(list(range(1, 11)), 0.9) == 10
    assert load.percentile([1.0], 0.9) == 1.0


def figures(**changes):
    """What `benchmarks.lifecycle` measures, all of it as is asked; with changes to the cycles."""
    held = {"processes": 100_000_000, "page_cache": 1_000_000}
    cycles = {
        "released": [held, held],
        "restored_first_audio_s": [1.0, 2.0, 3.0],
        "warm_bytes": 500_000_000,
        "start_s": 2.0,
        "first_audio_after_start_s": 0.5,
        "warm_first_audio_s": [0.3],
        "timeline": [(0.0, 500_000_000), (1.0, 100_000_000)],
    }
    eager = {"cold_start_s": 12.0, "warm_bytes": 1_500_000_000, "timeline": [(0.0, 1_500_000_000)]}
    growth = [(30, 600_000_000), (300, 610_000_000)]
    return {"cycles": cycles | changes, "growth": growth, "others": {"pytorch-eager": eager}}


def test_what_the_lifecycle_prints_puts_figures_beside_what_is_asked(tmp_path):
    text = lifecycle.summarise(figures())
    assert "PyTorch eager" in text
    assert text.count(" yes") == 6
    assert "NO" not in text
    lifecycle._plot(figures(), tmp_path)
    assert len(list(tmp_path.glob("lifecycle-*.svg"))) == 4


@pytest.mark.parametrize(
    ("changes", "missed"),
    [
        ({"released": [{"processes": 160_000_000, "page_cache": 0}]}, 2),
        ({"released": [{"processes": held, "page_cache": 0} for held in (100_000_000, 110_000_000)]}, 1),
        ({"restored_first_audio_s": [3.1]}, 1),
    ],
)
def test_what_is_not_as_asked_is_told(changes, missed):
    assert sum(not criterion.kept for criterion in lifecycle.criteria(figures(**changes))) == missed


def test_what_the_load_prints_puts_figures_beside_what_is_asked():
    turns = {"rtvoice": [1.0, 1.0, 1.2], load.COMPARED: [4.0, 4.0, 4.0]}
    result = {"turns": turns, "alone": [1.0, 1.0], "beside_book": [1.0, 1.4]}
    assert [criterion.kept for criterion in load.criteria(result)] == [True, True, False]
    text = load.summarise(result)
    assert "0.250" in text
    assert "1.400" in text
    assert len(load.criteria(result | {"turns": {"rtvoice": [1.0]}})) == 1


@pytest.mark.parametrize("points", [[(0, 0.0)], [(0, 1.0), (10, 250.0), (33, 3.5)], []])
def test_a_plot_is_a_picture(points):
    root = ElementTree.fromstring(draw("A <title>", "x", "y", [Line("one & two", points)]))  # noqa: S314  # ours
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "A <title>" in texts
    assert "one & two" in texts
