"""Voices: where they lie, how they are packed, and the row of one that fits an utterance.

A voice of Kokoro is a matrix: one row (a style, 256 numbers) for every length of input, from 1 to 510 phonemes. Rows
follow each other smoothly, so a voice packs well: as float16, each number replaced by its difference from the one in
the row above (of the 16-bit patterns, modulo 65,536), column after column, then xz. That is about 28 KB where upstream
has 510, and no further loss. float16 itself moves a number by at most 5 parts in 10,000.
"""

from __future__ import annotations

import io
import lzma
import re
import shlex
from importlib import resources
from typing import TYPE_CHECKING, Final

import numpy as np

from rtvoice.blends import canonical, is_blend_of, read_blend
from rtvoice.config import DEFAULT_VOICE
from rtvoice.errors import InvalidInput, SetupError
from rtvoice.speech.files import write_atomically
from rtvoice.speech.statistics import BlendedMap, StatisticsMap
from rtvoice.speech.synthesizer import VoiceInfo, find_voice

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from numpy.typing import NDArray

    from rtvoice.speech.statistics import Predictor

ROWS: Final = 510
"""Rows of a voice: lengths of input, in phonemes."""

STYLE: Final = 256
"""Numbers of a style: the first half shapes the sound, the second half the prosody."""

LANGUAGES: Final = {
    "a": "en-us",
    "b": "en-gb",
    "e": "es",
    "f": "fr-fr",
    "h": "hi",
    "i": "it",
    "j": "ja",
    "p": "pt-br",
    "z": "zh",
}
"""What the first letter of a voice's name says. The second one is `f` or `m`."""

_NAME = re.compile(r"[abefhijpz][fm]_[a-z0-9]+")
_SUFFIX = ".xz"
_STATISTICS = ".npz"

# LZMA with its contexts aligned to two bytes; xz's own container brings a CRC of 64 bits.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 1, "lp": 1, "pb": 1}]


def pack(styles: NDArray[np.float32]) -> bytes:
    """Pack a voice [510, 256]. Numbers are rounded to float16.

    Raises:
        ValueError: the array has another shape, or a number that is not finite as float16.
    """
    if styles.shape != (ROWS, STYLE):
        raise ValueError(f"a voice has the shape ({ROWS}, {STYLE}), not {styles.shape}")
    halves = styles.astype("<f2")
    if not np.isfinite(halves).all():
        raise ValueError("a voice holds finite numbers only")
    columns = halves.T.copy().view("<u2")  # (256, 510)
    differences = np.diff(columns, axis=1, prepend=np.uint16(0))
    return lzma.compress(differences.astype("<u2").tobytes(), lzma.FORMAT_XZ, filters=_FILTERS)


def unpack(packed: bytes) -> NDArray[np.float16]:
    """Unpack a voice [510, 256].

    Raises:
        ValueError: these are not the bytes of a voice, or they are damaged.
    """
    try:
        differences = np.frombuffer(lzma.decompress(packed, lzma.FORMAT_XZ), "<u2").reshape(STYLE, ROWS)
    except lzma.LZMAError as damaged:
        raise ValueError(str(damaged)) from damaged
    columns = np.cumsum(differences, axis=1, dtype=np.uint16).view(np.float16)  # (256, 510)
    return np.ascontiguousarray(columns.T)


