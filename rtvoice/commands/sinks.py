"""Where `rtvoice say` puts the sound: a file, a stream, a player. All take encoded samples as they come."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from rtvoice.config import SAMPLE_RATE
from rtvoice.errors import SetupError
from rtvoice.speech.files import explained
from rtvoice.wav import wav_header

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    Header = Callable[[int | None], bytes]
    """Makes what stands before so many bytes of sound, or before a length that is not known yet."""

PLAYERS: dict[str, tuple[str, ...]] = {
    "aplay": ("-q", "-t", "wav", "-"),
    "paplay": ("--raw", f"--rate={SAMPLE_RATE}", "--channels=1", "--format=s16le"),
    "ffplay": ("-nodisp", "-autoexit", "-loglevel", "error", "-f", "wav", "-i", "-"),
}
"""Programs that play 16 bit samples from their standard input, the best first, and how they are called."""


class Sink(Protocol):
    """Takes samples, in order."""

    async def write(self, samples: bytes) -> None:
        """Take samples. Waits while the other side is not ready for more."""


class _Stream:
    """An open file that is written to from a thread, because a pipe may be full for long."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.written = 0

    async def write(self, samples: bytes) -> None:
        # shielded: a thread's future that is cancelled as it ends makes asyncio complain on standard error
        await asyncio.shield(asyncio.to_thread(self._write, samples))

    def _write(self, samples: bytes) -> None:
        self._file.write(samples)
        self._file.flush()
        self.written += len(samples)


@contextlib.asynccontextmanager
async def standard_output(header: Header | None) -> AsyncIterator[Sink]:
    """Standard output, behind a header that gives no length if there is one."""
    stream = _Stream(sys.stdout.buffer)
    if header is not None:
        await stream.write(header(None))
    yield stream


@contextlib.asynccontextmanager
async def sound_file(path: Path, header: Header | None) -> AsyncIterator[Sink]:
    """A file that appears when the sound is complete, behind a header if there is one.

    What exists and is no ordinary file (a named pipe, a device) is written to as the sound comes.

    Raises:
        SetupError: it cannot be written.
    """
    if path.is_dir():  # noqa: ASYNC240 - before any sound
        raise SetupError(f"{path} is a folder; give the name of a file.")
    opened = _special_file if path.exists() and not path.is_file() else _new_file  # noqa: ASYNC240
    with explained(path.parent), opened(path, header) as stream:
        yield stream


@contextlib.contextmanager
def _special_file(path: Path, header: Header | None) -> Iterator[_Stream]:
    with path.open("wb") as file:
        if header is not None:
            file.write(header(None))
        yield _Stream(file)


@contextlib.contextmanager
def _new_file(path: Path, header: Header | None) -> Iterator[_Stream]:
    number, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            if header is not None:
                file.write(header(None))
            stream = _Stream(file)
            yield stream
            if header is not None:  # now the length is known
                file.seek(0)
                file.write(header(stream.written))
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextlib.asynccontextmanager
async def player() -> AsyncIterator[Sink]:
    """The loudspeaker, through whichever player is installed. Leaving waits until it has played everything.

    Raises:
        SetupError: there is none, or it failed.
    """
    found = next((name for name in PLAYERS if shutil.which(name)), None)
    if found is None:
        raise SetupError(
            f"No player is installed ({', '.join(PLAYERS)}); install one, or write a file: rtvoice say ... -o hello.wav"
        )
    process = await asyncio.create_subprocess_exec(
        found, *PLAYERS[found], stdin=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        sink = _Player(found, process, cast("asyncio.StreamWriter", process.stdin))
        if "--raw" not in PLAYERS[found]:
            await sink.write(wav_header("pcm_s16le"))
        yield sink
        await sink.finish()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


class _Player:
    def __init__(self, name: str, process: asyncio.subprocess.Process, stdin: asyncio.StreamWriter) -> None:
        self._name = name
        self._process = process
        self._input = stdin

    async def write(self, samples: bytes) -> None:
        try:
            self._input.write(samples)
            await self._input.drain()
        except (BrokenPipeError, ConnectionResetError):
            await self.finish()
            raise SetupError(f"The player {self._name} stopped before the sound ended.") from None

    async def finish(self) -> None:
        """Wait until it has played, and pass on what it complains about."""
        self._input.close()
        _, complaint = await self._process.communicate()
        if self._process.returncode:
            lines = complaint.decode(errors="replace").strip().splitlines() or ["it did not say why"]
            raise SetupError(f"The player {self._name} failed: {lines[-1]}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
