"""The asyncio client: utterances over one connection to a server."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rtvoice.config import PCM_FORMATS, SAMPLE_RATE
from rtvoice.dial import Address
from rtvoice.errors import ConnectionLost, RtvoiceError
from rtvoice.line import Line
from rtvoice.link import Link, Mailbox, exception_of
from rtvoice.pieces import pieces
from rtvoice.protocol.messages import (
    Audio,
    Cancel,
    Cancelled,
    Done,
    End,
    Error,
    Flush,
    Phoneme,
    Phonemes,
    Segment,
    Speak,
    Word,
    Words,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable, Mapping
    from ssl import SSLContext

    from rtvoice.protocol.messages import Ready, Terminal

PATIENCE_S = 10.0
"""How long an utterance waits for a connection that was lost, unless told otherwise, in seconds."""

_PIECE = 4_096
"""Characters sent in one message at most, well below every server's limit on messages."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A stretch of an utterance's audio.

    Attributes:
        utterance: the utterance's number.
        index: of its first sample in the utterance. Frames follow each other without a gap. In `wav`, `mp3` and `opus`
            the number of bytes before it.
        samples: whole samples, mono, in the format and at the rate that were asked for; or the next bytes of a file.
        words: those that begin to be heard in this frame or soon after it, in order. Times are in seconds from the
            utterance's first sample.
        segment: where this frame begins a sentence or clause, its first character in the utterance's text and the one
            behind its last; else None.
        phonemes: the sounds that begin in it or soon after it, as `words`; if they were asked for.
    """

    utterance: int
    index: int
    samples: bytes = field(repr=False)
    words: tuple[Word, ...] = ()
    segment: tuple[int, int] | None = None
    phonemes: tuple[Phoneme, ...] = ()


@asynccontextmanager
async def connect(
    url: str,
    *,
    key: str | None = None,
    origin: str | None = None,
    ssl: SSLContext | None = None,
    patience_s: float = PATIENCE_S,
) -> AsyncIterator[Session]:
    """Open a session with a server.

    A connection that is lost is opened again, with growing pauses. An utterance that was under way then fails with
    `ConnectionLost`, which says how many of its characters had been spoken; it is not spoken anew, because nobody but
    the caller knows what the listener still wants to hear. Utterances that begin later wait for the new connection.

    Args:
        url: the server's address, as `ws://127.0.0.1:8765`.
        key: an API key or a token, if the server wants one.
        origin: what to send as the `Origin` header, if anything.
        ssl: how the server's certificate is checked, for `wss`; by default against those that this system trusts.
        patience_s: how long an utterance waits for a connection that was lost, in seconds; at 0 it stays lost.

    Yields:
        The session. Leaving closes it, which cancels what has not ended.

    Raises:
        InvalidInput: the URL is none.
        Overloaded: the server takes no more sessions now.
        ConnectionRefused: it is no rtvoice of this protocol version, or it wants another key.
        ConnectionLost: there is no server.
    """
    async with Line(Address(url=url, key=key, origin=origin, ssl=ssl), patience_s) as line:
        yield Session(line)


class Session:
    """A way to a server on which utterances are spoken, one after the other in the order in which they are begun.

    Made by `connect`. It belongs to one event loop; several tasks may use it at once. Whoever does not iterate over an
    utterance that was begun stops the ones behind it.
    """

    def __init__(self, line: Line) -> None:
        self._line = line

    @property
    def ready(self) -> Ready:
        """What the server offers: voices, languages, formats, limits. Read anew with each connection."""
        return self._line.ready

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now. There is no need to wait for one: utterances do."""
        return self._line.is_open

    def speak(
        self,
        text: str | Iterable[str] | AsyncIterable[str],
        *,
        voice: str | None = None,
        speed: float | None = None,
        language: str | None = None,
        format: str | None = None,  # noqa: A002  # the wire's name
        sample_rate: int | None = None,
        pause_ms: int | None = None,
        seed: int | None = None,
        markup: str | None = None,
        control: bool | None = None,
        lexicon: Mapping[str, str] | None = None,
        phoneme_times: bool | None = None,
    ) -> Utterance:
        """Prepare an utterance. It begins when it is iterated over.

        Args:
            text: all of it, or pieces cut anywhere; they are sent as they come.
            voice: a name in `ready.voices`; by default the first.
            speed: factor on the pace, 0.5 to 2.0.
            language: one of `ready.languages`; by default the voice's own.
            format: one of `ready.formats`; by default the first, 16 bit.
            sample_rate: one of `ready.sample_rates`, in Hz; by default 24,000.
            pause_ms: silence between two sentences, beside what the voice makes itself.
            seed: of the noise in the sound; same seed and text, same samples.
            markup: `markdown`, `plain` or `ssml`; by default the first.
            control: whether `[pause:0.8s]` and `[word](/phonemes/)` in the text act, if the server allows it.
            lexicon: how some words are said: `{"GIF": "jif", "Zefira": "/zɛfˈɪɹə/"}`.
            phoneme_times: whether frames have `phonemes`, which say when each sound is heard.
        """
        options = Speak(
            text="",
            voice=voice,
            speed=speed,
            language=language,
            format=format,
            sample_rate=sample_rate,
            pause_ms=pause_ms,
            seed=seed,
            markup=markup,
            control=control,
            lexicon=lexicon,
            phoneme_times=phoneme_times,
        )
        return Utterance(self._line, text, options)


