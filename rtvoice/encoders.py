"""Streams of audio in the format a listener asked for: other sample rates, files that never end, codecs.

An encoder belongs to one utterance. What it returns, joined, is the utterance in that format; every format lasts as
long as the samples that went in, to the nearest sample or, where a codec has frames (mp3), to one frame.
"""

from __future__ import annotations

import io
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rtvoice.audio import encode
from rtvoice.config import AUDIO_FORMATS, OPUS_RATES, PCM_FORMATS, SAMPLE_RATE, SAMPLE_RATES
from rtvoice.errors import InvalidInput
from rtvoice.wav import wav_header

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from av import AudioFrame
    from av.audio.stream import AudioStream
    from numpy.typing import NDArray
    from soxr import ResampleStream

    from rtvoice.config import AudioFormat

_CODECS = ("mp3", "opus")
_MP3_BITS_PER_S = 64_000
_OPUS_BITS_PER_S = 48_000
_OPUS_PAGE_US = "20000"  # one packet a page, so that no packet waits for others


def available_formats() -> tuple[str, ...]:
    """Names of the formats that can be made here, the default first: mp3 and opus need the extra `codecs`."""
    if find_spec("av") is not None:
        return AUDIO_FORMATS
    return tuple(name for name in AUDIO_FORMATS if name not in _CODECS)


def check_format(audio_format: AudioFormat) -> None:
    """Refuse a format that cannot be made here.

    Raises:
        InvalidInput: names the field, `format` or `sample_rate`, and what is allowed.
    """
    formats = available_formats()
    if audio_format.encoding not in formats:
        known = audio_format.encoding in AUDIO_FORMATS
        what = "needs the extra `codecs` (pip install rtvoice[codecs])" if known else "is no audio format"
        raise InvalidInput(f"{audio_format.encoding[:32]!r} {what}.", field="format", allowed=formats)
    rates = OPUS_RATES if audio_format.encoding == "opus" else SAMPLE_RATES
    if audio_format.sample_rate not in rates:
        raise InvalidInput(
            f"{audio_format.encoding} has no sample rate of {audio_format.sample_rate} Hz.",
            field="sample_rate",
            allowed=tuple(str(rate) for rate in rates),
        )


def at_rate(samples: int, rate: int) -> int:
    """How many samples at another rate last as long as so many at 24 kHz, to the nearest one."""
    return (2 * samples * rate + SAMPLE_RATE) // (2 * SAMPLE_RATE)


class Resampler:
    """From the model's rate to another, stretch by stretch, without latency at the joins.

    A stretch is what lies between two joins, say a sentence. Each is resampled on its own, so that nothing of it
    waits for what comes after; it should begin and end in silence. Over all of them lengths add up: N samples have
    become `round(N * rate / 24000)` at every join.
    """

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._taken = self._given = 0
        self._stream: ResampleStream | None = None if rate == SAMPLE_RATE else self._open()

    def convert(self, samples: NDArray[np.float32], *, joins: bool) -> NDArray[np.float32]:
        """Take samples [N] at 24 kHz; `joins` if they are the last of their stretch. Returns what is ready, [M]."""
        if self._stream is None:
            return samples
        self._taken += len(samples)
        ready: NDArray[np.float32] = self._stream.resample_chunk(samples, last=joins)
        if joins:
            missing = at_rate(self._taken, self._rate) - self._given
            ready = np.pad(ready[:missing], (0, max(0, missing - len(ready))))
            self._stream = self._open()
        self._given += len(ready)
        return ready

    def _open(self) -> ResampleStream:
        import soxr

        return soxr.ResampleStream(SAMPLE_RATE, self._rate, 1, dtype="float32", quality="HQ")


class Codec(Protocol):
    """From samples at the stream's rate to bytes."""

    def encode(self, samples: NDArray[np.float32]) -> bytes:
        """Take samples [N]; returns the bytes that are ready, perhaps none."""

    def finish(self) -> bytes:
        """Return what is left. Nothing is encoded after this."""


