"""Runs in an environment with the agents' frameworks; the server has its own, whose Python RTVOICE_PYTHON names."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

PYTHON = os.environ.get("RTVOICE_PYTHON", ".venv/bin/python")
ROOT = Path(__file__).parents[2]
WORD_S = 0.2


class LiveServer:
    """A server that runs, and what it has sent."""

    def __init__(self, port, record):
        self.port = port
        self._record = record

    def sent(self):
        """What left so far, in order."""
        return [json.loads(line) for line in self._record.read_text().splitlines()]

    @property
    def sockets(self):
        return [line["socket"] for line in self.sent() if "opened" in line]

    def quiet(self, seconds=0.4):
        """Wait until nothing has been sent for a while."""
        size = -1
        while size != (size := self._record.stat().st_size):
            time.sleep(seconds)

    def audio_bytes(self, context):
        return sum(line.get("audio", 0) for line in self.sent() if line.get("message", {}).get("contextId") == context)


@pytest.fixture
def server(tmp_path):
    record = tmp_path / "sent.jsonl"
    command = [PYTHON, "-m", "tests.agents.server", "serve", str(record)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield LiveServer(int(process.stdout.readline()), record)
        process.stdin.close()
        assert process.wait(timeout=10) == 0


def speech(text, rate=24_000):
    """The samples that a text should come out as."""
    command = [PYTHON, "-m", "tests.agents.server", "speech", str(rate)]
    data = subprocess.run(command, cwd=ROOT, input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(data, "<i2").astype(int)


def assert_sounds_as(data, text, rate=24_000):
    """The samples are those of the text, to a step or two of rounding."""
    heard, expected = np.frombuffer(data, "<i2").astype(int), speech(text, rate)
    assert len(heard) == len(expected)
    assert np.abs(heard - expected).max() <= 2


def assert_times(words, text):
    """Words are those of the text, each when its tone begins: one every 0.2 s."""
    assert [word.strip() for word, _ in words] == text.split()
    for number, (_, start_s) in enumerate(words):
        assert start_s == pytest.approx(number * WORD_S, abs=0.011)