class Utterance:
    """One request: iterate over it, once, for its frames.

    ::

        utterance = session.speak(tokens)
        async for frame in utterance:
            play(frame.samples)

    Leaving the iteration early cancels the utterance. The iteration raises `InvalidInput`, `TextTooLong`, `Overloaded`,
    `SynthesisFailed`, `LoadFailed`, `ServerStopping` or `ConnectionLost`, and what the text itself raises. All audio
    that had arrived comes before that.

    Attributes:
        number: its number in the session, None before it has begun.
        result: its terminal message once that has been read.
    """

    def __init__(self, line: Line, text: str | Iterable[str] | AsyncIterable[str], options: Speak) -> None:
        self.number: int | None = None
        self.result: Terminal | None = None
        self._line = line
        self._link: Link | None = None
        self._text = text
        self._options = options
        self._mailbox = Mailbox()
        self._heard = _Heard(options)
        self._begun = False
        self._cancelled = asyncio.Event()

    async def cancel(self, played_s: float | None = None) -> None:
        """Stop it. The iteration yields no further frame and ends when the server has acknowledged.

        Args:
            played_s: how much of its audio was heard, in seconds: `result` then says which text that was. By default
                as much as somebody has heard who plays it in real time.

        An utterance that has not begun will not; one that has ended is left as it is.
        """
        if self._cancelled.is_set() or self.result is not None:
            return
        self._cancelled.set()
        self._mailbox.close()
        if self._link is not None:
            played_ms = None if played_s is None else round(played_s * 1000)
            with suppress(RtvoiceError):  # a connection that has ended: the iteration says so
                await self._link.send(Cancel(utterance=self.number, played_ms=played_ms))

    async def flush(self) -> None:
        """Have what was sent spoken now, without waiting for the end of its sentence."""
        if self._link is not None and self.result is None:
            await self._link.send(Flush(utterance=self.number))

    async def __aiter__(self) -> AsyncGenerator[Frame, None]:
        if self._begun:
            raise RuntimeError("an utterance is iterated over once")
        self._begun = True
        if self._cancelled.is_set():
            return
        link = await self._line.link()
        if self._cancelled.is_set():  # meanwhile
            return
        self._link = link
        self.number = link.register(self._mailbox)
        feeder: asyncio.Task[None] | None = None
        try:
            # The first thing that is written of it, here and now: a cancel from anywhere comes behind it.
            await link.send(replace(self._options, utterance=self.number))
            feeder = asyncio.create_task(self._feed(link, self.number), name=f"text of utterance {self.number}")
            async with aclosing(self._frames()) as frames:
                async for frame in frames:
                    yield frame
        except ConnectionLost as error:
            raise self._heard.lost(error) from error
        finally:
            if feeder is not None:
                feeder.cancel()
                await asyncio.wait([feeder])
            link.forget(self.number)
            await self.cancel()

    async def _frames(self) -> AsyncGenerator[Frame, None]:
        words: tuple[Word, ...] = ()
        phonemes: tuple[Phoneme, ...] = ()
        segment: tuple[int, int] | None = None
        while self.result is None:
            match message := await self._mailbox.read():
                case Segment():
                    segment = (message.start, message.end)
                case Words():
                    words += message.words
                case Phonemes():
                    phonemes += message.phonemes
                case Audio():
                    frame = Frame(message.utterance, message.sample, message.data, words, segment, phonemes)
                    words, segment, phonemes = (), None, ()
                    self._heard.take(frame)
                    yield frame
                case Done() | Cancelled():
                    self.result = message
                case Error():
                    self.result = message
                    raise exception_of(message)

    async def _feed(self, link: Link, number: int) -> None:
        try:
            async for piece in pieces(self._text):
                for start in range(0, len(piece), _PIECE):
                    await link.send(Speak(utterance=number, text=piece[start : start + _PIECE]))
            await link.send(End(utterance=number))
        except Exception as error:
            self._mailbox.fail(error)


class _Heard:
    """How much of an utterance the frames that came speak."""

    def __init__(self, options: Speak) -> None:
        self._rate = options.sample_rate or SAMPLE_RATE
        self._sample_bytes = PCM_FORMATS.get(options.format or "pcm_s16le")  # None where bytes tell no time
        self._words: deque[Word] = deque()  # that have not begun in the audio so far
        self._bytes = 0
        self._characters = 0

    @property
    def _seconds(self) -> float | None:
        return None if self._sample_bytes is None else self._bytes / self._sample_bytes / self._rate

    def take(self, frame: Frame) -> None:
        self._words += frame.words
        self._bytes += len(frame.samples)
        seconds = self._seconds
        while self._words and (seconds is None or self._words[0].start_s < seconds):
            self._characters = max(self._characters, self._words.popleft().end)

    def lost(self, error: ConnectionLost) -> ConnectionLost:
        """The error, and what had been spoken before it."""
        seconds = self._seconds
        audio_ms = None if seconds is None else int(seconds * 1000)
        message = f"{error} The first {self._characters} characters of the utterance had been spoken."
        return type(error)(message, spoken_characters=self._characters, audio_ms=audio_ms)