def describe(name: str) -> VoiceInfo:
    """Read a voice's language and gender from its name.

    Raises:
        ValueError: it is not the name of a voice.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of a voice")
    return VoiceInfo(name, LANGUAGES[name[0]], "female" if name[1] == "f" else "male")


class VoiceStore:
    """The voices that can be spoken with: those in the package and those the user added.

    It reads the list of voices once, when it is made, and each voice when it is first asked for (see `prepare`). Voices
    are data and are read as such; nothing is unpickled.

    Args:
        data: the user's data directory; added voices lie in `voices/` below it. It need not exist.
        offered: names of the voices to offer, the default first; None for all there are. Blends of them need no offer.
        unfitted: whether those are among them to which nothing was fitted.

    Raises:
        InvalidInput: one of the voices to offer does not exist, or nothing was fitted to it.
    """

    def __init__(self, data: Path, offered: Sequence[str] | None = None, *, unfitted: bool = True) -> None:
        self._added = data / "voices"
        self._unfitted = unfitted
        self._files = _packaged() | self._found()
        self._styles: dict[str, NDArray[np.float16]] = {}
        self._maps: dict[str, StatisticsMap | None] = {}
        self._unread = set(self.fitted_blends)
        self._blends: dict[str, BlendedMap] = {}
        names = sorted(self._files, key=lambda name: (name != DEFAULT_VOICE, name))
        self._infos = tuple(describe(name) for name in names if unfitted or self.is_fitted(name))
        if offered is not None:
            known = {info.name: info for info in self._infos}
            for name in offered:
                if name not in known:
                    self._refuse_unfitted(name)
                    raise InvalidInput(f"There is no voice named {name!r}.", field="voice", allowed=tuple(known))
            self._infos = tuple(known[name] for name in dict.fromkeys(offered))

    @property
    def infos(self) -> tuple[VoiceInfo, ...]:
        """The voices on offer: the default first, then by name, or in the order that was asked for."""
        return self._infos

    @property
    def fitted_blends(self) -> list[str]:
        """Formulas of the blends that something was fitted to, of voices that there are."""
        files = self._added.glob("*+*" + _STATISTICS) if self._added.is_dir() else ()
        return sorted(file.stem for file in files if is_blend_of(file.stem, self._files))

    @property
    def names(self) -> tuple[str, ...]:
        """Their names in the same order."""
        return tuple(info.name for info in self._infos)

    def info(self, name: str) -> VoiceInfo:
        """Look up a voice, or a blend of voices on offer (`rtvoice.blends`), which has its first voice's language.

        Raises:
            InvalidInput: there is no voice of that name.
        """
        if is_blend_of(name, self._files):
            for share in read_blend(name, self._files):
                if share.voice not in self.names:
                    self._refuse_unfitted(share.voice)
        return find_voice(name, self._infos)

    def check(self, name: str) -> None:
        """Refuse a voice or a blend that is not to be spoken. Reads no file.

        Raises:
            InvalidInput: there is no voice of that name, or nothing was fitted to it, and that is not on offer.
        """
        self.info(name)
        formula = canonical(read_blend(name, self.names))
        if "+" in formula and formula not in self._unread and formula not in self._blends:
            self._refuse_unfitted(formula)

    def prepare(self, name: str) -> None:
        """Read what speaking with a voice or a blend takes, unless that was done: about 15 ms for each voice.

        May run in any thread, so that no event loop waits for it.

        Raises:
            InvalidInput: there is no voice of that name.
            SetupError: a file is damaged.
        """
        self.style(name, 1)
        self.statistics(name)

    def style(self, name: str, phonemes: int) -> NDArray[np.float32]:
        """Return a voice's style for an input of so many phonemes: [1, 256], the caller's own.

        A blend's is the mean of its voices', each with its weight.

        Args:
            name: the voice, or a blend of voices on offer.
            phonemes: length of the input, 1 to 510, without the zeros at its ends.

        Raises:
            InvalidInput: there is no voice of that name.
            SetupError: its file is damaged.
            ValueError: `phonemes` is out of range.
        """
        shares = read_blend(name, self.names)
        if not 1 <= phonemes <= ROWS:
            raise ValueError(f"phonemes: {phonemes} is not in 1..{ROWS}")
        rows = np.stack([self._voice(share.voice)[phonemes - 1] for share in shares]).astype(np.float32)
        parts = np.array([[share.part for share in shares]], np.float32)
        mean: NDArray[np.float32] = np.einsum("is,sf->if", parts, rows)
        return mean

    def statistics(self, name: str) -> Predictor | None:
        """Return what predicts the statistics of the generator's norms for a voice or a blend; None without a map.

        Raises:
            InvalidInput: there is no voice of that name, or no map and that is not on offer.
            SetupError: a file is damaged.
        """
        shares = read_blend(name, self.names)
        fitted = self._map(shares[0].voice) if len(shares) == 1 else self._blend(canonical(shares))
        if fitted is None:
            self._refuse_unfitted(name)
        return fitted

    def _blend(self, formula: str) -> BlendedMap | None:
        if formula in self._unread:
            if (loaded := self._read_blend(formula)) is not None:
                self._blends[formula] = loaded
            self._unread.discard(formula)
        return self._blends.get(formula)

    def blended(self, name: str) -> tuple[tuple[StatisticsMap, ...], tuple[float, ...]] | None:
        """Return the maps of a blend's voices and their parts, as `BlendedMap` has them; None for a single voice.

        Raises:
            InvalidInput: there is no such blend, or one of its voices has no map.
            SetupError: a file is damaged.
        """
        shares = sorted(read_blend(name, self.names), key=lambda share: share.voice)
        if len(shares) == 1:
            return None
        maps = []
        for share in shares:
            if (found := self._map(share.voice)) is None:
                fit = f"rtvoice voices fit {share.voice}"
                raise InvalidInput(f"The voice {share.voice} of the blend has no map; run: {fit}", field="voice")
            maps.append(found)
        return tuple(maps), tuple(share.part for share in shares)

    def is_added(self, name: str) -> bool:
        """Whether the user added this voice, rather than the package bringing it."""
        return name in self._files and name not in _packaged()

    def is_fitted(self, name: str) -> bool:
        """Whether a voice has a map of its statistics. Without one a server may not speak it."""
        return self._statistics_file(name).is_file()

    def add(self, name: str, styles: NDArray[np.float32]) -> None:
        """Keep a voice [510, 256] in the user's data directory. Stores made later have it.

        Raises:
            SetupError: it cannot be written.
            ValueError: it is no voice, or this is no name for one.
        """
        describe(name)
        write_atomically(self._added / (name + _SUFFIX), pack(styles))

    def remove(self, name: str) -> None:
        """Delete an added voice and what was fitted to blends with it, or what was fitted to one blend.

        Stores made later lack it.

        Raises:
            InvalidInput: no voice of that name was added, and no such blend was fitted.
            SetupError: it cannot be deleted.
        """
        try:
            for file in self.files_of(name):
                file.unlink(missing_ok=True)
        except OSError as error:
            raise SetupError(f"The voice {name} cannot be removed: {error}") from error

    def files_of(self, name: str) -> tuple[Path, ...]:
        """The files that removing a voice or a blend deletes; see `remove`.

        Raises:
            InvalidInput: there is nothing to remove.
        """
        blends = [blend for blend in self.fitted_blends if f"{name}(" in blend]
        if self.is_added(name):
            return tuple(self._added / file for file in (name + _SUFFIX, *(b + _STATISTICS for b in (name, *blends))))
        if "+" in name and (formula := canonical(read_blend(name, self.names))) in self.fitted_blends:
            return (self._added / (formula + _STATISTICS),)
        added = tuple(voice for voice in self.names if self.is_added(voice))
        raise InvalidInput(f"No voice named {name!r} was added.", field="voice", allowed=(*added, *self.fitted_blends))

    def keep_statistics(self, name: str, fitted: Predictor) -> None:
        """Keep what was fitted to an added voice or a blend. Stores made later have it.

        Raises:
            InvalidInput: there is no voice of that name.
            SetupError: it cannot be written.
        """
        shares = read_blend(name, self.names)
        packed = io.BytesIO()
        fitted.save(packed)
        stem = shares[0].voice if len(shares) == 1 else canonical(shares)
        write_atomically(self._added / (stem + _STATISTICS), packed.getvalue())

    def _refuse_unfitted(self, name: str) -> None:
        """Say what to do about a voice without a map, or a blend that has none, if they are not on offer."""
        if not self._unfitted and ("+" in name or (name in self._files and not self.is_fitted(name))):
            fit = f"rtvoice voices fit {shlex.quote(name)}"
            raise InvalidInput(
                f"Nothing was fitted to {name}, and nothing else is spoken here. "
                f"Who runs this may run: {fit}, and then start it again",
                field="voice",
                allowed=(*self.names, *self._spoken_blends()),
            )

    def _spoken_blends(self) -> list[str]:
        """Those fitted blends that were there when the store was made, of voices on offer."""
        return sorted(blend for blend in {*self._unread, *self._blends} if is_blend_of(blend, self.names))

    def _voice(self, name: str) -> NDArray[np.float16]:
        """All rows of a voice, [510, 256]."""
        if name not in self._styles:
            self._styles[name] = self._read(name)
        return self._styles[name]

    def _map(self, name: str) -> StatisticsMap | None:
        """The map of a single voice."""
        if name not in self._maps:
            self._maps[name] = self._read_map(name) if self.is_fitted(name) else None
        return self._maps[name]

    def _read_blend(self, formula: str) -> BlendedMap | None:
        """What was fitted to a blend; None if one of its voices has no map, or another one since."""
        try:
            maps, parts = self.blended(formula) or ((), ())
            with (self._added / (formula + _STATISTICS)).open("rb") as opened:
                return BlendedMap.load(opened, maps, parts)
        except InvalidInput:
            return None
        except (OSError, ValueError) as damaged:
            repair = f"rtvoice voices fit '{formula}'"
            raise SetupError(f"What was fitted to {formula} cannot be read ({damaged}); run: {repair}") from damaged

    def _statistics_file(self, name: str) -> Traversable:
        return (self._added if self.is_added(name) else _folder("statistics")) / (name + _STATISTICS)

    def _found(self) -> dict[str, Traversable]:
        """The added voices. What cannot be the name of one is somebody else's file."""
        files = sorted(self._added.glob("*" + _SUFFIX)) if self._added.is_dir() else []
        return {file.stem: file for file in files if _NAME.fullmatch(file.stem) and file.stem not in _packaged()}

    def _read_map(self, name: str) -> StatisticsMap:
        try:
            with self._statistics_file(name).open("rb") as opened:
                return StatisticsMap.load(opened)
        except (OSError, ValueError) as damaged:
            repair = _repair(name, added=self.is_added(name))
            raise SetupError(f"The map of the voice {name} cannot be read ({damaged}); run: {repair}") from damaged

    def _read(self, name: str) -> NDArray[np.float16]:
        try:
            return unpack(self._files[name].read_bytes())
        except (OSError, ValueError) as damaged:
            repair = f"rtvoice voices add {name}" if self.is_added(name) else "pip install --force-reinstall rtvoice"
            raise SetupError(f"The voice {name} cannot be read ({damaged}); run: {repair}") from damaged


def _repair(name: str, *, added: bool) -> str:
    return f"rtvoice voices fit {name}" if added else "pip install --force-reinstall rtvoice"


def packaged_names() -> list[str]:
    """The names of the voices that the package brings."""
    return sorted(_packaged())


def _packaged() -> dict[str, Traversable]:
    return {
        file.name.removesuffix(_SUFFIX): file for file in _folder("voices").iterdir() if file.name.endswith(_SUFFIX)
    }


def _folder(name: str) -> Traversable:
    return resources.files("rtvoice.speech") / "data" / name
