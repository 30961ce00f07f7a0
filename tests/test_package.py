"""What `pip install .` installs: everything that runs, nothing that needs torch."""

from __future__ import annotations

import email
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rtvoice._version import __version__

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


@pytest.fixture(scope="module")
def metadata(wheel):
    return email.message_from_bytes(wheel.read(f"rtvoice-{__version__}.dist-info/METADATA"))


def names_in(folder):
    """The files below a folder of the checkout."""
    files = (path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(ROOT)) for path in files}


def test_it_holds_the_package_and_the_page(wheel):
    inside = set(wheel.namelist())
    assert inside >= names_in("rtvoice")
    assert inside >= {f"rtvoice/{name}" for name in names_in("web")}


def test_it_holds_nothing_else(wheel):
    assert {name.split("/")[0] for name in wheel.namelist()} == {"rtvoice", f"rtvoice-{__version__}.dist-info"}


def test_it_is_small(wheel):
    """Six voices are packed into it, and 6.0 MB of maps for them; anything over 7 MB came in by mistake."""
    assert sum(item.compress_size for item in wheel.infolist()) < 7_000_000


def test_its_licence_and_notice_come_along(wheel, metadata):
    assert metadata["License-Expression"] == "Apache-2.0"
    assert set(metadata.get_all("License-File")) == {"LICENSE", "NOTICE"}
    assert f"rtvoice-{__version__}.dist-info/licenses/NOTICE" in wheel.namelist()


def test_it_runs_without_torch(metadata):
    plain = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert any(line.startswith("openvino") for line in plain)
    assert not [line for line in plain if line.startswith(("torch", "transformers", "kokoro>", "kokoro=="))]


def test_it_installs_the_command(wheel):
    assert b"rtvoice = rtvoice.cli:main" in wheel.read(f"rtvoice-{__version__}.dist-info/entry_points.txt")
