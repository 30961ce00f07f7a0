"""Lines of a report as a run that went well would have written them, to be doctored."""

from __future__ import annotations

import dataclasses

from benchmarks.report.plan import QUICK, cells
from benchmarks.report.records import (
    Clients,
    Cycle,
    Heard,
    Held,
    Lifecycle,
    Line,
    Load,
    Peaks,
    Rewrite,
    Serve,
    encoded,
)

PLAN = cells(QUICK)
CONTEXT = {
    "profile": "quick",
    "threads": 2,
    "weights_sha256": "weights",
    "sentences_sha256": "sentences",
    "rtvoice": "1.0",
    "code": "0123",
    "machine": {
        "processor": "A & B <C>",
        "vector_units": ["avx2"],
        "cores": 2,
        "memory_bytes": 8 * 10**9,
        "kernel": "6",
        "python": "3.11",
    },
}

SPEED = {"pytorch-eager": 0.5, "rtvoice": 2.5}
"""Seconds of speech a CPU-second; others make one."""

MB = 10**6


def load(speed=1.0, clients=4):
    heard = tuple(Heard(i, first_audio_s=(i + 1) / speed, audio_s=2.0 + i, level=0.1) for i in range(8))
    audio_s = sum(one.audio_s for one in heard)
    return Load(clients, heard, wall_s=audio_s / speed / 2, cpu_s=audio_s / speed, bytes_held=1000 * MB)


def serve(speed=1.0, warm=1000 * MB, cold_start_s=4.0):
    timeline = tuple((0.5 * i, float(warm)) for i in range(6))
    return Serve(cold_start_s, load(speed), Held(warm - 100 * MB, 100 * MB, warm // 2), 0.001, timeline, None)


def lifecycle():
    cycles = tuple(Cycle(Held(90 * MB, 10 * MB, None), restored_s=1.0, restore_cpu_s=1.5) for _ in range(3))
    timeline = tuple((0.5 * i, 1000.0 * MB) for i in range(20))
    return Lifecycle(3.0, cycles, (1.0, 5.0, 9.0), (4.0, 8.0, 9.5), timeline)


def measured(cell):
    """What such a cell comes to. Two rounds differ by 2 %."""
    match cell.kind:
        case "serve":
            cold_start_s = 10.0 if cell.subject == "pytorch-eager" else 4.0
            return serve(SPEED.get(cell.subject, 1.0) * (1 + 0.02 * cell.number), cold_start_s=cold_start_s)
        case "lifecycle":
            return lifecycle()
        case "clients":
            return Clients(tuple(load(1.0, clients) for clients in QUICK.clients))
        case "rewrite":
            return Rewrite(cpu_s=0.5, gmac=24.0, gbytes=1.0, memory_mb=300)
        case "peaks":
            return Peaks(gflops=100.0, gbytes_s=10.0)


def line(cell, result=None, **changes):
    return (
        Line(
            cell=cell.name,
            at="2026-01-01T00:00:00+00:00",
            took_s=10.0,
            context=CONTEXT,
            versions={"library": "1.2"},
            measured=encoded(result or measured(cell)),
        )
        if not changes
        else dataclasses.replace(line(cell, result), **changes)
    )


def good_lines():
    """A line for every cell of the quick plan."""
    return [line(cell) for cell in PLAN]


def doctored(name, **changes):
    """The same, with one cell's line changed."""
    return [dataclasses.replace(one, **changes) if one.cell == name else one for one in good_lines()]
