"""A dialect over a conversation, driven as a session drives it, without a session."""

import json

from rtvoice.config import Limits
from rtvoice.protocol.conversation import Conversation, Opened
from rtvoice.protocol.dialect import Close, Reply
from rtvoice.protocol.messages import Audio, Cancel, Error, Ready, Segment, SessionLimits, Voice, Word, Words
from rtvoice.protocol.routes import find_dialect

READY = Ready(
    protocol=1,
    server="0.0.1",
    sample_rate=24_000,
    sample_rates=(8_000, 24_000),
    formats=("pcm_s16le",),
    voices=(
        Voice(name="af_heart", language="en-us", gender="female"),
        Voice(name="bm_lewis", language="en-gb", gender="male"),
    ),
    languages=("en-us", "en-gb"),
    limits=SessionLimits(text_characters=100, message_bytes=1_000, utterances=4, min_speed=0.5, max_speed=2.0),
)


class Conversing:
    """The server's end of a socket. `sent` is what left, in order."""

    def __init__(self, address, check=lambda options: None):
        path, _, query = address.partition("?")
        self.conversation = Conversation(Limits(text_characters=100, utterances=4), check)
        self.dialect = find_dialect(path, query, READY)(self.conversation, READY)
        self.steps = []
        self.sent = []
        self._write(READY)

    def hear(self, message, now=0.0):
        """Take a message of the client; returns the steps, after doing what they ask for."""
        steps = self.dialect.receive(json.dumps(message) if isinstance(message, dict) else message, now)
        for step in steps:
            match step:
                case Cancel(utterance=number):
                    self._write(self.conversation.cancel(number, 0))
                case Error():
                    self._write(step)
                case Reply(data):
                    self.sent.append(data)
        self.steps += steps
        return steps

    def opened(self):
        return [step.options for step in self.steps if isinstance(step, Opened)]

    @property
    def closes(self):
        return any(isinstance(step, Close) for step in self.steps)

    def say(self, number, start, end, words, data=b"\x01\x00" * 240):
        """Send a segment: words as (text, start, end, start_s, end_s), then some audio."""
        self._write(Segment(utterance=number, start=start, end=end, sample=0))
        if words:
            made = tuple(Word(text=t, start=s, end=e, start_s=b, end_s=f) for t, s, e, b, f in words)
            self._write(Words(utterance=number, words=made))
        self.conversation.send_audio(number, len(data) // 2, 0.0)
        self._write(Audio(utterance=number, sample=0, data=data))

    def finish(self, number):
        self._write(self.conversation.finish(number))

    def fail(self, number, error):
        self._write(self.conversation.fail(number, error))

    def take(self):
        """What was sent since the last call; JSON as objects."""
        sent, self.sent = self.sent, []
        return [data if isinstance(data, bytes) else json.loads(data) for data in sent]

    def _write(self, message):
        self.sent += self.dialect.write(message)
