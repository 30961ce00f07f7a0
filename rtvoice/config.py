"""What can be configured: frozen dataclasses, built once by whoever starts rtvoice and passed down.

Nothing here reads the environment or the disk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE_RATE = 24_000
"""Samples a second that the model makes, in Hz."""

PCM_FORMATS = {"pcm_s16le": 2, "pcm_f32le": 4, "mulaw": 1, "alaw": 1}
"""Formats of bare samples, and how many bytes a sample has in them."""

AUDIO_FORMATS = (*PCM_FORMATS, "wav", "mp3", "opus")
"""Audio formats that can be asked for, the default first. wav is 16 bit, opus comes in Ogg."""

SAMPLE_RATES = (8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
"""Samples a second that can be asked for, in Hz."""

OPUS_RATES = (8_000, 16_000, 24_000, 48_000)
"""Those that Opus has."""

MAX_PAUSE_MS = 10_000
"""The longest pause between two sentences that can be asked for."""

DEFAULT_PORT = 8765
DEFAULT_VOICE = "af_heart"
MIN_SPEED, MAX_SPEED = 0.5, 2.0


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """What audio leaves as.

    Attributes:
        encoding: one of `AUDIO_FORMATS`.
        sample_rate: one of `SAMPLE_RATES`, in Hz.
    """

    encoding: str = AUDIO_FORMATS[0]
    sample_rate: int = SAMPLE_RATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Where rtvoice keeps files.

    Attributes:
        cache: what can be made again (the built model, compiled graphs). May be read-only once complete.
        data: what the user added (voices).
    """

    cache: Path
    data: Path


Precision: TypeAlias = Literal["f32", "bf16"]
"""Of what the generator and the decoder multiply; they add in float32."""

PrecisionChoice: TypeAlias = Literal["auto", "f32", "bf16"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfig:
    """One engine: the model, its share of the machine, its helper process.

    Attributes:
        paths: where the built model and added voices lie.
        streams: segments synthesised at once; None sizes it from the cores the process may use.
        threads: threads of one inference; None likewise.
        precision: of what decoder and sliced generator multiply: "f32", "bf16", or "auto" for bfloat16 where this
            machine multiplies it faster; what they sound like differs by far less than two draws of the noise.
        checkpoint: identity of the checkpoint that the model is built from, or None for the packaged weights.
        voices: names of the voices that are offered, the default first; None offers all there are.
        unfitted: whether voices and blends are spoken to which nothing was fitted: sentence by sentence, for another
            gigabyte of memory and more until nobody has spoken for a while.
    """

    paths: Paths
    streams: int | None = None
    threads: int | None = None
    precision: PrecisionChoice = "auto"
    checkpoint: str | None = None
    voices: tuple[str, ...] | None = None
    unfitted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one peer may ask for.

    Attributes:
        text_characters: characters of one utterance.
        message_bytes: bytes of one incoming message; room for all of an utterance's text, escaped, in one.
        utterances: utterances of one session that are open or waiting at once.
        marks: marks in the text of one utterance.
        connections: sessions at once.
    """

    text_characters: int = 20_000
    message_bytes: int = 1 << 18
    utterances: int = 32
    marks: int = 1_000
    connections: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLimits:
    """What one client may use over all its sessions: the holder of a key, or an address. None is no limit.

    Attributes:
        connections: at once.
        utterances_per_minute: that are begun.
        characters_per_minute: of text.
    """

    connections: int | None = None
    utterances_per_minute: int | None = None
    characters_per_minute: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What the running cost is reckoned with, in any currency. The defaults are what clouds ask in US dollars.

    Attributes:
        cpu_s: a CPU-second.
        gib_s: a GiB of memory for a second.
    """

    cpu_s: float = 1.8e-5
    gib_s: float = 2.0e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """The endpoint.

    Attributes:
        host: address to listen on.
        port: port to listen on, 0 for any free one.
        root_path: path under which a proxy passes requests on, as `/voice`; those without it are answered as well.
        certificate: PEM file of the certificate chain, or None for no TLS.
        private_key: PEM file of its key; None if that is in the same file.
        keys: file of API keys (see `rtvoice.serving.access`); None lets everybody in.
        limits: what one peer may ask for.
        client_limits: what one client may use.
        audio_ahead_s: seconds of audio synthesised ahead of the listener at most.
        idle_release_s: seconds without speech after which the engine gives its memory back; None never does.
        start_cold: whether the engine is loaded for the first speech rather than before the first connection.
        wait_s: longest wait for first audio that is admitted, in seconds as predicted; None admits everybody.
        prewarm: whether a connection has the engine loaded before it asks for speech.
        prices: of the running cost.
        drain_s: seconds that speech under way may take to finish after SIGTERM.
        web: folder of the static page, or None for no page.
        control: whether texts may carry commands where an utterance asks for it: pauses, phonemes, SSML.
        early_cut: whether the first clause of an utterance is spoken before its sentence is written, where that pays.
        lexicon: file of how words are said (`rtvoice.text.lexicon`), read again when it changes; or None.
        origins: origins (`https://example.org`) whose pages may open the socket, beside the server's own.
        trusted_proxies: addresses or networks of proxies whose `X-Forwarded-For` says who a client is.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    root_path: str = ""
    certificate: Path | None = None
    private_key: Path | None = None
    keys: Path | None = None
    limits: Limits = field(default_factory=Limits)
    client_limits: ClientLimits = field(default_factory=ClientLimits)
    audio_ahead_s: float = 8.0
    idle_release_s: float | None = 60.0
    start_cold: bool = False
    wait_s: float | None = 15.0
    prewarm: bool = False
    prices: Prices = field(default_factory=Prices)
    drain_s: float = 20.0
    web: Path | None = None
    control: bool = False
    early_cut: bool = False
    lexicon: Path | None = None
    origins: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
