"""The real engine where nothing can be written: what it made before it uses, what it cannot keep it does without."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rtvoice.speech.build import ensure_model
from rtvoice.speech.g2p.dictionary import dictionary_files, write_dictionaries

pytestmark = pytest.mark.model

ROOT = Path(__file__).parents[2]

SPEAK = """
import asyncio, resource, sys
from pathlib import Path
from rtvoice.config import EngineConfig, Paths
from rtvoice.speech.kokoro import KokoroSynthesizer
from tests.contract import joined, script_of, slices_of

async def main():
    paths = Paths(cache=Path(sys.argv[1]), data=Path(sys.argv[2]))
    if (room := int(sys.argv[3])) >= 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    async with KokoroSynthesizer(EngineConfig(paths=paths)) as kokoro:
        print(len(joined(await slices_of(kokoro, script_of("Hello, and welcome back.")))))
        await kokoro.load_all()

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def model(engine_config):
    """The folder of the model, compiled whole; its dictionaries are there as well."""
    folder = ensure_model(engine_config.paths).folder
    write_dictionaries(engine_config.paths.cache)
    speak(engine_config.paths, -1)
    return folder


def speak(paths, room):
    """Speak in a process that may write files of so many bytes at most, or of any size if that is negative."""
    command = [sys.executable, "-c", SPEAK, str(paths.cache), str(paths.data), str(room)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[0])


def copied(paths, model, cache, *, blobs):
    """Link a built model and its dictionaries into another cache, with what OpenVINO compiled or without."""
    left_out = shutil.ignore_patterns() if blobs else shutil.ignore_patterns("*.blob", "sealed.json")
    shutil.copytree(model, cache / "models" / model.name, copy_function=os.link, ignore=left_out)
    for file in (*dictionary_files(paths.cache), *(file for file in paths.cache.iterdir() if file.is_file())):
        target = cache / file.relative_to(paths.cache)
        target.parent.mkdir(exist_ok=True)
        os.link(file, target)
    return replace(paths, cache=cache)


@pytest.fixture
def cache(model):
    """A folder on the same disk as the model, so that files can be linked."""
    folder = model.parent.parent / f"test-{os.getpid()}"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


def test_a_cache_that_cannot_be_written_to_is_enough_once_it_is_complete(engine_config, model, cache):
    paths = copied(engine_config.paths, model, cache, blobs=True)
    before = {file: file.stat().st_mtime_ns for file in cache.rglob("*") if file.is_file()}
    assert speak(paths, 0) > 24_000
    assert {file: file.stat().st_mtime_ns for file in cache.rglob("*") if file.is_file()} == before


def test_a_disk_that_is_full_while_networks_are_compiled_costs_their_cache_and_no_speech(engine_config, model, cache):
    paths = copied(engine_config.paths, model, cache, blobs=False)
    spoken = speak(paths, 1 << 20)
    assert spoken > 24_000
    assert speak(paths, -1) == spoken  # with room again: what is left of the first attempt hinders nobody
