"""The engine in process, over a scripted synthesizer."""

import asyncio
from contextlib import aclosing

import numpy as np
import pytest

from rtvoice import Engine
from rtvoice.errors import InvalidInput, SynthesisFailed
from tests.scripted import WORD_S, ScriptedSynthesizer

pytestmark = pytest.mark.usefixtures("watched_loop")

SAMPLES = round(WORD_S * 24_000)


@pytest.fixture
def synthesizer():
    return ScriptedSynthesizer()


@pytest.fixture
async def engine(synthesizer):
    async with Engine(synthesizer=synthesizer) as engine:
        yield engine


async def arriving(*pieces):
    for piece in pieces:
        await asyncio.sleep(0.001)
        yield piece


async def test_enters_and_leaves_its_synthesizer(synthesizer):
    async with Engine(synthesizer=synthesizer) as engine:
        assert synthesizer.entered == 1
        assert [voice.name for voice in engine.voices] == ["af_heart", "bm_george"]
        assert engine.languages == ("en-us", "en-gb")
    assert synthesizer.entered == 0


async def test_audio_is_whole_and_does_not_depend_on_how_text_arrives(engine):
    def joined(stretches):
        index = 0
        for stretch in stretches:
            assert stretch.index == index
            index += len(stretch.samples)
        return np.concatenate([stretch.samples for stretch in stretches])

    text = "Hello there. How are you today?"
    whole = [audio async for audio in engine.speak(text)]
    pieces = [audio async for audio in engine.speak(arriving(*text))]
    assert len(joined(whole)) == 6 * SAMPLES
    np.testing.assert_array_equal(joined(whole), joined(pieces))
    assert "".join(audio.segment.text for audio in whole if audio.opens) == text
    words = [word for audio in whole for word in audio.words]
    assert [word.text for word in words] == ["Hello", "there", "How", "are", "you", "today"]
    assert all(text[word.start : word.end] == word.text for word in words)
    assert [word.start_s for word in words] == pytest.approx([n * WORD_S for n in range(6)])
    sounds = [sound for audio in whole for sound in audio.phonemes]
    assert "".join(sound.phoneme for sound in sounds) == "HellothereHowareyoutoday"
    assert {word.start_s for word in words} <= {sound.start_s for sound in sounds}
    assert sounds[-1].end_s == words[-1].end_s


async def test_nothing_to_say(engine):
    assert [audio async for audio in engine.speak("  ")] == []


@pytest.mark.parametrize(("options", "field"), [({"voice": "nobody"}, "voice"), ({"speed": 3.0}, "speed")])
async def test_options_that_are_not_allowed(engine, options, field):
    with pytest.raises(InvalidInput) as caught:
        [audio async for audio in engine.speak("Hello.", **options)]
    assert caught.value.field == field


async def test_a_segment_that_fails(synthesizer, engine):
    synthesizer.fails_on = "bad"
    heard = []

    async def hear():
        async for audio in engine.speak(["Good.\n\n", "A bad one."]):
            heard.append(audio)

    with pytest.raises(SynthesisFailed):
        await hear()
    assert sum(len(audio.samples) for audio in heard) == 2 * SAMPLES


async def test_an_exception_of_the_text_comes_out_after_what_was_said(engine):
    async def broken():
        yield "One. Two"
        raise ZeroDivisionError

    heard = []

    async def hear():
        async for audio in engine.speak(broken()):
            heard.append(audio.segment.text)

    with pytest.raises(ZeroDivisionError):
        await hear()
    assert set(heard) == {"One. "}


async def test_text_is_read_while_audio_is_made_and_not_far_ahead(synthesizer, engine):
    read = 0

    async def endless():
        nonlocal read
        while True:
            read += 1
            yield "A sentence here. "
            await asyncio.sleep(0)

    narration = engine.speak(endless())
    await anext(narration)
    await asyncio.sleep(0.05)
    assert synthesizer.slices_made <= 2
    assert read < 10
    await narration.aclose()
    assert synthesizer.running == 0


async def test_leaving_by_cancellation_drops_the_work(synthesizer, engine):
    synthesizer.gate = asyncio.Event()

    async def listen():
        async for _ in engine.speak("Hello."):
            pass

    task = asyncio.create_task(listen())
    await asyncio.sleep(0.02)
    assert synthesizer.running == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert synthesizer.running == 0


async def test_utterances_side_by_side(synthesizer, engine):
    async def length(text):
        return sum([len(audio.samples) async for audio in engine.speak(text)])

    assert await asyncio.gather(length("One."), length("One two."), length("One two three.")) == [
        SAMPLES,
        2 * SAMPLES,
        3 * SAMPLES,
    ]


async def test_leaving_while_more_is_being_made_fails_nothing(engine, synthesizer):
    synthesizer.delay_s = 0.02
    faults = []
    asyncio.get_running_loop().set_exception_handler(lambda _, fault: faults.append(fault))
    async for _ in engine.speak("One two three four. Five six seven eight."):
        await asyncio.sleep(0.01)  # the next is under way
        break
    async with aclosing(engine.speak("One two three four.")) as speech:
        async for _ in speech:
            await asyncio.sleep(0.01)
            break
    await asyncio.sleep(0.05)
    assert faults == []
    assert synthesizer.running == 0
