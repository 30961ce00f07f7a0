"""Transcripts of the protocol: one rule a file, `>` what a client sends, `<` what a server answers.

An answer's JSON is the part of the message that matters. `< audio U A B` is all audio of utterance U from sample A to
B, in any frames. Segments and words that a transcript does not name may come in between.
"""

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "transcripts"
NAMES = sorted(path.stem for path in FOLDER.glob("*.txt"))
_SAMPLE_BYTES = {"pcm_f32le": 4, "mulaw": 1, "alaw": 1}
_AT_WILL = {"ready", "segment", "words", "loading"}


def lines_of(name):
    """The lines of a transcript: direction, and an object or ("audio", utterance, from, to)."""
    for line in (FOLDER / f"{name}.txt").read_text("utf-8").splitlines():
        direction, _, what = line.partition(" ")
        if direction == "#":
            continue
        if what.startswith("audio"):
            yield direction, ("audio", *map(int, what.split()[1:]))
        else:
            yield direction, json.loads(what)


async def replay(name, send, receive):
    """Be the client of a transcript: `send` takes text, `receive` returns the next message."""
    sample_bytes = {}
    for direction, what in lines_of(name):
        if direction == ">":
            sample_bytes.setdefault(what.get("utterance"), _SAMPLE_BYTES.get(what.get("format"), 2))
            await send(json.dumps(what))
        elif isinstance(what, tuple):
            _, utterance, at, end = what
            while at < end:
                message = await _next(receive, lambda message: isinstance(message, bytes))
                assert int.from_bytes(message[:4], "little") == utterance
                assert int.from_bytes(message[4:8], "little") == at
                at += len(message[8:]) // sample_bytes.get(utterance, 2)
            assert at == end
        else:
            message = await _next(receive, lambda message, what=what: _is(message, what))
            assert _holds(json.loads(message), what), message


def _is(message, what):
    return not isinstance(message, bytes) and json.loads(message)["type"] == what["type"]


async def _next(receive, wanted):
    while not wanted(message := await receive()):
        assert not isinstance(message, bytes), "audio that is not in the transcript"
        assert json.loads(message)["type"] in _AT_WILL, message
    return message


def _holds(value, part):
    if isinstance(part, dict):
        return isinstance(value, dict) and all(name in value and _holds(value[name], part[name]) for name in part)
    if isinstance(part, list):
        return len(value) >= len(part) and all(map(_holds, value, part))
    return value == part
