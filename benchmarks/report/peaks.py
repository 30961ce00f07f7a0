"""What one core of this machine can do: `python -m benchmarks.report.peaks` prints it as JSON.

Run it with one thread of numpy's library (`OPENBLAS_NUM_THREADS=1`): what counts is CPU time, as for all that is held
against it. The best of several times is taken.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict

import numpy as np

from benchmarks.report.records import Peaks

_SIZE = 1536
_BYTES = 1 << 28
_TIMES = 8


def measure() -> Peaks:
    """Multiply matrices that lie in the cache for the most part, and copy arrays that do not fit into it."""
    a, b = (np.random.default_rng(i).standard_normal((_SIZE, _SIZE)).astype(np.float32) for i in range(2))
    product = np.empty_like(a)
    source, target = np.ones(_BYTES // 4, np.float32), np.zeros(_BYTES // 4, np.float32)
    multiply_s = copy_s = float("inf")
    for _ in range(_TIMES):
        began = time.process_time()
        np.matmul(a, b, out=product)
        multiplied = time.process_time()
        np.copyto(target, source)
        multiply_s = min(multiply_s, multiplied - began)
        copy_s = min(copy_s, time.process_time() - multiplied)
    return Peaks(2 * _SIZE**3 / multiply_s / 1e9, 2 * _BYTES / copy_s / 1e9)


if __name__ == "__main__":
    print(json.dumps(asdict(measure())))
