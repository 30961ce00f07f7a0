"""An engine of known speed in virtual time, and clients who all want something of it at once."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

import numpy as np
import structlog

from rtvoice.config import SAMPLE_RATE, ServerConfig
from rtvoice.serving.admission import Admission
from rtvoice.serving.session import Session
from rtvoice.speech.costs import FRAMES_A_SECOND, GUESS, PHONEMES_A_SECOND, Cost, Costs
from rtvoice.speech.networks import BEFORE
from rtvoice.speech.pace import ROWS_A_SECOND, Pace
from rtvoice.speech.places import Places
from rtvoice.speech.slices import STAGE1_LENGTHS, STAGE2_LENGTHS, Progress
from rtvoice.speech.synthesizer import AudioSlice
from rtvoice.speech.turn import Turn
from tests.scripted import ScriptedSynthesizer
from tests.serving.virtual import MemoryPeer, VirtualLoop

WORD_S = 0.35


class SlicedEngine(ScriptedSynthesizer):
    """Takes the time that slices would take, in the pool's own places, and gives silence.

    Args:
        speed: seconds of speech that one place makes in a second, in the longest slices.
        places: inferences at once.
    """

    def __init__(self, speed, places=1):
        super().__init__()
        factor = 1 / (speed * Costs(GUESS).work_s)
        prior = {name: Cost(cost.fixed_s * factor, cost.each_s * factor) for name, cost in GUESS.items()}
        self.costs = Costs(prior)
        self.speed = speed
        self._pace = Pace(prior, self.costs, STAGE1_LENGTHS, STAGE2_LENGTHS)
        self._count, self._places = places, Places(places, dict.fromkeys(BEFORE, (places + 1) // 2))

    @property
    def places(self):
        return self._count

    @property
    def first_audio_s(self):
        return self.costs.first_audio_s

    async def work(self, seconds, turn, network=""):
        """Hold a place for a while, as `Pool` does: cancelled, it is held to the end all the same."""
        loop = asyncio.get_running_loop()
        asked = loop.time()
        await self._places.take(turn.deadline(), network)
        began = loop.time()

        def leave():
            turn.account.charge(loop.time() - began, began - asked, loop.time())
            self._places.leave(network)

        ended = loop.create_future()
        loop.call_later(seconds, lambda: (leave(), ended.done() or ended.set_result(None)))
        await ended

    async def speak(self, script, options, *, ordinal, turn=None):
        turn = turn or Turn(clock=asyncio.get_running_loop().time)
        speech_s = WORD_S * len(script.segment.text.split())
        phonemes, frames = round(PHONEMES_A_SECOND * speech_s), round(FRAMES_A_SECOND * speech_s)
        for network, size in (("text", phonemes), ("prosody", frames), ("decoder", frames)):
            await self.work(self.costs.seconds(network, size), turn, network)
        async for seconds in self._sound(speech_s, turn):
            self.seconds_made += seconds
            turn.give(seconds)
            yield AudioSlice(np.zeros(round(seconds * SAMPLE_RATE), np.float32))

    async def _sound(self, speech_s, turn):
        progress = Progress(round(speech_s * ROWS_A_SECOND))
        for step in self._pace.plan(progress.count):
            await self.work(self.costs.seconds(step.network), turn)
            before, progress = progress, progress.after(step)
            if step.stage == 2:
                yield (progress.spoken - before.spoken) / ROWS_A_SECOND


class WholeEngine(SlicedEngine):
    """Makes whole sentences, one after the other in the order of asking."""

    def __init__(self, speed):
        super().__init__(speed)
        self._one_by_one = asyncio.Lock()

    async def speak(self, script, options, *, ordinal, turn=None):
        speech_s = WORD_S * len(script.segment.text.split())
        async with self._one_by_one:
            await asyncio.sleep(speech_s / self.speed)
        yield AudioSlice(np.zeros(round(speech_s * SAMPLE_RATE), np.float32))


@dataclass
class Heard:
    """What a client heard: first audio after so long, the longest wait after that, and what it was told instead."""

    first_s: float = float("inf")
    predicted_s: float = float("nan")
    dry_s: float = 0.0
    refused_ms: int | None = None


class Crowd:
    """Clients of one engine. Each is a session of its own, with a client's account of its own."""

    def __init__(self, engine, **options):
        loop = asyncio.get_running_loop()
        self.engine, self.config = engine, ServerConfig(**options)
        self.admission = Admission(
            most_s=self.config.wait_s,
            places=lambda: engine.places,
            work_s=lambda: engine.first_audio_s,
            clock=loop.time,
        )
        self._now = loop.time

    async def speak(self, text, *, after_s=0.0, client=None):
        """Have a text spoken for a client, by default one of its own; returns what was heard when it has ended."""
        await asyncio.sleep(after_s)
        peer, heard = MemoryPeer(), Heard()
        session = Session(
            peer,
            self.engine,
            self.config,
            structlog.get_logger(),
            client=client,
            admission=self.admission,
            clock=self._now,
        )
        running = asyncio.create_task(session.run())
        asked, heard.predicted_s = self._now(), self.admission.predicted_s
        peer.say(json.dumps({"type": "speak", "utterance": 1, "text": text}))
        peer.say(json.dumps({"type": "end", "utterance": 1}))
        try:
            await self._listen(peer, heard, asked)
        finally:
            peer.leave()
            await running
        return heard

    async def _listen(self, peer, heard, asked):
        read, dry_at = 0, None
        while True:
            for now, data in peer.heard[read:]:
                if isinstance(data, bytes):
                    if dry_at is None:
                        heard.first_s = now - asked
                        dry_at = now
                    heard.dry_s = max(heard.dry_s, now - dry_at)
                    dry_at = max(dry_at, now) + (len(data) - 8) / 2 / SAMPLE_RATE
                elif (message := json.loads(data))["type"] in {"done", "error"}:
                    heard.refused_ms = message.get("retry_after_ms")
                    return
            read = len(peer.heard)
            await asyncio.sleep(0.25)


def in_virtual_time(play):
    """Run a coroutine function on a loop whose time takes none."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(play())
