"""How an utterance's text is read: markup, commands where they are allowed, the lexicon of the server."""

import asyncio
import os

import pytest

from rtvoice.errors import InvalidInput
from rtvoice.protocol.messages import Done, Error, Segment
from rtvoice.serving.lexicon import FollowedLexicon
from tests.scripted import ScriptedSynthesizer
from tests.serving.conftest import serving, talking

PAUSED = "Wait [pause:0.8s] go."


async def ends(talk, text, **options):
    await talk.say({"type": "speak", "utterance": 1, "text": text, **options})
    await talk.say({"type": "end", "utterance": 1})
    return (await talk.hear_terminals(1))[1]


@pytest.mark.parametrize("options", [{"control": True}, {"markup": "ssml"}])
async def test_commands_in_texts_are_refused_unless_the_server_allows_them(talk, options):
    error = await ends(talk, PAUSED, **options)
    assert isinstance(error, Error)
    assert (error.code, error.field) == ("invalid_input", next(iter(options)))


@pytest.mark.parametrize("control", [False, True])
async def test_what_texts_may_carry_is_told_at_once(control):
    async with serving(ScriptedSynthesizer(), control=control) as endpoint, talking(endpoint) as talk:
        (ready,) = talk.heard
        assert ready.control is control
        assert ready.markups == ("markdown", "plain", "ssml")[: 2 + control]


async def test_without_being_asked_for_a_command_in_a_text_does_nothing():
    async with serving(ScriptedSynthesizer(), control=True) as endpoint:
        async with talking(endpoint) as talk:
            plain = await ends(talk, PAUSED)
        async with talking(endpoint) as talk:
            paused = await ends(talk, PAUSED, control=True)
    assert isinstance(paused, Done)
    assert paused.audio_ms == 2 * 200 + 800
    assert plain.audio_ms != paused.audio_ms


async def test_marks_of_markdown_are_words_in_plain_text(talk):
    assert (await ends(talk, "A *b* c.")).audio_ms == 600
    await talk.say({"type": "speak", "utterance": 2, "text": "A *b* c.", "markup": "plain"})
    await talk.say({"type": "end", "utterance": 2})
    assert isinstance((await talk.hear_terminals(2))[2], Done)


async def test_an_utterance_may_bring_words_of_its_own(talk):
    plain = await ends(talk, "A GIF.")
    await talk.say({"type": "speak", "utterance": 2, "text": "A GIF.", "lexicon": {"GIF": "graphics file of a sort"}})
    await talk.say({"type": "end", "utterance": 2})
    said = (await talk.hear_terminals(2))[2]
    assert (plain.audio_ms, said.audio_ms) == (400, 1200)


@pytest.mark.parametrize("lexicon", [{"GIF": 3}, ["GIF"], {"a" * 300: "b"}, {str(n): "n" for n in range(300)}])
async def test_words_that_are_not_right_are_refused(talk, lexicon):
    error = await ends(talk, "A GIF.", lexicon=lexicon)
    assert isinstance(error, Error)
    assert error.field == "lexicon"


@pytest.mark.parametrize("early_cut", [True, False])
async def test_the_first_clause_may_be_spoken_before_its_sentence_is_written(early_cut):
    written = "When the long first clause of a slow sentence has come, "
    async with serving(ScriptedSynthesizer(), early_cut=early_cut) as endpoint, talking(endpoint) as talk:
        for at in range(0, len(written), 4):
            await talk.say({"type": "speak", "utterance": 1, "text": written[at : at + 4]})
            await asyncio.sleep(0.07)
        if early_cut:
            segment = await talk.hear_until(Segment)
            assert (segment.start, segment.end) == (0, len(written))
        else:
            await talk.silence(0.2)
        await talk.say({"type": "speak", "utterance": 1, "text": "the rest follows."})
        await talk.say({"type": "end", "utterance": 1})
        done = (await talk.hear_terminals(1))[1]
        assert (done.spoken_characters, done.audio_ms) == (len(written) + 17, 14 * 200)


async def test_an_unknown_markup_names_those_there_are(talk):
    error = await ends(talk, "Hello.", markup="html")
    assert (error.field, error.allowed) == ("markup", "one of markdown, plain, ssml")


async def test_a_lexicon_is_read_again_when_it_changes_and_kept_when_that_is_wrong(tmp_path):
    file = tmp_path / "words.toml"

    def write(content, at):
        file.write_text(content, "utf-8")
        os.utime(file, (at, at))

    write('[words]\nGIF = "jif"\n', 1)
    followed = FollowedLexicon(file)
    first = followed.lexicon
    task = asyncio.create_task(followed.follow(interval_s=0.01))
    write("[words\n", 2)
    await asyncio.sleep(0.1)
    assert followed.lexicon is first
    write('[words]\nGIF = "gif with a hard g"\n', 3)
    async with asyncio.timeout(5):
        while followed.lexicon is first:  # noqa: ASYNC110  # a file is watched, not an event
            await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])


def test_a_lexicon_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be read"):
        FollowedLexicon(tmp_path / "none.toml")
