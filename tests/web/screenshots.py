"""Pictures of the page in each of its states, light and dark, wide and narrow, taken of the real model.

    python -m tests.web.screenshots FOLDER

As WebP, which Chromium makes itself, so that all of them together are a few hundred kilobytes. Machines that are too
slow or too busy for the model show it: pictures of speech that ran out are taken, and told of.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import re
import sys
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import async_playwright, expect

from tests.web.conftest import ARGUMENTS, CHROMIUM, make_site, serving

SIZES = {"wide": (1280, 860), "narrow": (390, 844)}
SCHEMES = ("light", "dark")
QUALITY = 42
PATIENCE_MS = 120_000


class Photographer:
    """Opens pages of one server in one guise, and takes pictures of them."""

    def __init__(self, browser, server, folder, size, scheme):
        self.browser = browser
        self.server = server
        self.folder = folder
        self.size = size
        self.scheme = scheme

    @asynccontextmanager
    async def page(self, *, state="open"):
        """The page, connected or not."""
        width, height = SIZES[self.size]
        context = await self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=self.scheme, is_mobile=self.size == "narrow"
        )
        context.set_default_timeout(PATIENCE_MS)
        page = await context.new_page()
        await page.goto(self.server.url)
        await page.locator(f"#connection[data-state={state}]").wait_for()
        yield page
        await context.close()

    async def take(self, page, name, part=None):
        """Take a picture of what is seen, or of a part of the page."""
        session = await page.context.new_cdp_session(page)
        clip = {}
        if part:
            await page.locator(part).scroll_into_view_if_needed()
            box = await page.locator(part).bounding_box()
            top = await page.evaluate("() => scrollY")
            clip = {"clip": {**box, "y": box["y"] + top, "scale": 1}, "captureBeyondViewport": True}
        picture = await session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY, **clip})
        path = self.folder / f"{name}-{self.size}-{self.scheme}.webp"
        path.write_bytes(base64.b64decode(picture["data"]))
        underruns = await page.locator("#underruns").inner_text()
        sys.stdout.write(f"{path.name}: {path.stat().st_size} bytes, underruns: {underruns}\n")


async def speech(photographer):
    """What is seen of a model that is ready."""
    async with photographer.page() as page:
        await photographer.take(page, "ready")
        await page.get_by_role("button", name="A story").click()
        await page.click("#go")
        await until_heard(page, "#mirror", 100)
        await photographer.take(page, "speaking")
    async with photographer.page() as page:
        await page.click("#go")
        await until_over(page)
        await page.locator("#engine").scroll_into_view_if_needed()
        await expect(page.locator("#engine-state")).to_have_text("Ready")
        await photographer.take(page, "watching", ".watch")
    async with photographer.page() as page:
        await page.get_by_role("switch", name="Blend").check()
        for voice, weight in {"Bella": "2", "Emma": "4"}.items():
            await page.get_by_role("checkbox", name=voice).check()
            await page.get_by_role("slider", name=voice).fill(weight)
        await photographer.take(page, "blending", "#settings")
    async with photographer.page() as page:
        await page.get_by_role("tab", name="Converse").click()
        await page.fill("#prompt", "Why do you not wait for the whole answer?")
        await page.press("#prompt", "Enter")
        await until_heard(page, ".answer", 60)
        await page.keyboard.press("Space")
        await page.fill("#prompt", "Take me somewhere quiet.")
        await page.press("#prompt", "Enter")
        await until_heard(page, ".answer >> nth=1", 70)
        await photographer.take(page, "conversing")


async def engine(photographer):
    """Where an engine stands that is loaded when it is needed and released when it is not."""
    async with photographer.page() as page:
        await page.locator("#engine").scroll_into_view_if_needed()
        for state, act in {"Cold": None, "Loading": "#go", "Released": None}.items():
            if act:
                await page.locator(act).dispatch_event("click")  # without scrolling to it
            await expect(page.locator("#engine-state")).to_have_text(state, timeout=PATIENCE_MS)
            await photographer.take(page, f"engine-{state.lower()}", "#engine")


async def absence(photographer):
    """What is seen when there is no room, and when there is no server."""
    async with photographer.page() as page:
        async with photographer.page(state="waiting") as another:
            await photographer.take(another, "full")
        await photographer.server.kill()
        await page.locator("#connection[data-state=waiting]").wait_for()
        await photographer.take(page, "disconnected")


async def until_heard(page, where, characters):
    """Wait until so many characters have been heard."""
    heard = page.locator(f"{where} >> .heard")
    await expect(heard).to_have_text(re.compile(f".{{{characters}}}", re.DOTALL), timeout=PATIENCE_MS)


async def until_over(page):
    """Wait until all has been heard."""
    await expect(page.locator("#status")).to_have_text("Finished.", timeout=PATIENCE_MS)


# Each with the server that it is taken of.
STATES = {
    speech: ("--model",),
    engine: ("--model", "--cold", "--idle", "2"),
    absence: ("--model", "--cold", "--connections", "1"),
}


async def take_all(folder: Path):
    """Take every picture into the folder, which is there."""
    with tempfile.TemporaryDirectory() as site:
        make_site(Path(site))
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            for show, options in STATES.items():
                for size in SIZES:
                    for scheme in SCHEMES:
                        async with serving(Path(site), *options) as server:
                            await show(Photographer(browser, server, folder, size, scheme))
            await browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(take_all(arguments.folder))
