"""An engine in a process of its own, as seen from the benchmark."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from benchmarks.accounting import ProcessTree
from rtvoice.config import SAMPLE_RATE

if TYPE_CHECKING:
    from benchmarks.baselines import Row
    from benchmarks.workload import Sentence

ROOT = Path(__file__).parents[1]
"""The checkout."""

_LIMIT_S = 900.0
_SETTLE_S = 0.05


class EngineFailed(Exception):
    """An engine could not do what was asked. Says what it had printed last."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What an engine will load: its files, beside libraries, and the libraries' versions."""

    files: tuple[Path, ...]
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class Load:
    """What getting ready took: wall and CPU seconds, from the start of the process, and the libraries' versions."""

    wall_s: float
    cpu_s: float
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class Spoken:
    """What one sentence took.

    Attributes:
        samples: how many came out, at 24 kHz.
        level: their root mean square, 0 to 1.
        wall_s: from the call to its return.
        cpu_s: of all the engine's processes.
    """

    samples: int
    level: float
    wall_s: float
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Streamed:
    """What one sentence took, and when each piece of it was there.

    Attributes:
        pieces: of each, seconds from the call until it came, and its samples at 24 kHz.
        cpu_s: of all the engine's processes.
    """

    pieces: tuple[tuple[float, int], ...]
    cpu_s: float

    @property
    def first_audio_s(self) -> float:
        """Seconds from the call until there was something to hear."""
        return self.pieces[0][0]

    @property
    def whole_s(self) -> float:
        """Seconds from the call until all was there."""
        return self.pieces[-1][0]

    @property
    def audio_s(self) -> float:
        """Seconds of speech."""
        return sum(samples for _, samples in self.pieces) / SAMPLE_RATE

    @property
    def dry_s(self) -> float:
        """The longest that a piece comes too late for a listener who plays from the first one on; 0 if none does."""
        longest, heard = 0.0, 0
        for at, samples in self.pieces:
            longest = max(longest, at - self.first_audio_s - heard / SAMPLE_RATE)
            heard += samples
        return longest


class EngineProcess:
    """One engine, running. A context manager; leaving ends the process.

    Args:
        row: which engine.
        python: the interpreter of its environment.
        cache: where prepared files lie.
        threads: how many cores it is confined to.
    """

    def __init__(self, row: Row, python: Path, cache: Path, threads: int) -> None:
        self._row = row
        self._command = [str(python), "-W", "ignore", "-m", "benchmarks.worker", row.name, str(cache), str(threads)]

    def __enter__(self) -> Self:
        self._log = tempfile.TemporaryFile("w+", errors="replace")
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            self._command,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self._tree = ProcessTree(self._process.pid)
        return self

    def __exit__(self, *exc_info: object) -> None:
        requests, answers = self._pipes()
        with contextlib.suppress(BrokenPipeError):
            requests.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        answers.close()
        self._log.close()

    def prepare(self) -> Prepared:
        """Make the files the engine reads. To be called in a process that is not measured."""
        reply = self._ask(do="prepare")
        return Prepared(tuple(map(Path, reply["files"])), reply["versions"])

    def load(self) -> Load:
        """Load the engine."""
        reply = self._ask(do="load")
        return Load(time.perf_counter() - self._started, self._tree.cpu_seconds(), reply["versions"])

    def speak(self, sentence: Sentence) -> Spoken:
        """Have a sentence spoken and measure it."""
        before = self._tree.cpu_seconds()
        reply = self._ask(do="speak", phonemes=sentence.phonemes, style=sentence.style, speed=1.0)
        # Threads that still spin when the result is there belong to it.
        time.sleep(_SETTLE_S)
        return Spoken(reply["samples"], reply["level"], reply["wall_s"], self._tree.cpu_seconds() - before)

    def stream(self, sentence: Sentence) -> Streamed:
        """Have a sentence spoken, piece by piece where the engine can do so, and measure it."""
        before = self._tree.cpu_seconds()
        reply = self._ask(do="stream", phonemes=sentence.phonemes, style=sentence.style, speed=1.0)
        time.sleep(_SETTLE_S)
        pieces = tuple((at, samples) for at, samples in reply["pieces"])
        return Streamed(pieces, self._tree.cpu_seconds() - before)

    def peak_resident_bytes(self) -> int:
        """The most memory the engine has had resident."""
        return self._tree.peak_resident_bytes()

    def _ask(self, **request: object) -> dict[str, Any]:
        requests, answers = self._pipes()
        try:
            requests.write(json.dumps(request) + "\n")
            requests.flush()
            ready, _, _ = select.select([answers], [], [], _LIMIT_S)
            line = answers.readline() if ready else ""
        except BrokenPipeError:
            line = ""
        if not line:
            raise EngineFailed(self._explained(f"no answer to {request['do']}"))
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise EngineFailed(self._explained(reply["error"]))
        return reply

    def _pipes(self) -> tuple[IO[str], IO[str]]:
        """What the process reads, and what it writes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout

    def _explained(self, reason: str) -> str:
        self._log.seek(0)
        last = "".join(f"\n    {line.rstrip()}" for line in self._log.readlines()[-15:])
        return f"{self._row.label}: {reason}{last}"
