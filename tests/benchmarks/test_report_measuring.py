"""Cells are measured for real, on a server whose synthesizer follows a script."""

from __future__ import annotations

import dataclasses
import sys

import pytest

from benchmarks.baselines import ROWS
from benchmarks.process import Prepared
from benchmarks.report import measuring
from benchmarks.report.measuring import CLIENTS, SAMPLE, Measuring
from benchmarks.report.plan import QUICK, REWRITES, Cell
from benchmarks.report.records import Clients, Lifecycle, Serve
from benchmarks.report.subjects import SUBJECTS, Places, Subject
from benchmarks.server import ServerFailed
from rtvoice.speech.phonemes import data_files

SCRIPTED = """
import asyncio, sys
from rtvoice.config import ServerConfig
from rtvoice.serving.logs import configure_logging
from rtvoice.serving.server import serve
from rtvoice.speech.voices import VoiceStore
from tests.scripted import ScriptedSynthesizer
class Synthesizer(ScriptedSynthesizer):
    voices = VoiceStore(__import__("pathlib").Path("nowhere")).infos
configure_logging("json")
idle_s = None if sys.argv[1] == "None" else float(sys.argv[1])
asyncio.run(serve(ServerConfig(port=0, idle_release_s=idle_s, audio_ahead_s=1e6), Synthesizer()))
"""

PROFILE = dataclasses.replace(QUICK, turns=2, idle_s=0.6, cycles=2, clients=(1, 2))


class Scripted(Subject):
    """A subject that needs no engine."""

    code = SCRIPTED

    def command(self, places, idle_release_s):
        return [sys.executable, "-c", self.code, str(idle_release_s)]


class Broken(Scripted):
    code = "exit('no such weights')"


@pytest.fixture
def measures(tmp_path, monkeypatch):
    """Measures a scripted subject, one that does not start, without a process that prepares them."""
    monkeypatch.setattr(measuring, "IDLE_S", 0.3)
    subjects = {name: kind(label=name, row=ROWS["rtvoice"], own=True) for name, kind in KINDS.items()}
    places = Places(serving=sys.executable, reference=sys.executable, cache=tmp_path)
    made = Measuring(PROFILE, places, tmp_path / "samples", subjects)
    made._prepared["rtvoice"] = Prepared(tuple(data_files()[:1]), {"library": "1"})
    made._ready += subjects.values()
    return made


KINDS = {"scripted": Scripted, "broken": Broken}


def test_a_server_is_started_loaded_and_left_alone(measures, tmp_path):
    cell = Cell(kind="serve", subject="scripted")
    found = measures.measure(cell)
    assert isinstance(found, Serve)
    assert sorted(heard.sentence for heard in found.load.heard) == sorted(measuring.ORDER[: 2 * CLIENTS])
    assert all(heard.audio_s > 0.3 and heard.level > 0.01 and heard.first_audio_s > 0 for heard in found.load.heard)
    assert 0 < found.load.cpu_s < 60
    assert found.cold_start_s > 0
    assert found.warm.processes > 10 << 20
    assert found.timeline
    assert (tmp_path / "samples" / found.sample).stat().st_size > 1000
    assert measures.versions(cell) == {"library": "1"}


def test_a_server_is_released_and_restored(measures):
    found = measures.measure(Cell(kind="lifecycle", subject="scripted"))
    assert isinstance(found, Lifecycle)
    assert len(found.cycles) == len(found.spoken_s) == PROFILE.cycles
    assert all(spoken < asked for spoken, asked in zip(found.spoken_s, found.asked_s, strict=True))
    assert all(cycle.restored_s > 0 and cycle.released.processes > 10 << 20 for cycle in found.cycles)
    assert found.timeline[-1][0] > found.spoken_s[-1]


def test_more_and_more_clients_ask(measures):
    found = measures.measure(Cell(kind="clients", subject="scripted"))
    assert isinstance(found, Clients)
    assert [one.clients for one in found.loads] == [1, 2]
    assert all(len(one.heard) == CLIENTS for one in found.loads)


def test_a_server_that_does_not_start_is_a_failure_that_runs_know(measures):
    with pytest.raises(ServerFailed, match="no such weights"):
        measures.measure(Cell(kind="serve", subject="broken"))


def test_every_sentence_is_spoken_in_turn_and_one_is_kept():
    assert sorted(measuring.ORDER) == list(range(20))
    assert SAMPLE in measuring.ORDER[:CLIENTS]
    assert set(measuring.SHORT) < set(measuring.ORDER)


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_engine_has_a_command(name, tmp_path):
    places = Places(serving=tmp_path / "s", reference=tmp_path / "r", cache=tmp_path)
    command = SUBJECTS[name].command(places, 3.0)
    assert command[0] == str(SUBJECTS[name].python(places))
    assert command[command.index("--idle-release") + 1] == "3"
    assert "off" in SUBJECTS[name].command(places, None)
    assert ("benchmarks.served" in command) == (name not in ("rtvoice", "rtvoice-f32"))


@pytest.mark.parametrize("name", REWRITES)
def test_forms_of_the_generator_are_those_of_the_networks_benchmark(name):
    variant = measuring.variant_of(name)
    assert bool(variant.fourier) == (name in ("fourier", "bfloat16"))
    assert variant.polynomial == (name != "direct")
    assert (variant.precision == "bf16") == (name == "bfloat16")
