"""Where voices come from: the npm package kokoro-js, which carries all of Kokoro's, or upstream's hub.

Both are pinned, and every voice is checked against the SHA-256 that `data/voices.json` has for it before anything
reads it. Both are for set-up: a serving process never comes here.
"""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from rtvoice.errors import InvalidInput, SetupError
from rtvoice.speech.voices import ROWS, STYLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

NPM_PACKAGE: Final = "kokoro-js@1.2.1"
NPM_TIMEOUT_S: Final = 600.0


@functools.cache
def catalogue() -> Mapping[str, Mapping[str, str]]:
    """All of Kokoro's voices: for each name the SHA-256 of its file, by source (`npm`, `hub`)."""
    text = (resources.files("rtvoice.speech") / "data" / "voices.json").read_text("utf-8")
    return MappingProxyType({name: MappingProxyType(hashes) for name, hashes in json.loads(text).items()})


def hashes_of(names: Sequence[str], source: str) -> dict[str, str]:
    """The SHA-256 of each voice's file at a source; of all voices for the name `all`.

    Raises:
        InvalidInput: Kokoro has no voice of that name.
    """
    known = catalogue()
    if "all" in names:
        return {name: hashes[source] for name, hashes in known.items()}
    for name in names:
        if name not in known:
            raise InvalidInput(f"Kokoro has no voice named {name!r}.", field="voice", allowed=tuple(known))
    return {name: known[name][source] for name in names}


def from_npm(hashes: Mapping[str, str], package: str = NPM_PACKAGE) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Fetch voices through the npm client: yields names and voices [510, 256].

    Args:
        hashes: the wanted voices, each with the SHA-256 of its file.
        package: what to ask npm for.

    Raises:
        SetupError: there is no npm client, it failed, or a file is not the one expected.
    """
    with tempfile.TemporaryDirectory(prefix="rtvoice-") as folder:
        archive = _pack(package, Path(folder))
        try:
            with tarfile.open(archive) as files:
                for name, expected in hashes.items():
                    yield name, _checked(name, _member(files, f"package/voices/{name}.bin"), expected)
        except tarfile.TarError as error:
            raise SetupError(f"What npm downloaded for {package} is no archive ({error}); try again.") from error


def from_hub(hashes: Mapping[str, str], endpoint: str | None = None) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Fetch voices from upstream's repository on the hub: yields names and voices [510, 256].

    The files are pickles. They are read after their hash was checked, by torch's loader that makes nothing but
    tensors. Needs the extra `reference`.

    Args:
        hashes: the wanted voices, each with the SHA-256 of its file.
        endpoint: the hub's address; None leaves it to huggingface_hub and its settings.

    Raises:
        SetupError: the extra is missing, the hub cannot be reached, or a file is not the one expected.
    """
    from rtvoice.speech import hub

    hub.import_extra("torch")  # before anything is downloaded in vain
    for name, expected in hashes.items():
        file = hub.download(f"voices/{name}.pt", sha256=expected, endpoint=endpoint)
        styles = hub.load_tensors(file)
        yield name, _shaped(name, np.asarray(styles, np.float32))


def _pack(package: str, folder: Path) -> Path:
    """Let npm download the package's archive; nothing of it is installed or run."""
    npm = shutil.which("npm")
    if npm is None:
        raise SetupError("There is no npm client here; install npm, or take the voices from the hub: --from hub.")
    command = [npm, "pack", package, "--ignore-scripts", "--silent", "--pack-destination", str(folder)]
    try:
        # In the empty folder, where no project's settings apply.
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=NPM_TIMEOUT_S)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"npm did not deliver {package} within {NPM_TIMEOUT_S:.0f} s; try again.") from error
    except subprocess.CalledProcessError as error:
        said = [line for line in f"{error.stdout}\n{error.stderr}".splitlines() if line.strip()]
        raise SetupError(f"npm could not deliver {package}: {said[-1] if said else 'it did not say why'}") from error
    archives = list(folder.glob("*.tgz"))
    if len(archives) != 1:
        raise SetupError(f"npm reported success and delivered nothing for {package}.")
    return archives[0]


def _member(files: tarfile.TarFile, path: str) -> bytes:
    try:
        member = files.extractfile(path)
    except KeyError as missing:
        raise SetupError(f"The npm package has no {path}.") from missing
    if member is None:
        raise SetupError(f"{path} in the npm package is not a file.")
    return member.read()


def _checked(name: str, data: bytes, expected: str) -> NDArray[np.float32]:
    if hashlib.sha256(data).hexdigest() != expected:
        raise SetupError(f"The voice {name} is not the one expected (its SHA-256 is wrong); nothing was added.")
    return _shaped(name, np.frombuffer(data, "<f4"))


def _shaped(name: str, styles: NDArray[np.float32]) -> NDArray[np.float32]:
    if styles.size != ROWS * STYLE:
        raise SetupError(f"The voice {name} has {styles.size} numbers instead of {ROWS * STYLE}.")
    return styles.reshape(ROWS, STYLE)
