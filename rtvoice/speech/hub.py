"""Upstream's files on the Hugging Face hub, and the tensors in them. For set-up only: needs the extra `reference`.

Upstream publishes pickles. A pickle can run anything, so these are read by torch's `weights_only` loader, which builds
tensors and plain containers and refuses everything else.
"""

from __future__ import annotations

import hashlib
import importlib
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rtvoice.errors import SetupError

if TYPE_CHECKING:
    from types import ModuleType

REPOSITORY: Final = "hexgrad/Kokoro-82M"
REVISION: Final = "f3ff3571791e39611d31c381e3a41a3af07b4987"
CHECKPOINT: Final = "kokoro-v1_0.pth"
CHECKPOINT_SHA256: Final = "496dba118d1a58f5f3db2efc88dbdc216e0483fc89fe6e47ee1f2c53f18ad1e4"


def download(name: str, *, sha256: str, endpoint: str | None = None) -> Path:
    """Fetch a file of upstream's repository, at the pinned revision, into huggingface_hub's own cache.

    Args:
        name: the file's path in the repository.
        sha256: what its content must be.
        endpoint: the hub's address; None leaves it to huggingface_hub and its settings.

    Raises:
        SetupError: the extra is missing, the hub cannot be reached, or the file is not the one expected.
    """
    hub = import_extra("huggingface_hub")
    refused = import_extra("huggingface_hub.errors").HfHubHTTPError
    unreachable = import_extra("httpx").HTTPError
    try:
        path = hub.hf_hub_download(REPOSITORY, name, revision=REVISION, endpoint=endpoint)
    except (OSError, ValueError, refused, unreachable) as error:
        reason = str(error).strip().splitlines()
        raise SetupError(f"The hub did not deliver {name}: {reason[0] if reason else type(error).__name__}") from error
    file = Path(path)
    if digest(file) != sha256:
        # The cache holds the content behind a link: both go, or the next attempt finds the same.
        file.resolve().unlink(missing_ok=True)
        file.unlink(missing_ok=True)
        raise SetupError(f"{name} from the hub is not the file expected (its SHA-256 is wrong); nothing was read.")
    return file


def digest(file: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits.

    Raises:
        SetupError: it cannot be read.
    """
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise SetupError(f"{file} cannot be read: {error.strerror or error}.") from error


def load_tensors(file: Path) -> Any:  # noqa: ANN401 - what a checkpoint holds is for the caller to find out
    """Read a torch file that holds nothing but tensors and plain containers, onto the CPU.

    Raises:
        SetupError: torch is missing, or the file is damaged or holds anything else.
    """
    torch = import_extra("torch")
    try:
        return torch.load(file, map_location="cpu", weights_only=True)
    except (OSError, EOFError, RuntimeError, KeyError, ValueError, pickle.UnpicklingError) as error:
        reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
        raise SetupError(f"{file} is no file of tensors that can be read safely: {reason[0]}") from error


def import_extra(name: str) -> ModuleType:
    """Import a package of the extra `reference`.

    Raises:
        SetupError: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise SetupError(
            f"This needs {name}; run: pip install 'rtvoice[reference]', in an environment of its own."
        ) from missing
