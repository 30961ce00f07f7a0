"""axe-core finds nothing to object to, whatever the page is doing."""

from __future__ import annotations

import pytest
from axe_playwright_python.async_playwright import Axe

from tests.web.conftest import visit

pytestmark = pytest.mark.asyncio(loop_scope="session")

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


async def show_ready(page): ...


async def show_speaking(page):
    await page.fill("#text", "A text that is spoken while it is looked at. " * 20)
    await page.click("#go")
    await page.evaluate("() => capture.soundAfter(0)")


async def show_stopped(page):
    await page.click("#stop")


async def show_blend(page):
    await page.get_by_role("switch", name="Blend").check()
    await page.get_by_role("checkbox", name="George").check()


async def show_account(page):
    """What was spoken, and where the engine stands."""
    await page.fill("#text", "Short.")
    await page.click("#go")
    await page.locator("#timeline-text:not(:empty)").wait_for()
    await page.locator("#engine").scroll_into_view_if_needed()
    await page.locator("#engine[data-state=ready]").wait_for()


async def show_answer(page):
    await page.get_by_role("tab", name="Converse").click()
    await page.get_by_label("A model of yours").check()
    await page.get_by_label("A stand-in").check()
    await page.fill("#prompt", "What is there to see?")
    await page.press("#prompt", "Enter")
    await page.evaluate("() => capture.soundAfter(0)")


async def show_interrupted(page):
    await page.keyboard.press("Space")
    await page.locator(".verdict").wait_for()


async def show_endpoint(page):
    await page.get_by_label("A model of yours").check()


async def show_fault(page):
    await page.fill("#text", "x" * 20_001)
    await page.click("#go")
    await page.locator("#notice:not(:empty)").wait_for()


# Those in a row follow from one another, so that one visit shows them all.
STATES = [
    [show_ready, show_blend, show_account],
    [show_speaking, show_stopped, show_fault],
    [show_answer, show_interrupted, show_endpoint],
]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
async def test_axe_finds_nothing(browser, server, scheme, width):
    for states in STATES:
        viewport = {"width": width, "height": 900}
        async with visit(browser, server.url, color_scheme=scheme, viewport=viewport) as page:
            await page.locator("[data-state=open]").wait_for()
            for show in states:
                await show(page)
                results = await Axe().run(page, options=RULES)
                assert results.violations_count == 0, f"{show.__name__}: {results.generate_report()}"


async def test_axe_finds_nothing_without_a_server(browser, mortal_server):
    async with visit(browser, mortal_server.url) as page:
        await page.locator("[data-state=open]").wait_for()
        await mortal_server.kill()
        await page.locator("[data-state=waiting]").wait_for()
        results = await Axe().run(page, options=RULES)
        assert results.violations_count == 0, results.generate_report()
