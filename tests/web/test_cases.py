"""The modules that need no server, tested where they run. Each export of a file in `cases/` is a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import pytest_asyncio

from tests.web.conftest import visit

pytestmark = pytest.mark.asyncio(loop_scope="session")

CASES = [
    (path.stem, name)
    for path in sorted((Path(__file__).parent / "cases").glob("*.js"))
    if path.stem != "asserting"
    for name in re.findall(r"^export (?:async )?function (\w+)", path.read_text(), re.MULTILINE)
]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def bare_page(browser, server):
    """One page for all of them: they leave nothing behind."""
    async with visit(browser, f"{server.url}library.html") as page:
        yield page


@pytest.mark.parametrize(("module", "name"), CASES)
async def test_case(bare_page, module, name):
    await bare_page.evaluate("async ([module, name]) => (await import(`./cases/${module}.js`))[name]()", [module, name])
