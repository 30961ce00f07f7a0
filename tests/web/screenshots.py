"""Pictures of the page in each of its states, for docs/images and for looking at.

python -m tests.web.screenshots FOLDER [--model]
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import tempfile
from pathlib import Path

from playwright.async_api import async_playwright, expect

from tests.web.conftest import ARGUMENTS, CHROMIUM, ROOT, Server

SIZES = {"wide": (1280, 1100), "narrow": (390, 844)}


async def ready(page, server):
    """At rest."""


async def speaking(page, server):
    """In the middle of a story."""
    await page.get_by_role("button", name="A story").click()
    await page.click("#go")
    await until_heard(page, "#mirror", 60)


async def conversing(page, server):
    """An answer, interrupted, and another one that is being given."""
    await page.get_by_role("tab", name="Converse").click()
    await page.fill("#prompt", "Why do you not wait for the whole answer?")
    await page.press("#prompt", "Enter")
    await until_heard(page, ".answer", 20)
    await page.keyboard.press("Space")
    await page.fill("#prompt", "Take me somewhere quiet.")
    await page.press("#prompt", "Enter")
    await until_heard(page, ".answer >> nth=1", 30)


async def disconnected(page, server):
    """The server has gone."""
    await server.kill()
    await page.locator("[data-state=waiting]").wait_for()


async def until_heard(page, where, characters):
    """Wait until so many characters have been heard."""
    heard = page.locator(f"{where} >> .heard")
    await expect(heard).to_have_text(re.compile(f".{{{characters}}}", re.DOTALL), timeout=120_000)


async def take_all(folder: Path, *, model: bool):
    """Take every picture into the folder."""
    with tempfile.TemporaryDirectory() as site:
        server = Server(Path(shutil.copytree(ROOT / "web", site, dirs_exist_ok=True)), delay_s=0.05, model=model)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            for scheme in ("light", "dark"):
                for size, (width, height) in SIZES.items():
                    await server.start()
                    for state in (ready, speaking, conversing, disconnected):
                        context = await browser.new_context(
                            viewport={"width": width, "height": height}, color_scheme=scheme
                        )
                        page = await context.new_page()
                        await page.goto(server.url)
                        await page.locator("[data-state=open]").wait_for()
                        await state(page, server)
                        await page.screenshot(path=folder / f"{state.__name__}-{size}-{scheme}.png")
                        await context.close()
            await browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(take_all(arguments.folder, model=arguments.model))
