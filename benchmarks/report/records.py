"""What was measured: the content of the JSON lines."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Points = tuple[tuple[float, float], ...]

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Held:
    """Memory at a moment, in bytes.

    Attributes:
        processes: of the server's process tree; pages that several map are shared out among them (PSS).
        files: what the kernel keeps of the files it loads beside that. Pages that are mapped count with the processes.
        group: by how much the control group has grown since before the server started, or None without one.
    """

    processes: int
    files: int
    group: int | None

    @property
    def total(self) -> int:
        """Processes and files."""
        return self.processes + self.files


@dataclass(frozen=True, slots=True)
class Heard:
    """A sentence as a client heard it.

    Attributes:
        sentence: its number in the benchmark's file.
        first_audio_s: from asking to the first samples.
        audio_s: seconds of speech.
        level: root mean square of the samples, 0 to 1.
    """

    sentence: int
    first_audio_s: float
    audio_s: float
    level: float


@dataclass(frozen=True, slots=True)
class Load:
    """What clients at once had made.

    Attributes:
        clients: how many, each asking for its next sentence when it has the last.
        heard: every sentence.
        wall_s: from the first request to the last sample.
        cpu_s: of the server's process tree.
        bytes_held: memory of the processes while they worked, on average.
    """

    clients: int
    heard: tuple[Heard, ...]
    wall_s: float
    cpu_s: float
    bytes_held: float

    @property
    def audio_s(self) -> float:
        """Seconds of speech."""
        return sum(one.audio_s for one in self.heard)

    @property
    def audio_s_per_cpu_s(self) -> float:
        """Seconds of speech a CPU-second."""
        return self.audio_s / self.cpu_s

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """Read what JSON has."""
        return cls(**{**data, "heard": tuple(Heard(**one) for one in data["heard"])})


@dataclass(frozen=True, slots=True)
class Serve:
    """A server's start, its work for four clients, and the quiet after that.

    Attributes:
        cold_start_s: from the start of the process to first audio, files in the page cache.
        load: the work.
        warm: memory at the end of the quiet.
        idle_cpu: CPU-seconds a second of quiet.
        timeline: seconds since the last response, bytes of the processes.
        sample: name of the file with a sentence to listen to.
    """

    cold_start_s: float
    load: Load
    warm: Held
    idle_cpu: float
    timeline: Points
    sample: str | None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """Read what JSON has."""
        read = {"load": Load.of(data["load"]), "warm": Held(**data["warm"]), "timeline": _points(data["timeline"])}
        return cls(**{**data, **read})


@dataclass(frozen=True, slots=True)
class Cycle:
    """A release and a restore: memory between them, and what it took to be heard again."""

    released: Held
    restored_s: float
    restore_cpu_s: float


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """A server that is released and restored, again and again.

    Attributes:
        idle_s: seconds of quiet to a release.
        cycles: what came of each.
        spoken_s: when, on the timeline, it had spoken before each release.
        asked_s: when it was asked to speak after each.
        timeline: seconds since it listened, bytes of the processes.
    """

    idle_s: float
    cycles: tuple[Cycle, ...]
    spoken_s: tuple[float, ...]
    asked_s: tuple[float, ...]
    timeline: Points

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """Read what JSON has."""
        cycles = tuple(Cycle(**{**one, "released": Held(**one["released"])}) for one in data["cycles"])
        moments = tuple(data["spoken_s"]), tuple(data["asked_s"])
        return cls(data["idle_s"], cycles, *moments, _points(data["timeline"]))


@dataclass(frozen=True, slots=True)
class Clients:
    """The same server under more and more clients."""

    loads: tuple[Load, ...]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """Read what JSON has."""
        return cls(tuple(Load.of(one) for one in data["loads"]))


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A form of the generator's two stages, on one thread, a second of speech.

    Attributes:
        cpu_s: CPU-seconds.
        gmac: multiplications of the residual blocks, in 10^9.
        gbytes: what these must move at least, in 10^9 bytes: their inputs, outputs and kernels.
        memory_mb: of both stages and their kernels.
    """

    cpu_s: float
    gmac: float
    gbytes: float
    memory_mb: float


@dataclass(frozen=True, slots=True)
class Peaks:
    """What one core can do: float32 operations and memory traffic a second, in 10^9."""

    gflops: float
    gbytes_s: float


@dataclass(frozen=True, slots=True)
class End:
    """That a run came to its end, and the names of the cells it left out for lack of time."""

    left_out: tuple[str, ...]


Measured = Serve | Lifecycle | Clients | Rewrite | Peaks | End

_OF: Mapping[str, Callable[[Mapping[str, Any]], Measured]] = {
    "serve": Serve.of,
    "lifecycle": Lifecycle.of,
    "clients": Clients.of,
    "rewrite": lambda data: Rewrite(**data),
    "peaks": lambda data: Peaks(**data),
    "end": lambda data: End(tuple(data["left_out"])),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of results.

    Attributes:
        cell: name of what was measured.
        at: when it was done.
        took_s: how long that took.
        context: what must be equal for lines to be compared: machine, weights, sentences, profile, version.
        versions: of the engine's libraries.
        measured: what came of it, as JSON has it; None if it failed.
        error: why it failed.
    """

    cell: str
    at: str
    took_s: float
    context: Mapping[str, Any]
    versions: Mapping[str, str]
    measured: Mapping[str, Any] | None = None
    error: str = ""

    @property
    def kind(self) -> str:
        """Of its cell."""
        return self.cell.split("/")[0]

    @property
    def subject(self) -> str:
        """Of its cell."""
        return self.cell.split("/")[1]

    def decoded(self) -> Measured | None:
        """What was measured."""
        return None if self.measured is None else _OF[self.kind](self.measured)


def encoded(measured: Measured) -> dict[str, Any]:
    """As JSON has it."""
    return asdict(measured)


def _points(data: Any) -> Points:  # noqa: ANN401 - JSON
    return tuple((float(x), float(y)) for x, y in data)
