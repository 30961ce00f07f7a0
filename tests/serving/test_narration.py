"""The way from text to audio, without a socket."""

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.errors import InvalidInput
from rtvoice.serving.narration import FLUSH, TextInbox, narrate
from rtvoice.speech.synthesizer import SpeechOptions
from rtvoice.text.front import TextOptions
from rtvoice.text.segment import Passage
from tests.scripted import ScriptedSynthesizer


async def spoken(*pieces, pause_s=0.0, **options):
    inbox = TextInbox()
    for piece in pieces:
        inbox.flush() if piece is FLUSH else inbox.push(piece)
    inbox.end()
    narration = narrate(inbox, ScriptedSynthesizer(), SpeechOptions(**options), pause_s=pause_s)
    async with aclosing(narration):
        return [audio async for audio in narration]


async def test_audio_follows_without_a_gap_and_segments_are_the_text():
    text = "One two three.\n\nFour. " + "And so on. " * 30
    heard = await spoken(text)
    index = 0
    for audio in heard:
        assert audio.index == index
        index += len(audio.samples)
    opening = [audio.segment for audio in heard if audio.opens]
    assert "".join(segment.text for segment in opening) == text
    assert all(audio.opens for audio in heard if audio.segment != heard[0].segment and audio.index == 0)


async def test_a_flush_ends_a_segment():
    heard = await spoken("One", FLUSH, " two")
    assert [audio.segment.text for audio in heard if audio.opens] == ["One", " two"]


async def test_words_are_as_sent_and_timed_in_the_utterance():
    heard = await spoken("One two.", FLUSH, " Three")
    words = [word for audio in heard for word in audio.words]
    assert [(word.text, word.start, word.end) for word in words] == [("One", 0, 3), ("two", 4, 7), ("Three", 9, 14)]
    assert [word.start_s for word in words] == pytest.approx([0.0, 0.2, 0.4])


async def test_phonemes_are_timed_in_the_utterance_behind_its_pauses():
    heard = await spoken("One two.", FLUSH, " I", pause_s=0.5)
    sounds = [sound for audio in heard for sound in audio.phonemes]
    assert "".join(sound.phoneme for sound in sounds) == "OnetwoI"
    assert [sound.start_s for sound in sounds] == pytest.approx([*(n / 15 for n in range(6)), 0.9], abs=1e-4)
    assert sounds[-1].end_s == pytest.approx(1.1)
    for audio in heard:  # a word comes with its first one
        assert {word.start_s for word in audio.words} <= {sound.start_s for sound in audio.phonemes}


class OneBlend(ScriptedSynthesizer):
    """Speaks one blend of its voices, and tells what it was asked to speak in which voice."""

    def __init__(self):
        super().__init__()
        self.said = []

    def check(self, options):
        super().check(options)
        if "+" in options.voice and options.voice != "af_heart+bm_george":
            raise InvalidInput("Nothing was fitted to it.", field="voice")

    async def speak(self, script, options, *, ordinal, turn=None):
        self.said += [(part.text, part.voice) for part in script.parts if isinstance(part, Passage)]
        async for audio in super().speak(script, options, ordinal=ordinal, turn=turn):
            yield audio


async def test_a_tag_with_a_voice_that_is_not_spoken_changes_nothing():
    synthesizer, inbox = OneBlend(), TextInbox()
    for voice in ("bm_george", "af_heart+bm_george", "af_heart(2)+bm_george", "nobody"):
        inbox.push(f'<voice name="bm_george">One <voice name="{voice}">two.</voice></voice>\n\n')
    inbox.end()
    async with aclosing(narrate(inbox, synthesizer, SpeechOptions(), reading=TextOptions(markup="ssml"))) as heard:
        assert [audio.segment async for audio in heard]
    assert synthesizer.said == [
        ("One two.", "bm_george"),
        ("One", "bm_george"),
        ("two.", "af_heart+bm_george"),
        ("One two.", "bm_george"),
        ("One two.", "bm_george"),
    ]


async def test_a_segment_is_begun_when_the_audio_before_it_is_taken():
    synthesizer, inbox = ScriptedSynthesizer(), TextInbox()
    inbox.push("One.\n\nTwo.\n\nThree.\n\n")
    async with aclosing(narrate(inbox, synthesizer, SpeechOptions())) as narration:
        await anext(narration)
        await asyncio.sleep(0.01)
        assert synthesizer.slices_made == 1
    assert synthesizer.running == 0


class TestInbox:
    @given(st.lists(st.text(max_size=600), max_size=5))
    def test_pieces_joined_are_the_text(self, texts):
        async def read():
            inbox = TextInbox()
            for text in texts:
                inbox.push(text)
            inbox.end()
            return [piece async for piece in inbox]

        pieces = asyncio.run(read())
        assert "".join(pieces) == "".join(texts)
        assert all(0 < len(piece) <= 256 for piece in pieces)

    async def test_flushes_are_kept_in_order_and_no_two_side_by_side(self):
        inbox = TextInbox()
        for _ in range(100):
            inbox.flush()
        inbox.push("a")
        inbox.flush()
        inbox.flush()
        inbox.end()
        assert [piece async for piece in inbox] == [FLUSH, "a", FLUSH]

    async def test_a_failure_is_raised_behind_the_text(self):
        inbox = TextInbox()
        inbox.push("a")
        inbox.fail(ZeroDivisionError())
        assert await anext(inbox) == "a"
        with pytest.raises(ZeroDivisionError):
            await anext(inbox)

    async def test_emptied_waits_for_the_reader(self):
        inbox = TextInbox()
        await inbox.emptied()
        inbox.push("a" * 300)
        waiting = asyncio.create_task(inbox.emptied())
        await anext(inbox)
        await asyncio.sleep(0)
        assert not waiting.done()
        await anext(inbox)
        await asyncio.wait_for(waiting, 1)