class Encoder:
    """One utterance's audio in a format.

    Args:
        audio_format: checked by `check_format`.

    Attributes:
        position: where the next bytes lie: in a format of bare samples the index of their first sample, in all others
            the number of bytes before them.
    """

    def __init__(self, audio_format: AudioFormat) -> None:
        self.position = 0
        self._sample_bytes = PCM_FORMATS.get(audio_format.encoding, 1)
        self._resampler = Resampler(audio_format.sample_rate)
        self._codec = _codec(audio_format)

    def encode(self, samples: NDArray[np.float32], *, joins: bool) -> tuple[int, bytes]:
        """Take samples [N] at 24 kHz; `joins` if a sentence ends with them.

        Returns:
            The position of the bytes that are ready, and those bytes: perhaps none.
        """
        return self._placed(self._codec.encode(self._resampler.convert(samples, joins=joins)))

    def finish(self) -> tuple[int, bytes]:
        """End the stream; returns as `encode` does. The last samples before it were those of a join."""
        return self._placed(self._codec.finish())

    def _placed(self, data: bytes) -> tuple[int, bytes]:
        at = self.position
        self.position += len(data) // self._sample_bytes
        return at, data


def _codec(audio_format: AudioFormat) -> Codec:
    match audio_format.encoding:
        case "wav":
            return _Wav(audio_format.sample_rate)
        case "mp3":
            return _Mp3(audio_format.sample_rate)
        case "opus":
            return _OggOpus(audio_format.sample_rate)
        case name:
            return _Samples(name)


class _Samples:
    """Bare samples."""

    def __init__(self, name: str) -> None:
        self._name = name

    def encode(self, samples: NDArray[np.float32]) -> bytes:
        return encode(samples, self._name)

    def finish(self) -> bytes:
        return b""


class _Wav:
    """16 bit samples behind a header that gives no length, as streams have it."""

    def __init__(self, rate: int) -> None:
        self._header = wav_header("pcm_s16le", rate)

    def encode(self, samples: NDArray[np.float32]) -> bytes:
        header, self._header = self._header, b""
        return header + encode(samples, "pcm_s16le")

    def finish(self) -> bytes:
        header, self._header = self._header, b""
        return header


class _Mp3:
    """MPEG layer III, frames only.

    The frames that hold nothing but the encoder's delay are left out, so that the sound does not begin late. That
    asks for frames that stand alone: no bit reservoir, and no header that tells of the delay.
    """

    def __init__(self, rate: int) -> None:
        import av

        context = av.CodecContext.create("libmp3lame", "w")
        context.sample_rate = rate
        context.layout = "mono"
        context.format = "s16p"
        context.bit_rate = _MP3_BITS_PER_S
        context.options = {"reservoir": "0"}
        context.open()
        self._context = context
        self._taken = 0

    def encode(self, samples: NDArray[np.float32]) -> bytes:
        data = self._packets(_frame(samples, self._taken, self._context.sample_rate)) if len(samples) else b""
        self._taken += len(samples)
        return data

    def finish(self) -> bytes:
        return self._packets(None) if self._taken else b""

    def _packets(self, frame: AudioFrame | None) -> bytes:
        return b"".join(bytes(packet) for packet in self._context.encode(frame) if (packet.pts or 0) >= 0)


class _OggOpus:
    """Opus in Ogg, whose header and last page say exactly how long the sound is."""

    def __init__(self, rate: int) -> None:
        import av

        self._sink = _Sink()
        self._container = av.open(self._sink, "w", format="ogg", options={"page_duration": _OPUS_PAGE_US})
        self._stream: AudioStream = self._container.add_stream("libopus", rate=rate, layout="mono")
        self._stream.codec_context.bit_rate = _OPUS_BITS_PER_S
        self._rate = rate
        self._taken = 0

    def encode(self, samples: NDArray[np.float32]) -> bytes:
        if len(samples):
            self._container.mux(self._stream.encode(_frame(samples, self._taken, self._rate)))
            self._taken += len(samples)
        return self._sink.take()

    def finish(self) -> bytes:
        if self._taken:
            self._container.mux(self._stream.encode(None))
        self._container.close()
        return self._sink.take() if self._taken else b""


class _Sink(io.RawIOBase):
    """Where a container writes to: bytes that are taken away as they come."""

    def __init__(self) -> None:
        super().__init__()
        self._data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        self._data += data
        return memoryview(data).nbytes

    def take(self) -> bytes:
        data = bytes(self._data)
        self._data.clear()
        return data


def _frame(samples: NDArray[np.float32], at: int, rate: int) -> AudioFrame:
    """PyAV's frame of samples [N], the first one the stream's sample number `at`."""
    from av import AudioFrame

    frame = AudioFrame.from_ndarray(
        np.frombuffer(encode(samples, "pcm_s16le"), np.int16)[np.newaxis], format="s16", layout="mono"
    )
    frame.sample_rate = rate
    frame.pts = at
    return frame
