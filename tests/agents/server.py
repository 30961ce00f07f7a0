"""A server for real clients of other services, as a process: scripted speech, and a record of what leaves.

python -m tests.agents.server serve RECORD    prints its port; writes a line of JSON to RECORD a connection and message
python -m tests.agents.server speech RATE     reads a text, writes its speech as 16 bit samples
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from pathlib import Path

from rtvoice.config import AudioFormat, ServerConfig
from rtvoice.encoders import Encoder
from rtvoice.engine import Engine
from rtvoice.serving import endpoint
from rtvoice.serving.logs import configure_logging
from tests.scripted import ScriptedSynthesizer

SLICE_DELAY_S = 0.02  # ten times as fast as it is heard


class RecordingPeer(endpoint.WebSocketPeer):
    """Notes what is sent: JSON without its audio, and how many bytes of audio."""

    record = None

    def __init__(self, connection):
        super().__init__(connection)
        self._note(opened=connection.request.path)

    async def send(self, data):
        await super().send(data)
        if isinstance(data, bytes):
            self._note(audio=len(data))
            return
        message = json.loads(data)
        audio = message.pop("audio", None)
        self._note(message=message, **({"audio": len(base64.b64decode(audio))} if audio else {}))

    def _note(self, **what):
        self.record.write(json.dumps({"socket": id(self), **what}) + "\n")
        self.record.flush()


async def serve(path):
    configure_logging("json", level="error")
    with Path(path).open("w") as RecordingPeer.record:  # noqa: ASYNC230  # a test's
        endpoint.WebSocketPeer = RecordingPeer
        synthesizer = ScriptedSynthesizer(delay_s=SLICE_DELAY_S)
        async with synthesizer, endpoint.Endpoint(ServerConfig(port=0), synthesizer) as listening:
            sys.stdout.write(f"{listening.address[1]}\n")
            sys.stdout.flush()
            await asyncio.to_thread(sys.stdin.read)  # until whoever started us is gone


async def speech(rate):
    encoder, data = Encoder(AudioFormat("pcm_s16le", rate)), b""
    async with Engine(synthesizer=ScriptedSynthesizer()) as engine:
        async for audio in engine.speak(sys.stdin.read()):
            data += encoder.encode(audio.samples, joins=audio.closes)[1]
    sys.stdout.buffer.write(data + encoder.finish()[1])


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", path]:
            asyncio.run(serve(path))
        case ["speech", rate]:
            asyncio.run(speech(int(rate)))
