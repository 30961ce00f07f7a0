"""What the wire costs: protocol, framing and sockets, with an engine that gives out prepared audio.

A server in a process of its own, many clients in another, each hearing a stream in real time. *Overhead* is the
server's CPU time for a second of audio. A frame is *late* if it comes after its listener, who plays from the first
frame on, has run dry. *Cancel* is the time from a client's `cancel` to the server's `cancelled`, under the same load.
It is measured where the clients are, so it holds their own delays as well. `--profile` shows what the server's time
goes into; it costs half as much again, so its figures are none.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import gc
import json
import os
import pstats
import statistics
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

import rtvoice
from benchmarks.criteria import Criterion, show
from benchmarks.machine import fingerprint
from rtvoice.config import SAMPLE_RATE, ServerConfig
from rtvoice.serving.endpoint import Endpoint
from rtvoice.serving.logs import configure_logging
from rtvoice.speech.synthesizer import AudioSlice, SpeechOptions, Synthesizer, VoiceInfo, WordTime

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from rtvoice.client import Session
    from rtvoice.speech.turn import Turn
    from rtvoice.text.segment import Script

OVERHEAD_PERCENT = 1.0
CANCEL_P99_MS = 50.0

_SLICE_S, _SENTENCE_S, _WORD_S = 0.4, 4.0, 0.4
_SENTENCE = "Ten words are spoken here as fast as they come. "
_TICKS = os.sysconf("SC_CLK_TCK")


class PreparedSynthesizer(Synthesizer):
    """Gives out the same four seconds for every sentence, with ten word times, at once."""

    def __init__(self) -> None:
        time_s = np.arange(round(_SLICE_S * SAMPLE_RATE), dtype=np.float32) / SAMPLE_RATE
        self._samples = (0.3 * np.sin(2 * np.pi * 220 * time_s)).astype(np.float32)

    @property
    def voices(self) -> tuple[VoiceInfo, ...]:
        """One."""
        return (VoiceInfo("af_heart", "en-us", "female"),)

    @property
    def languages(self) -> tuple[str, ...]:
        """One."""
        return ("en-us",)

    def check(self, options: SpeechOptions) -> None:
        """Everything goes."""

    async def speak(
        self, script: Script, options: SpeechOptions, *, ordinal: int, turn: Turn | None = None
    ) -> AsyncGenerator[AudioSlice, None]:
        """Four seconds, slice by slice."""
        segment = script.segment
        if not segment.text.strip():
            return
        words = segment.text.split()
        at = segment.start
        for number in range(round(_SENTENCE_S / _SLICE_S)):
            found: tuple[WordTime, ...] = ()
            if number < len(words):
                at = segment.start + segment.text.index(words[number], at - segment.start)
                found = (WordTime(at, at + len(words[number]), number * _WORD_S, (number + 1) * _WORD_S),)
                at += len(words[number])
            await asyncio.sleep(0)
            yield AudioSlice(self._samples.copy(), found)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Load:
    """What was measured.

    Attributes:
        streams: heard at once.
        audio_s: seconds of audio sent in all.
        server_cpu_s: CPU time of the server for it.
        overhead_percent: of a core, for one stream in real time.
        frames: of audio.
        late: of them.
        cancel_p50_ms, cancel_p99_ms: from `cancel` to `cancelled`.
        cancels: measured.
    """

    streams: int
    audio_s: float
    server_cpu_s: float
    overhead_percent: float
    frames: int
    late: int
    cancel_p50_ms: float
    cancel_p99_ms: float
    cancels: int

    @property
    def criteria(self) -> list[Criterion]:
        """What is asked of it."""
        return [
            Criterion("overhead of a stream, % of a core", self.overhead_percent, OVERHEAD_PERCENT),
            Criterion("late frames", self.late, 0),
            Criterion("cancel to cancelled, 99th percentile, ms", self.cancel_p99_ms, CANCEL_P99_MS),
        ]


async def measure(streams: int, seconds: float, cancels: int, *, profile: bool = False) -> Load:
    """Hear so many streams for so long, and cancel so many utterances meanwhile."""
    arguments = [sys.executable, "-m", "benchmarks.wire", "--server", *(["--profile"] if profile else [])]
    server = await asyncio.create_subprocess_exec(
        *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert server.stdout is not None
    assert server.stdin is not None
    try:
        url = f"ws://127.0.0.1:{int(await server.stdout.readline())}/"
        async with AsyncExitStack() as stack:
            sessions = [await stack.enter_async_context(rtvoice.connect(url)) for _ in range(streams + 1)]
            before = _cpu_s(server.pid)
            hearing = [asyncio.create_task(_hear(session, seconds)) for session in sessions[1:]]
            delays = await _cancel(sessions[0], cancels, seconds)
            heard = await asyncio.gather(*hearing)
            cpu_s = _cpu_s(server.pid) - before
    finally:
        server.stdin.close()
        await server.wait()
    audio_s = sum(length for length, _, _ in heard)
    return Load(
        streams=streams,
        audio_s=audio_s,
        server_cpu_s=cpu_s,
        overhead_percent=100 * cpu_s / audio_s,
        frames=sum(frames for _, frames, _ in heard),
        late=sum(late for _, _, late in heard),
        cancel_p50_ms=statistics.median(delays),
        cancel_p99_ms=sorted(delays)[max(0, round(0.99 * len(delays)) - 1)],
        cancels=len(delays),
    )


async def _hear(session: Session, seconds: float) -> tuple[float, int, int]:
    """Hear one utterance in real time; returns seconds of audio, frames, and how many of them were late."""
    began: float | None = None
    frames = late = samples = 0
    text = _SENTENCE * max(1, round(seconds / _SENTENCE_S))
    async for frame in session.speak(text):
        now = time.perf_counter()
        began = now if began is None else began
        late += now - began > samples / SAMPLE_RATE and samples > 0
        samples += len(frame.samples) // 2
        frames += 1
    return samples / SAMPLE_RATE, frames, late


async def _cancel(session: Session, times: int, seconds: float) -> list[float]:
    """Begin and cancel utterances, spread over the time; returns how long each answer took, in milliseconds."""
    delays = []
    await asyncio.sleep(seconds / 6)  # until the streams run: at first each is sent what a listener may have ahead
    for _ in range(times):
        utterance = session.speak(_SENTENCE * 4)
        frames = aiter(utterance)
        await anext(frames)
        began = time.perf_counter()
        await utterance.cancel()
        async for _ in frames:
            pass
        delays.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(max(0.0, seconds / 2 / times - (time.perf_counter() - began)))
    return delays


def _cpu_s(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / _TICKS


async def _serve(profile: cProfile.Profile | None) -> None:
    configure_logging("json", level="error")
    synthesizer = PreparedSynthesizer()
    async with synthesizer, Endpoint(ServerConfig(port=0, wait_s=None), synthesizer) as endpoint:
        print(endpoint.address[1], flush=True)
        if profile is not None:
            profile.enable()
        await asyncio.to_thread(sys.stdin.read)  # until whoever started this is gone
    if profile is not None:
        profile.disable()
        pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(30)


def _show(load: Load) -> str:
    head = f"{load.streams} streams, {load.audio_s:,.0f} s of prepared audio in {load.frames:,} frames"
    foot = f"{load.cancels} cancels, median {load.cancel_p50_ms:.1f} ms; {load.server_cpu_s:.1f} s of CPU in the server"
    return f"{head}\n\n{show(load.criteria)}\n\n{foot}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wire", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few streams for a few seconds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--profile", action="store_true", help="show what the server's time goes into")
    parser.add_argument("--server", action="store_true", help=argparse.SUPPRESS)
    parsed = parser.parse_args(arguments)

    import uvloop

    gc.freeze()  # as `rtvoice serve` does
    if parsed.server:
        uvloop.run(_serve(cProfile.Profile() if parsed.profile else None))
        return 0
    streams, seconds, cancels = (10, 12.0, 20) if parsed.quick else (100, 60.0, 300)
    load = uvloop.run(measure(streams, seconds, cancels, profile=parsed.profile))
    print(_show(load))
    if parsed.json:
        parsed.json.write_text(json.dumps({"machine": fingerprint(), "load": asdict(load)}, indent=2) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
