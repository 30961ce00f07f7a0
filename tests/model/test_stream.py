"""What is streamed is what one call makes: the same samples, however the text came and the audio was taken."""

import numpy as np
import pytest
import pytest_asyncio

from rtvoice import Engine
from tests.model.conftest import spoken

pytestmark = [pytest.mark.model, pytest.mark.asyncio(loop_scope="module")]

# Sentences that are long enough to be spoken by themselves: short ones are joined if they have come by then.
TEXT = "I read it yesterday and will read it again. Nobody can tell what comes after that."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(engine_config):
    async with Engine(engine_config) as engine:
        yield engine


async def arriving(text, size):
    for place in range(0, len(text), size):
        yield text[place : place + size]


@pytest.mark.parametrize("size", [1, 7])
async def test_text_in_pieces_is_the_same_samples(engine, size):
    whole = await spoken(engine, TEXT)
    np.testing.assert_array_equal(await spoken(engine, arriving(TEXT, size)), whole)


async def test_stretches_are_joined_without_a_gap(engine):
    index = 0
    words = []
    stretches = []
    async for audio in engine.speak(TEXT):
        assert audio.index == index
        index += len(audio.samples)
        words += audio.words
        stretches.append(audio.samples)
    assert [word.text for word in words] == [word.strip(".") for word in TEXT.split()]
    times = [(word.start_s, word.end_s) for word in words]
    assert times == sorted(times)
    assert times[-1][1] <= index / 24_000
    # no word lasts through the pause behind it: it is silent there, and was not just before
    samples = np.concatenate(stretches)
    end = round(times[-1][1] * 24_000)
    assert np.abs(samples[end + 1_200 :]).max() < 0.01
    assert np.abs(samples[end - 2_400 : end]).max() > 0.01
    assert len(samples) - end > 6_000


async def test_another_seed_is_other_noise_and_the_same_speech(engine):
    one, other = [await spoken(engine, "Hello there.", seed=seed) for seed in (0, 1)]
    assert len(one) == len(other)
    assert not np.array_equal(one, other)
    assert np.corrcoef(np.abs(one), np.abs(other))[0, 1] > 0.5


async def test_a_long_sentence_is_spoken_whole(engine):
    text = "and then we walked along the river, " * 10 + "and went home."  # several calls of the model
    audio = [audio async for audio in engine.speak(text)]
    words = [word.text for stretch in audio for word in stretch.words]
    assert words == [word.strip(",.") for word in text.split()]
    assert 15 < sum(len(stretch.samples) for stretch in audio) / 24_000 < 40


async def test_words_of_other_scripts_and_none_at_all(engine):
    assert len(await spoken(engine, "My robot Grzyk says привет, 你好 and مرحبا.")) > 24_000
    assert [audio async for audio in engine.speak(" \n ")] == []
