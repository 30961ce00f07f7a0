"""Writing files so that they are there whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rtvoice.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file, making its folder where needed. A reader sees the old content or the new one, never a part.

    Raises:
        SetupError: it cannot be written; says why, and what is in the way.
    """
    with explained(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(number)
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn the operating system's refusals to write below `folder` into one sentence for the person at the keyboard."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise SetupError(f"There is no space left in {folder}; free some, or choose another folder.") from error
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            raise SetupError(f"{folder} cannot be written to; allow it, or choose another folder.") from error
        raise SetupError(f"{folder} cannot be written to: {error.strerror or error}.") from error
