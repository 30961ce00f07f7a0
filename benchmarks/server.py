"""A server in a process of its own, as seen from a benchmark: started, asked, and watched by the kernel's books."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Self

from prometheus_client.parser import text_string_to_metric_families

from benchmarks.accounting import ProcessTree

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]
_START_S = 300.0


class ServerFailed(Exception):
    """A server did not start. Says what it had printed last."""


class Server:
    """A server. A context manager: entering starts it and returns when it listens, leaving ends it.

    Args:
        command: what to run; it logs as `rtvoice serve --log json` does.

    Attributes:
        url: of its socket.
        start_s: from its start until it listened.
        tree: its processes.
    """

    url: str
    start_s: float
    tree: ProcessTree

    def __init__(self, command: Sequence[str]) -> None:
        self._command = list(command)

    def __enter__(self) -> Self:
        self._log = tempfile.NamedTemporaryFile("w+", errors="replace", suffix=".log")
        began = time.perf_counter()
        self._process = subprocess.Popen(
            self._command,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        try:
            http = self._listening(began + _START_S)
        except ServerFailed:
            self.__exit__()
            raise
        self.start_s = time.perf_counter() - began
        self._http = http.rstrip("/")
        self.url = self._http.replace("http", "ws", 1)
        self.tree = ProcessTree(self._process.pid)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def metrics(self) -> dict[tuple[str, ...], float]:
        """What it tells at `/metrics`: values by name and labels."""
        with urllib.request.urlopen(f"{self._http}/metrics", timeout=10) as reply:  # noqa: S310  # ours
            text = reply.read().decode()
        return {
            (sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def state(self) -> str:
        """Where its engine stands."""
        return next(name[1] for name, value in self.metrics().items() if name[0] == "rtvoice_state" and value)

    def reach(self, state: str, within_s: float) -> float:
        """Wait until its engine is in a state; returns how long that took.

        Raises:
            ServerFailed: it was not in time.
        """
        began = time.perf_counter()
        while self.state() != state:
            if time.perf_counter() - began > within_s:
                raise ServerFailed(f"the engine is {self.state()} after {within_s:.0f} s, not {state}{self._last()}")
            time.sleep(0.05)
        return time.perf_counter() - began

    def _listening(self, deadline: float) -> str:
        while time.perf_counter() < deadline and self._process.poll() is None:
            for line in Path(self._log.name).read_text(errors="replace").splitlines():
                if line.startswith("{") and '"listening"' in line:
                    return str(json.loads(line)["url"])
            time.sleep(0.02)
        raise ServerFailed(f"the server does not listen{self._last()}")

    def _last(self) -> str:
        lines = Path(self._log.name).read_text(errors="replace").splitlines()[-15:]
        return "".join(f"\n    {line}" for line in lines)
