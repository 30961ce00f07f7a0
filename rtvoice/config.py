"""What can be configured: frozen dataclasses, built once by whoever starts rtvoice and passed down.

Nothing here reads the environment or the disk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE_RATE = 24_000
"""Samples a second that the model makes, in Hz."""

AUDIO_FORMATS = ("pcm_s16le", "pcm_f32le")
"""Sample formats that can be asked for, the default first."""

DEFAULT_PORT = 8765
DEFAULT_VOICE = "af_heart"
MIN_SPEED, MAX_SPEED = 0.5, 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Where rtvoice keeps files.

    Attributes:
        cache: what can be made again (the built model, compiled graphs). May be read-only once complete.
        data: what the user added (voices).
    """

    cache: Path
    data: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConfig:
    """One engine: the model, its share of the machine, its helper process.

    Attributes:
        paths: where the built model and added voices lie.
        streams: segments synthesised at once; None sizes it from the cores the process may use.
        threads: threads of one inference; None likewise.
        checkpoint: identity of the checkpoint that the model is built from, or None for the packaged weights.
        voices: names of the voices that are offered, the default first; None offers all there are.
    """

    paths: Paths
    streams: int | None = None
    threads: int | None = None
    checkpoint: str | None = None
    voices: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one peer may ask for.

    Attributes:
        text_characters: characters of one utterance.
        message_bytes: bytes of one incoming message; room for all of an utterance's text, escaped, in one.
        utterances: utterances of one session that are open or waiting at once.
        connections: sessions at once.
    """

    text_characters: int = 20_000
    message_bytes: int = 1 << 18
    utterances: int = 32
    connections: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """The endpoint.

    Attributes:
        host: address to listen on.
        port: port to listen on, 0 for any free one.
        limits: what one peer may ask for.
        audio_ahead_s: seconds of audio synthesised ahead of the listener at most.
        drain_s: seconds that speech under way may take to finish after SIGTERM.
        web: folder of the static page, or None for no page.
        origins: origins (`https://example.org`) whose pages may open the socket, beside the server's own.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    limits: Limits = field(default_factory=Limits)
    audio_ahead_s: float = 8.0
    drain_s: float = 20.0
    web: Path | None = None
    origins: tuple[str, ...] = ()
