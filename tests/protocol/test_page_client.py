"""The transcripts of the protocol, replayed against the page's client: web/rtvoice.js under node, and a live server.

The client numbers its utterances itself, from 1 on; what passes between the two is renumbered to the transcript's.
"""

import asyncio
import base64
import json
import shutil
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from tests.protocol import replay
from tests.scripted import ScriptedSynthesizer
from tests.serving.conftest import serving

PAGE_CLIENT = Path(replay.__file__).with_name("page_client.mjs")
ACTIONS = {"speak", "flush", "end", "cancel"}  # the page's client has no marks

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


class PageClient:
    """A client of the page in a process of its own, and what it told whoever uses it."""

    def __init__(self, process):
        self._process = process
        self._numbers = []  # the transcript's, in the order in which they were opened
        self._current = None
        self.events = []

    async def act(self, message):
        """Do as a line of a transcript does; returns what leaves on the socket, nothing if it cannot be said."""
        kind = message["type"]
        options = {name: value for name, value in message.items() if name not in {"type", "utterance", "text"}}
        number = message.get("utterance", None if kind == "cancel" else self._current)
        if number is None and kind == "speak":
            number = max(self._numbers, default=0) + 1
        if kind not in ACTIONS or (kind == "speak" and options and number in self._numbers):
            return []
        if number is not None and number not in self._numbers:
            self._numbers.append(number)
        self._current = None if kind in {"end", "cancel"} else number
        command = {"do": kind, "text": message.get("text"), "options": options}
        if number is not None:
            command["utterance"] = self._numbers.index(number) + 1
        if "played_ms" in message:
            command["heardS"] = message["played_ms"] / 1000
        return [self._renumbered(sent, lambda own: self._numbers[own - 1]) for sent in await self._do(command)]

    async def hear(self, data):
        """Take what the server sends."""
        if isinstance(data, bytes):
            own = self._numbers.index(int.from_bytes(data[:4], "little")) + 1
            sent = await self._do({"audio": base64.b64encode(own.to_bytes(4, "little") + data[4:]).decode()})
        else:
            sent = await self._do({"message": self._renumbered(data, lambda number: self._numbers.index(number) + 1)})
        assert not sent

    def told(self, number, event=None):
        """What was told of an utterance."""
        of_it = [told for told in self.events if told["utterance"] == number]
        return [told for told in of_it if event in {None, told["event"]}]

    async def _do(self, command):
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        sent = []
        async with asyncio.timeout(20):
            while line := await self._process.stdout.readline():
                told = json.loads(line)
                if "ready" in told:
                    return sent
                if "sent" in told:
                    sent.append(told["sent"])
                else:
                    number = told["utterance"]
                    self.events.append(told | {"utterance": number and self._numbers[number - 1]})
        raise AssertionError("the page's client has ended")

    def _renumbered(self, text, number_of):
        message = json.loads(text)
        if message.get("utterance") is not None:
            message["utterance"] = number_of(message["utterance"])
        return json.dumps(message)


@asynccontextmanager
async def page_client():
    process = await asyncio.create_subprocess_exec(
        "node", PAGE_CLIENT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield PageClient(process)
    finally:
        process.stdin.close()
        await process.wait()


@pytest.mark.parametrize("name", replay.NAMES)
async def test_a_transcript(name):
    heard = []
    async with (
        page_client() as page,
        serving(ScriptedSynthesizer()) as endpoint,
        connect("ws://{}:{}/".format(*endpoint.address), proxy=None, compression=None) as socket,
    ):
        await page.hear(await socket.recv())  # `ready`

        async def send(line):
            message = json.loads(line)
            # What the page's client cannot say, or is too careful to, is said beside it: it has to bear the answer.
            for sent in await page.act(message) or [line]:
                await socket.send(sent)

        async def receive():
            async with asyncio.timeout(10):
                data = await socket.recv()
            await page.hear(data)
            heard.append(data)
            return data

        await replay.replay(name, send, receive)

    audio = [data for data in heard if isinstance(data, bytes)]
    told = [json.loads(data) for data in heard if not isinstance(data, bytes)]
    for number in {int.from_bytes(data[:4], "little") for data in audio}:
        assert [(frame["at"], frame["bytes"]) for frame in page.told(number, "audio")] == [
            (int.from_bytes(data[4:8], "little"), len(data) - 8)
            for data in audio
            if int.from_bytes(data[:4], "little") == number
        ]
    terminals = [message for message in told if message["type"] in {"done", "cancelled", "error"}]
    for message in terminals:
        if message["utterance"] is None:
            assert [event["code"] for event in page.events if event["event"] == "error"] == [message["code"]]
        else:
            *_, last = page.told(message["utterance"])
            assert (last["event"], last["type"]) == ("end", message["type"])
            assert len(page.told(message["utterance"], "end")) == 1
            assert (last.get("code"), last.get("field")) == (message.get("code"), message.get("field"))
    check_characters(page, told)
    for number in {message["utterance"] for message in told if message["type"] == "phonemes"}:
        assert [
            (sound["phoneme"], sound["startS"], sound["endS"])
            for event in page.told(number, "phonemes")
            for sound in event["phonemes"]
        ] == [
            (sound["phoneme"], sound["start_s"], sound["end_s"])
            for message in told
            if message["type"] == "phonemes" and message["utterance"] == number
            for sound in message["phonemes"]
        ]


def check_characters(page, told):
    """Ranges are code points on the wire and UTF-16 units in the browser: both name the same text."""
    for message in told:
        if message["type"] == "words":
            (words,) = [
                event["words"]
                for event in page.told(message["utterance"], "words")
                if event["words"][0]["startS"] == message["words"][0]["start_s"]
            ]
            assert [word["text"] for word in words] == [word["text"] for word in message["words"]]
            for word in words:
                assert word["end"] - word["start"] == len(word["text"].encode("utf-16-le")) // 2
