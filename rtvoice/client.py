"""The asyncio client: utterances over one connection to a server."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rtvoice.errors import RtvoiceError
from rtvoice.link import Link, Mailbox, exception_of, open_link
from rtvoice.pieces import pieces
from rtvoice.protocol.messages import Audio, Cancel, Cancelled, Done, End, Error, Flush, Segment, Speak, Word, Words

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable, Mapping
    from ssl import SSLContext

    from rtvoice.protocol.messages import Ready, Terminal

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
    """

    utterance: int
    index: int
    samples: bytes = field(repr=False)
    words: tuple[Word, ...] = ()
    segment: tuple[int, int] | None = None


@asynccontextmanager
async def connect(
    url: str, *, key: str | None = None, origin: str | None = None, ssl: SSLContext | None = None
) -> AsyncIterator[Session]:
    """Open a session with a server.

    Args:
        url: the server's address, as `ws://127.0.0.1:8765`.
        key: an API key or a token, if the server wants one.
        origin: what to send as the `Origin` header, if anything.
        ssl: how the server's certificate is checked, for `wss`; by default against those that this system trusts.

    Yields:
        The session. Leaving closes it, which cancels what has not ended.

    Raises:
        InvalidInput: the URL is none.
        Overloaded: the server takes no more sessions now.
        ConnectionLost: there is no server, it is no rtvoice of this protocol version, or it wants another key.
    """
    link, ready = await open_link(url, key=key, origin=origin, ssl=ssl)
    async with link:
        yield Session(link, ready)


class Session:
    """A connection on which utterances are spoken, one after the other in the order in which they are begun.

    Made by `connect`. It belongs to one event loop; several tasks may use it at once. Whoever does not iterate over an
    utterance that was begun stops the ones behind it.

    Attributes:
        ready: what the server offers: voices, languages, formats, limits.
    """

    def __init__(self, link: Link, ready: Ready) -> None:
        self.ready = ready
        self._link = link

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
        )
        return Utterance(self._link, text, options)


class Utterance:
    """One request: iterate over it, once, for its frames.

    ::

        utterance = session.speak(tokens)
        async for frame in utterance:
            play(frame.samples)

    Leaving the iteration early cancels the utterance. The iteration raises `InvalidInput`, `TextTooLong`, `Overloaded`,
    `SynthesisFailed`, `ServerStopping` or `ConnectionLost`, and what the text itself raises.

    Attributes:
        number: its number in the session, None before it has begun.
        result: its terminal message once that has been read.
    """

    def __init__(self, link: Link, text: str | Iterable[str] | AsyncIterable[str], options: Speak) -> None:
        self.number: int | None = None
        self.result: Terminal | None = None
        self._link = link
        self._text = text
        self._options = options
        self._mailbox = Mailbox()
        self._begun = self._cancelled = False

    async def cancel(self, played_s: float | None = None) -> None:
        """Stop it. The iteration yields no further frame and ends when the server has acknowledged.

        Args:
            played_s: how much of its audio was heard, in seconds: `result` then says which text that was. By default
                as much as somebody has heard who plays it in real time.

        An utterance that has not begun will not; one that has ended is left as it is.
        """
        if self._cancelled or self.result is not None:
            return
        self._cancelled = True
        self._mailbox.close()
        if self.number is not None:
            played_ms = None if played_s is None else round(played_s * 1000)
            await self._link.send(Cancel(utterance=self.number, played_ms=played_ms))

    async def flush(self) -> None:
        """Have what was sent spoken now, without waiting for the end of its sentence."""
        if self.number is not None and self.result is None:
            await self._link.send(Flush(utterance=self.number))

    async def __aiter__(self) -> AsyncGenerator[Frame, None]:
        if self._begun:
            raise RuntimeError("an utterance is iterated over once")
        self._begun = True
        if self._cancelled:
            return
        self.number = self._link.register(self._mailbox)
        feeder: asyncio.Task[None] | None = None
        words: tuple[Word, ...] = ()
        segment: tuple[int, int] | None = None
        try:
            # The first thing that is written of it, here and now: a cancel from anywhere comes behind it.
            await self._link.send(replace(self._options, utterance=self.number))
            feeder = asyncio.create_task(self._feed(self.number), name=f"text of utterance {self.number}")
            while self.result is None:
                match message := await self._mailbox.read():
                    case Segment():
                        segment = (message.start, message.end)
                    case Words():
                        words += message.words
                    case Audio():
                        yield Frame(message.utterance, message.sample, message.data, words, segment)
                        words, segment = (), None
                    case Done() | Cancelled():
                        self.result = message
                    case Error():
                        self.result = message
                        raise exception_of(message)
        finally:
            if feeder is not None:
                feeder.cancel()
                await asyncio.wait([feeder])
            self._link.forget(self.number)
            with suppress(RtvoiceError):
                await self.cancel()

    async def _feed(self, number: int) -> None:
        try:
            async for piece in pieces(self._text):
                for start in range(0, len(piece), _PIECE):
                    await self._link.send(Speak(utterance=number, text=piece[start : start + _PIECE]))
            await self._link.send(End(utterance=number))
        except Exception as error:
            self._mailbox.fail(error)
