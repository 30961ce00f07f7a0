"""Engines as servers: how each is called and started."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchmarks.baselines import ROWS, STEPS, Row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_ENDLESS_S = "1000000"
"""Audio made ahead of the listener: clients of a benchmark do not play."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where things lie.

    Attributes:
        serving: interpreter of rtvoice's own environment.
        reference: interpreter of the environment with torch and the others.
        cache: prepared files.
    """

    serving: Path
    reference: Path
    cache: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """An engine behind the server.

    Attributes:
        label: how tables call it.
        row: the engine.
        own: whether rtvoice serves it as its users have it; else the engine is put behind the seam.
    """

    label: str
    row: Row
    own: bool = False

    @property
    def caveat(self) -> str:
        """What makes it another thing than the others."""
        return self.row.caveat

    def python(self, places: Places) -> Path:
        """The interpreter it runs in."""
        return places.serving if self.row.environment == "serving" else places.reference

    def command(self, places: Places, idle_release_s: float | None) -> Sequence[str]:
        """What starts the server.

        Args:
            places: where things lie.
            idle_release_s: seconds without speech to a release; None for never.
        """
        release = "off" if idle_release_s is None else f"{idle_release_s:g}"
        common = ["--idle-release", release, "--audio-ahead", _ENDLESS_S]
        python = str(self.python(places))
        if self.own:
            own = str(places.cache / "rtvoice")
            folders = ["--cache-dir", own, "--data-dir", own]
            quiet = ["--port", "0", "--log", "json", "--no-page", "--max-wait", "off"]
            quiet += ["--precision", self.row.options.get("precision", "auto")]
            return [python, "-W", "ignore", "-m", "rtvoice", "serve", *quiet, *folders, *common]
        served = [python, "-W", "ignore", "-m", "benchmarks.served", self.row.name, str(places.cache)]
        return [*served, "--g2p-python", str(places.serving), *common]


SUBJECTS: Final = {
    **{name: Subject(label=row.label, row=row) for name, row in (ROWS | STEPS).items()},
    **{name: Subject(label=ROWS[name].label, row=ROWS[name], own=True) for name in ("rtvoice", "rtvoice-f32")},
    "rtvoice-in-order": Subject(label="rtvoice, sentence after sentence", row=ROWS["rtvoice-f32"]),
}
"""Every engine that can be served, by its name in plans and results."""
