"""The real engine is released and restored while it is spoken to, killed in parts, short of memory, and damaged."""

import asyncio
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rtvoice.errors import LoadFailed
from rtvoice.serving.lifecycle import Lifecycle, State
from rtvoice.serving.memory import give_back, measure, page_cache
from rtvoice.speech.build import ensure_model, model_folder
from rtvoice.speech.kokoro import KokoroSynthesizer
from rtvoice.speech.phonemes import Phonemizer
from tests.contract import joined, script_of, slices_of

pytestmark = pytest.mark.model

SHORT = "Hello, and welcome back."
ROOT = Path(__file__).parents[2]


async def reaches(lifecycle, state, within=60.0):
    async with asyncio.timeout(within):
        while lifecycle.state is not state:  # noqa: ASYNC110  # a test looks on
            await asyncio.sleep(0.01)


async def test_twenty_releases_race_with_speech_and_memory_comes_back(engine_config):
    """Requests come at random moments around a release; each is spoken, as it was the first time."""
    kokoro = KokoroSynthesizer(engine_config)
    rng = random.Random(20)  # noqa: S311  # moments, not secrets
    released = []
    lifecycle = Lifecycle(kokoro, idle_s=0.05, give_back=lambda: give_back(kokoro.files()))
    async with lifecycle, asyncio.timeout(900):
        first = joined(await slices_of(lifecycle, script_of(SHORT)))
        warm = measure().memory_bytes
        for cycle in range(20):
            if cycle % 4 == 0:
                await reaches(lifecycle, State.RELEASED)
                released.append(measure().memory_bytes)
            else:
                await asyncio.sleep(rng.uniform(0.0, 0.4))
            np.testing.assert_array_equal(joined(await slices_of(lifecycle, script_of(SHORT))), first)
        await reaches(lifecycle, State.RELEASED)
        released.append(measure().memory_bytes)
        await asyncio.sleep(0)
        assert page_cache(kokoro.files()) < 64 << 20
    assert max(released) < warm
    # the allocator keeps some tens of megabytes more or less; an engine that stayed would be six hundred
    assert released[-1] < released[0] * 1.1 + (128 << 20)


async def test_the_g2p_process_killed_while_it_speaks_is_replaced(engine_config):
    async with KokoroSynthesizer(engine_config) as kokoro:
        whole = joined(await slices_of(kokoro, script_of(SHORT)))
        speaking = [asyncio.create_task(slices_of(kokoro, script_of(SHORT))) for _ in range(3)]
        await asyncio.sleep(0.01)
        os.kill(kokoro.helper_pid, signal.SIGKILL)
        for slices in await asyncio.wait_for(asyncio.gather(*speaking), 120):
            np.testing.assert_array_equal(joined(slices), whole)


async def test_a_resident_g2p_process_outlives_the_engine(engine_config):
    async with Phonemizer(engine_config.paths.cache) as g2p:
        kokoro = KokoroSynthesizer(engine_config, g2p=g2p)
        spoken = []
        for _ in range(2):
            async with kokoro:
                spoken.append(joined(await slices_of(kokoro, script_of(SHORT))))
                pid = kokoro.helper_pid
            assert g2p.pid == pid
            os.kill(pid, 0)  # which fails if it is gone
        np.testing.assert_array_equal(*spoken)
    assert g2p.pid is None


async def test_a_damaged_compile_cache_is_made_again(engine_config, tmp_path):
    paths = replace(engine_config.paths, cache=tmp_path)
    source = model_folder(engine_config.paths)
    ensure_model(engine_config.paths)
    shutil.copytree(source, model_folder(paths))
    for blob in (model_folder(paths) / "compiled").glob("*.blob"):
        content = bytearray(blob.read_bytes())
        content[len(content) // 2 :] = bytes(len(content) - len(content) // 2)
        blob.write_bytes(content)
    async with KokoroSynthesizer(replace(engine_config, paths=paths)) as kokoro:
        assert np.abs(joined(await slices_of(kokoro, script_of(SHORT)))).max() > 0.01


BUILD = """
import sys
from pathlib import Path
from rtvoice.config import Paths
from rtvoice.speech.build import ensure_model
paths = Paths(cache=Path(sys.argv[1]), data=Path(sys.argv[1]))
ensure_model(paths, progress=lambda done, what: print(done, flush=True))
"""


@pytest.mark.parametrize("steps", [1, 4])
def test_a_build_killed_at_any_step_is_begun_again(tmp_path, steps):
    with subprocess.Popen([sys.executable, "-c", BUILD, str(tmp_path)], stdout=subprocess.PIPE, cwd=ROOT) as process:
        for _ in range(steps):
            process.stdout.readline()
        process.kill()
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(tmp_path)], capture_output=True, timeout=300, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "models").glob("*.part"))


LIMITED = """
import asyncio, os, resource, sys
from pathlib import Path
from rtvoice.config import EngineConfig, Paths
from rtvoice.errors import LoadFailed
from rtvoice.serving.lifecycle import Lifecycle
from rtvoice.speech.kokoro import KokoroSynthesizer
from tests.contract import script_of, slices_of

async def main():
    cache, data, room = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    import openvino
    resource.setrlimit(resource.RLIMIT_DATA, (room, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    lifecycle = Lifecycle(KokoroSynthesizer(EngineConfig(paths=Paths(cache=cache, data=data))))
    async with lifecycle:
        try:
            await slices_of(lifecycle, script_of("Hello."))
        except LoadFailed as error:
            print("refused:", error)
        resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print("spoken:", len(await slices_of(lifecycle, script_of("Hello."))))

asyncio.run(main())
"""


def test_without_enough_memory_a_load_fails_and_with_enough_the_next_works(engine_config):
    ensure_model(engine_config.paths)
    if resource.getrlimit(resource.RLIMIT_DATA)[1] != resource.RLIM_INFINITY:
        pytest.skip("this process is limited already, for good")
    paths = engine_config.paths
    command = [sys.executable, "-c", LIMITED, str(paths.cache), str(paths.data), str(250 << 20)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "refused: The engine could not be loaded: there is no room" in done.stdout
    assert "spoken:" in done.stdout


async def test_a_server_killed_while_it_loads_or_speaks_leaves_nothing_that_hinders_the_next(engine_config):
    code = LIMITED.replace("int(sys.argv[3])", "resource.RLIM_INFINITY")
    command = [sys.executable, "-c", code, str(engine_config.paths.cache), str(engine_config.paths.data)]
    for after_s in (0.3, 1.5, 3.0):
        process = await asyncio.create_subprocess_exec(
            *command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
        )
        await asyncio.sleep(after_s)
        with suppress(ProcessLookupError):  # it may have spoken to its end
            process.kill()
        await process.wait()
    async with Lifecycle(KokoroSynthesizer(engine_config)) as lifecycle:
        try:
            assert await slices_of(lifecycle, script_of(SHORT))
        except LoadFailed as error:
            pytest.fail(str(error))
