"""What the generator multiplies: float32, or bfloat16 where the processor does that twice as fast."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rtvoice.config import Precision, PrecisionChoice

_FLAGS: Final = frozenset({"avx512_bf16", "amx_bf16"})
"""Of processors with products of bfloat16 that are summed in float32, as Linux names them."""


def choose_precision(wanted: PrecisionChoice, cpuinfo: Path = Path("/proc/cpuinfo")) -> Precision:
    """Return what is wanted; for "auto", bfloat16 if this processor has products of such numbers.

    Args:
        wanted: see `rtvoice.config.EngineConfig`.
        cpuinfo: where Linux describes the processor. Elsewhere nothing is known, and float32 is chosen.
    """
    if wanted != "auto":
        return wanted
    try:
        described = cpuinfo.read_text("utf-8", "replace")
    except OSError:
        return "f32"
    flags = next((line for line in described.splitlines() if line.startswith("flags")), "")
    return "bf16" if _FLAGS & set(flags.split()) else "f32"
