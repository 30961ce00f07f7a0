"""The process an engine is measured in: `python -m benchmarks.worker ROW CACHE THREADS`.

It reads one JSON object a line from standard input and answers each with one on standard output; `benchmarks.process`
is the other end. Every request has a `do`; every answer is what was asked for, or an `error`.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from benchmarks.baselines import Baseline, find_row

if TYPE_CHECKING:
    from collections.abc import Iterable


def confine(threads: int) -> None:
    """Keep this process, and the threads it will have, to so many of the cores it may use."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def answer(baseline: Baseline, request: dict[str, Any]) -> dict[str, Any]:
    """Do what one request asks for."""
    started = time.perf_counter()
    match request["do"]:
        case "prepare":
            baseline.prepare()
            return {"versions": dict(baseline.versions()), "files": [str(file) for file in baseline.files]}
        case "load":
            baseline.load()
            return {"wall_s": time.perf_counter() - started, "versions": dict(baseline.versions())}
        case "speak":
            style = np.array([request["style"]], np.float32)
            samples = baseline.speak(request["phonemes"], style, request["speed"])
            return {
                "wall_s": time.perf_counter() - started,
                "samples": len(samples),
                "level": float(np.sqrt(np.mean(np.square(samples)))),
            }
        case "stream":
            style = np.array([request["style"]], np.float32)
            stream = baseline.stream(request["phonemes"], style, request["speed"])
            return {"pieces": [(time.perf_counter() - started, len(samples)) for samples in stream]}
        case unknown:
            raise ValueError(f"no such request: {unknown}")


def serve(baseline: Baseline, requests: Iterable[str], answers: IO[str]) -> None:
    """Answer requests until there are no more."""
    for line in requests:
        try:
            reply = answer(baseline, json.loads(line))
        except Exception as error:  # the process's top: whatever an engine raises is the answer
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


def main() -> None:
    """Serve the row named on the command line until standard input ends."""
    row, cache, threads = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    confine(threads)
    # Libraries print to standard output; the answers go there alone.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(find_row(row).baseline(cache, threads), sys.stdin, answers)


if __name__ == "__main__":
    main()
