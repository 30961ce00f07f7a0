"""The page's files: small, complete, typed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from tests.web.conftest import HERE, MOST_BYTES, ROOT

WEB = ROOT / "web"
FILES = sorted(path for path in WEB.rglob("*") if path.is_file())


def test_all_of_it_is_small():
    assert sum(path.stat().st_size for path in FILES) < MOST_BYTES


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(WEB)))
def test_a_file_names_no_other_host(path):
    hosts = {host.split("/")[0] for host in re.findall(r"\w+://([^\s\"'`)]+)", path.read_text())}
    # A namespace, the example of an address that a visitor may type, and the one in the library's description.
    assert hosts <= {"www.w3.org", "localhost:11434", "speech.example"}


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".html"], ids=lambda path: path.name)
def test_a_page_has_no_script_and_no_style_of_its_own(path):
    text = path.read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", text)


def test_the_javascript_is_what_its_comments_say():
    """The types in JSDoc, checked by TypeScript's compiler."""
    compiler = shutil.which("tsc", path=f"{HERE}/node_modules/.bin{os.pathsep}{os.environ['PATH']}")
    if compiler is None and os.environ.get("CI") != "true":
        pytest.skip("TypeScript is not installed: npm install --prefix tests/web")
    assert compiler, "TypeScript is not installed: npm install --prefix tests/web"
    result = subprocess.run([compiler, "-p", HERE / "tsconfig.json"], capture_output=True, text=True, check=False)
    assert not result.stdout
    assert result.returncode == 0
