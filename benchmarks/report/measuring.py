"""A cell's measurement: a server of its own, clients, and the kernel's books."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from benchmarks.lifecycle import Watch
from benchmarks.process import ROOT, EngineProcess, Prepared
from benchmarks.report.client import say_all, say_once
from benchmarks.report.held import group_bytes, held
from benchmarks.report.records import Clients, Cycle, Lifecycle, Load, Peaks, Rewrite, Serve
from benchmarks.report.roofline import traffic
from benchmarks.report.samples import write_sample
from benchmarks.report.subjects import SUBJECTS, Places, Subject
from benchmarks.server import Server
from benchmarks.workload import load_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from benchmarks.network import Variant
    from benchmarks.report.plan import Cell, Profile
    from benchmarks.report.records import Measured

CLIENTS: Final = 4

GREETING: Final = 0
"""Number of the sentence that is spoken first, and after each restore."""

SAMPLE: Final = 5
"""Number of the sentence that is kept to be listened to: 3.4 s."""

ORDER: Final = (SAMPLE, 3, 8, 13, 18, 4, 7, 12, 2, 19, 6, 10, 1, 11, 9, 14, 0, 15, 17, 16)
"""Numbers of the sentences in the order in which they are spoken, so that the first eight are of all lengths."""

SHORT: Final = (3, 18, 4, 2, 19, SAMPLE)
"""Numbers of the sentences that more and more clients ask for: 1.9 to 3.4 s."""

IDLE_S: Final = 2.0
"""Quiet to a release, where a server is released."""

_RELEASE_S = 60.0
_SETTLE_S = 1.0
_SPIN_S = 0.3
"""Threads that still spin when the last sample is there belong to it."""


class Measuring:
    """Measures cells, one at a time.

    Args:
        profile: how thoroughly.
        places: where things lie.
        samples: folder that gets sentences to listen to.
        subjects: the engines that cells name.
    """

    def __init__(
        self, profile: Profile, places: Places, samples: Path, subjects: Mapping[str, Subject] = SUBJECTS
    ) -> None:
        self._profile = profile
        self._places = places
        self._samples = samples
        self._subjects = subjects
        self._sentences = load_sentences()
        self._prepared: dict[str, Prepared] = {}
        self._ready: list[Subject] = []

    def prepare(self, subject: Subject) -> None:
        """Make the files an engine loads, what it compiles included, in processes that are not measured.

        Raises:
            EngineFailed: it cannot be made.
            ServerFailed: it cannot be loaded.
        """
        if subject in self._ready:
            return
        if subject.row.name not in self._prepared:
            cores = len(os.sched_getaffinity(0))
            with EngineProcess(subject.row, subject.python(self._places), self._places.cache, cores) as engine:
                self._prepared[subject.row.name] = engine.prepare()
        if subject.own:
            with Server(subject.command(self._places, None)):
                pass  # which has compiled the model for as many streams and threads as it chooses
        self._ready.append(subject)

    def versions(self, cell: Cell) -> Mapping[str, str]:
        """Of an engine's libraries, once it is prepared."""
        subject = self._subjects.get(cell.subject)
        return self._prepared[subject.row.name].versions if subject is not None else {}

    def measure(self, cell: Cell) -> Measured:
        """Measure one cell.

        Raises:
            EngineFailed: the engine's files cannot be made.
            ServerFailed: its server does not start, or is not released.
            RtvoiceError: it does not speak.
            SilentServer: it says nothing.
            CalledProcessError: a form of the generator cannot be run.
        """
        match cell.kind:
            case "rewrite":
                return measure_rewrite(cell.subject)
            case "peaks":
                return measure_peaks()
        subject = self._subjects[cell.subject]
        self.prepare(subject)
        match cell.kind:
            case "serve":
                return self._serve(cell, subject)
            case "lifecycle":
                cycles = self._profile.cycles
                return self._lifecycle(subject, cycles if subject.own else max(1, cycles // 3))
            case "clients":
                return self._clients(subject)

    def _serve(self, cell: Cell, subject: Subject) -> Serve:
        before = group_bytes()
        with Server(subject.command(self._places, None)) as server:
            greeted = self._greet(server)
            numbers = ORDER[: CLIENTS * self._profile.turns]
            load, samples = self._loaded(server, numbers, CLIENTS)
            idle_from = server.tree.cpu_seconds()
            with watched(server) as points:
                time.sleep(self._profile.idle_s)
            idle_cpu = (server.tree.cpu_seconds() - idle_from) / self._profile.idle_s
            warm = held(server.tree, self._prepared[subject.row.name].files, before)
        sample = write_sample(self._samples, cell.subject, samples[SAMPLE]) if SAMPLE in samples else None
        return Serve(server.start_s + greeted, load, warm, idle_cpu, tuple(points), sample)

    def _lifecycle(self, subject: Subject, cycles: int) -> Lifecycle:
        before, files = group_bytes(), self._prepared[subject.row.name].files
        found, spoken_s, asked_s = [], [], []
        with Server(subject.command(self._places, IDLE_S)) as server, watched(server) as points:
            began = time.perf_counter()
            self._greet(server)
            for _ in range(cycles):
                spoken_s.append(time.perf_counter() - began)
                server.reach("released", IDLE_S + _RELEASE_S)
                time.sleep(_SETTLE_S)
                released, cpu_s = held(server.tree, files, before), server.tree.cpu_seconds()
                asked_s.append(time.perf_counter() - began)
                restored_s = self._greet(server)
                found.append(Cycle(released, restored_s, server.tree.cpu_seconds() - cpu_s))
        return Lifecycle(IDLE_S, tuple(found), tuple(spoken_s), tuple(asked_s), tuple(points))

    def _clients(self, subject: Subject) -> Clients:
        loads = []
        with Server(subject.command(self._places, None)) as server:
            self._greet(server)
            for clients in self._profile.clients:
                numbers = [SHORT[i % len(SHORT)] for i in range(max(clients, CLIENTS))]
                loads.append(self._loaded(server, numbers, clients)[0])
        return Clients(tuple(loads))

    def _greet(self, server: Server) -> float:
        """Have the first sentence spoken; returns how soon it was heard."""
        return asyncio.run(say_once(server.url, self._sentences[GREETING])).first_audio_s

    def _loaded(
        self, server: Server, numbers: Sequence[int], clients: int
    ) -> tuple[Load, Mapping[int, NDArray[np.float32]]]:
        cpu_s = server.tree.cpu_seconds()
        with watched(server) as points:
            began = time.perf_counter()
            heard, samples = asyncio.run(say_all(server.url, self._sentences, numbers, clients))
            wall_s = time.perf_counter() - began
            time.sleep(_SPIN_S)
        took = server.tree.cpu_seconds() - cpu_s
        memory = [size for _, size in points] or [server.tree.memory_bytes()]
        return Load(clients, heard, wall_s, took, statistics.mean(memory)), samples


@contextmanager
def watched(server: Server) -> Iterator[list[tuple[float, float]]]:
    """Look at a server's memory twice a second; yields a list that has the points, in seconds and bytes, afterwards."""
    found: list[tuple[float, float]] = []
    with Watch(server) as watch:
        yield found
    found += watch.points


_VARIANTS: Final = {
    "direct": "direct convolutions, Sin",
    "no-sine": "+ Snake without Sin",
    "fourier": "+ kernels as shared inputs",
    "bfloat16": "+ kernels of bfloat16",
}
"""Forms of the generator as plans name them, and as the benchmark of the networks does."""


def variant_of(name: str) -> Variant:
    """A form of the generator that plans name."""
    from benchmarks.network import REWRITES

    return next(variant for variant in REWRITES if variant.name == _VARIANTS[name])


def measure_rewrite(name: str) -> Rewrite:
    """Run a form of the generator's stages in a process of its own, on one thread."""
    from benchmarks.network import arithmetic, measure_apart

    variant = variant_of(name)
    measured, work = measure_apart(variant, 1, {}), arithmetic(variant)
    gmac = work["products"] + work["transforms"] if variant.fourier else work["direct"]
    return Rewrite(measured["stage1"] + measured["stage2"], gmac, traffic(variant), measured["memory_mb"])


def measure_peaks() -> Peaks:
    """Ask what one core can do, in a process with one thread."""
    one = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.report.peaks"]
    answer = subprocess.run(command, cwd=ROOT, env=os.environ | one, capture_output=True, text=True, check=True)
    return Peaks(**json.loads(answer.stdout))
