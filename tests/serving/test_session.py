"""Speaking, over real sockets."""

from rtvoice.protocol.messages import Done


async def test_speaks_text_in_pieces_and_ends_in_done(talk, synthesizer):
    await talk.say({"type": "speak", "utterance": 1, "text": "Hello the"})
    await talk.say({"type": "speak", "utterance": 1, "text": "re. How are you?"})
    await talk.say({"type": "end", "utterance": 1})
    done = (await talk.hear_terminals(1))[1]
    assert isinstance(done, Done)
    assert (done.characters, done.spoken_characters, done.audio_ms) == (25, 25, 1000)
    assert len(talk.audio(1)) == 5 * 4800 * 2
