"""A voice that was added speaks whole sentences until its map is fitted, and in slices from then on."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from rtvoice import Engine
from rtvoice.cli import main
from rtvoice.speech.voices import VoiceStore
from tests.model.conftest import spoken

pytestmark = pytest.mark.model

TEXT = "The quick brown fox jumps over the lazy dog near the river."


async def slices(config):
    async with Engine(config) as engine:
        return [audio.samples async for audio in engine.speak(TEXT, voice="af_sky")]


async def test_an_added_voice_is_fitted_and_then_speaks_in_slices(engine_config, tmp_path, capsys):
    store = VoiceStore(tmp_path)
    store.add("af_sky", np.concatenate([store.style("af_bella", length) for length in range(1, 511)]))
    config = replace(engine_config, paths=replace(engine_config.paths, data=tmp_path))
    whole = await slices(config)
    folders = ["--data-dir", str(tmp_path), "--cache-dir", str(config.paths.cache)]
    assert await asyncio.to_thread(main, ["voices", "fit", "af_sky", "--sentences", "8", *folders]) == 0
    assert "Fitted af_sky." in capsys.readouterr().out
    sliced = await slices(config)
    assert len(whole) <= 2  # the last few milliseconds, faded out, come by themselves
    assert len(sliced) > 3
    assert len(sliced[0]) < len(whole[0]) / 4
    assert sum(map(len, sliced)) == sum(map(len, whole))
    level = np.std(np.concatenate(sliced)) / np.std(np.concatenate(whole))
    assert 0.5 < level < 2


async def test_a_packaged_voice_speaks_in_slices(engine_config):
    async with Engine(engine_config) as engine:
        lengths = [len(audio.samples) async for audio in engine.speak(TEXT)]
    assert lengths[0] <= 0.2 * 24_000
    assert len(lengths) > 3


async def test_slices_change_no_sample_of_what_is_spoken_twice(engine_config):
    async with Engine(engine_config) as engine:
        np.testing.assert_array_equal(await spoken(engine, TEXT, seed=3), await spoken(engine, TEXT, seed=3))
