"""A voice that was added, or a blend, speaks whole sentences until it is fitted, and in slices from then on."""

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


async def slices(config, voice):
    async with Engine(config) as engine:
        return [audio.samples async for audio in engine.speak(TEXT, voice=voice)]


@pytest.mark.parametrize(("voice", "sentences"), [("af_sky", 8), ("af_heart(2)+am_michael", 3)])
async def test_an_added_voice_or_a_blend_is_fitted_and_then_speaks_in_slices(
    voice, sentences, engine_config, tmp_path, capsys
):
    store = VoiceStore(tmp_path)
    store.add("af_sky", np.concatenate([store.style("af_bella", length) for length in range(1, 511)]))
    config = replace(engine_config, paths=replace(engine_config.paths, data=tmp_path))
    whole = await slices(config, voice)
    folders = ["--data-dir", str(tmp_path), "--cache-dir", str(config.paths.cache)]
    assert await asyncio.to_thread(main, ["voices", "fit", voice, "--sentences", str(sentences), *folders]) == 0
    assert f"Fitted {voice}." in capsys.readouterr().out
    sliced = await slices(config, voice)
    assert len(whole) <= 2  # the last few milliseconds, faded out, come by themselves
    assert len(sliced) > 3
    assert len(sliced[0]) < len(whole[0]) / 2  # a machine that is busy lets nothing be heard until the rest will follow
    assert sum(map(len, sliced)) == sum(map(len, whole))
    level = np.std(np.concatenate(sliced)) / np.std(np.concatenate(whole))
    assert 0.5 < level < 2


async def test_a_packaged_voice_speaks_in_slices(engine_config):
    async with Engine(engine_config) as engine:
        lengths = [len(audio.samples) async for audio in engine.speak(TEXT)]
    # how much is held back before the first sound is a matter of how fast the machine is
    assert len(lengths) > 1
    assert lengths[0] < sum(lengths) / 2


async def test_slices_change_no_sample_of_what_is_spoken_twice(engine_config):
    async with Engine(engine_config) as engine:
        np.testing.assert_array_equal(await spoken(engine, TEXT, seed=3), await spoken(engine, TEXT, seed=3))
