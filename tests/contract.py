"""What every `Synthesizer` keeps to: run on the tests' scripted one and on the real model.

A test module takes it on by subclassing::

    class TestScripted(SynthesizerContract):
        @pytest.fixture
        async def synthesizer(self):
            async with ScriptedSynthesizer() as synthesizer:
                yield synthesizer
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from itertools import pairwise

import numpy as np
import pytest

from rtvoice.errors import InvalidInput
from rtvoice.speech.synthesizer import SpeechOptions
from rtvoice.text.segment import Passage, Pause, Script, Segment, SpokenWord

RATE = 24_000
SENTENCE = "The quick brown fox jumps over the lazy dog."


def script_of(text, *, start=0, pause=None):
    """The script of a sentence, its words found by their spaces; `pause` seconds of silence before it."""
    words, at = [], 0
    for word in text.rstrip(".").split():
        at = text.index(word, at)
        words.append(SpokenWord(at, at + len(word), start + at, start + at + len(word)))
        at += len(word)
    parts = (Passage(text, tuple(words)),) if words else ()
    return Script(Segment(text, start, start + len(text)), parts if pause is None else (Pause(pause), *parts))


async def slices_of(synthesizer, script, *, ordinal=0, **options):
    options = SpeechOptions(**options)
    synthesizer.check(options)
    async with aclosing(synthesizer.speak(script, options, ordinal=ordinal)) as slices:
        return [piece async for piece in slices]


def joined(slices):
    return np.concatenate([np.zeros(0, np.float32), *(piece.samples for piece in slices)])


class SynthesizerContract:
    """The contract. Subclasses give a fixture `synthesizer`, entered."""

    async def test_offers_voices_and_languages(self, synthesizer):
        names = [voice.name for voice in synthesizer.voices]
        assert len(set(names)) == len(names) > 0
        assert {voice.language for voice in synthesizer.voices} <= set(synthesizer.languages)
        for name in names:
            synthesizer.check(SpeechOptions(voice=name))
        for language in synthesizer.languages:
            synthesizer.check(SpeechOptions(voice=names[0], language=language))

    @pytest.mark.parametrize(
        ("options", "field"),
        [
            ({"voice": "nobody"}, "voice"),
            ({"voice": ""}, "voice"),
            ({"voice": "../af_heart"}, "voice"),
            ({"voice": "af_heart+nobody"}, "voice"),
            ({"voice": "af_heart(0)+bm_george"}, "voice"),
            ({"language": "xx"}, "language"),
            ({"speed": 0.1}, "speed"),
            ({"speed": 9.0}, "speed"),
            ({"speed": float("nan")}, "speed"),
        ],
    )
    async def test_refuses_what_it_cannot_speak(self, synthesizer, options, field):
        with pytest.raises(InvalidInput) as caught:
            synthesizer.check(SpeechOptions(**options))
        assert caught.value.field == field
        assert caught.value.allowed

    async def test_speaks_a_blend_of_its_voices(self, synthesizer):
        first, *_, last = (voice.name for voice in synthesizer.voices)
        blend = f"{last}(2)+{first}(1)"
        assert synthesizer.voice(blend).language == synthesizer.voice(last).language
        blended = joined(await slices_of(synthesizer, script_of(SENTENCE), voice=blend))
        for name in (first, last):
            alone = joined(await slices_of(synthesizer, script_of(SENTENCE), voice=name))
            assert not np.array_equal(blended, alone)
        again = joined(await slices_of(synthesizer, script_of(SENTENCE), voice=f"{last} (4) + {first} (2)"))
        assert len(again) == len(blended) > 0.5 * RATE

    async def test_samples_are_sound(self, synthesizer):
        slices = await slices_of(synthesizer, script_of(SENTENCE))
        for piece in slices:
            assert piece.samples.dtype == np.float32
            assert piece.samples.ndim == 1
            assert len(piece.samples) > 0
        sound = joined(slices)
        assert np.isfinite(sound).all()
        assert np.abs(sound).max() <= 1.0
        assert np.sqrt(np.mean(sound**2)) > 0.01
        assert 1.0 < len(sound) / RATE < 8.0

    async def test_words_have_times_in_order_and_lie_in_their_slice(self, synthesizer):
        script = script_of(SENTENCE, start=100)
        begins, found = 0.0, []
        for piece in await slices_of(synthesizer, script):
            ends = begins + len(piece.samples) / RATE
            for word in piece.words:
                assert begins - 1e-6 <= word.start_s < ends + 1e-6
                assert word.start_s < word.end_s
            found += piece.words
            begins = ends
        assert [(word.start, word.end) for word in found] == [(word.start, word.end) for word in script.parts[0].words]
        assert [word.start_s for word in found] == sorted(word.start_s for word in found)
        assert found[-1].end_s <= begins + 1e-6

    async def test_phonemes_have_times_in_order_and_lie_in_their_slice(self, synthesizer):
        begins, found, words = 0.0, [], []
        for piece in await slices_of(synthesizer, script_of(SENTENCE, pause=0.5)):
            ends = begins + len(piece.samples) / RATE
            for sound in piece.phonemes:
                assert begins - 1e-6 <= sound.start_s < ends + 1e-6
                assert sound.phoneme.strip()
                assert sound.start_s < sound.end_s
            found += piece.phonemes
            words += piece.words
            begins = ends
        assert found[0].start_s >= 0.5
        assert found[-1].end_s <= begins + 1e-6
        assert all(one.end_s <= other.start_s + 1e-6 for one, other in pairwise(found))
        for word in words:  # made up of phonemes, without a gap
            own = [sound for sound in found if word.start_s <= sound.start_s < word.end_s]
            assert (own[0].start_s, own[-1].end_s) == (word.start_s, word.end_s)
            assert all(one.end_s == other.start_s for one, other in pairwise(own))
        said = sum(word.end_s - word.start_s for word in words)
        assert said == pytest.approx(sum(sound.end_s - sound.start_s for sound in found))

    async def test_samples_belong_to_the_receiver(self, synthesizer):
        slices = await slices_of(synthesizer, script_of(SENTENCE))
        before = joined(slices)
        await slices_of(synthesizer, script_of("Something else entirely."), seed=3)
        np.testing.assert_array_equal(joined(slices), before)

    async def test_same_text_options_and_ordinal_are_the_same_samples(self, synthesizer):
        once = joined(await slices_of(synthesizer, script_of(SENTENCE), ordinal=2, seed=5))
        again = joined(await slices_of(synthesizer, script_of(SENTENCE), ordinal=2, seed=5))
        np.testing.assert_array_equal(once, again)

    async def test_side_by_side_is_as_one_by_one(self, synthesizer):
        texts = [SENTENCE, "A second one follows.", "And a third."]
        alone = [joined(await slices_of(synthesizer, script_of(text), ordinal=n)) for n, text in enumerate(texts)]
        together = await asyncio.gather(
            *(slices_of(synthesizer, script_of(text), ordinal=n) for n, text in enumerate(texts))
        )
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one, joined(other))

    async def test_speed_changes_the_length(self, synthesizer):
        slow, plain, fast = [
            len(joined(await slices_of(synthesizer, script_of(SENTENCE), speed=speed))) for speed in (0.5, 1.0, 2.0)
        ]
        assert slow > 1.5 * plain
        assert fast < 0.75 * plain

    async def test_a_pause_is_silence_of_its_exact_length(self, synthesizer):
        plain = joined(await slices_of(synthesizer, script_of(SENTENCE)))
        paused = joined(await slices_of(synthesizer, script_of(SENTENCE, pause=0.5)))
        assert len(paused) == len(plain) + RATE // 2
        assert not paused[: RATE // 2].any()

    async def test_nothing_to_say_yields_nothing(self, synthesizer):
        assert await slices_of(synthesizer, script_of("   ")) == []

    async def test_may_be_left_at_any_time(self, synthesizer):
        script, options = script_of(SENTENCE), SpeechOptions()
        whole = joined(await slices_of(synthesizer, script))
        async with aclosing(synthesizer.speak(script, options, ordinal=0)) as slices:
            await anext(slices)
        task = asyncio.create_task(slices_of(synthesizer, script))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task], timeout=30)
        assert task.done()
        np.testing.assert_array_equal(joined(await slices_of(synthesizer, script)), whole)
