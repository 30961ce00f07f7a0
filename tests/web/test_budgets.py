"""What the page costs a visitor: bytes, requests, time until something is seen. No other host is ever asked."""

from __future__ import annotations

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright

from tests.web.conftest import ARGUMENTS, CHROMIUM, MOST_BYTES

pytestmark = pytest.mark.asyncio(loop_scope="session")

MOST_REQUESTS = 40
MOST_FIRST_PAINT_S = 1.5  # on a machine that does other things as well
MOST_SHIFT = 0.1  # Web Vitals' bound of what is good

WATCH = """
    window.shift = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) shift += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
"""

FIRST_PAINT = """() => performance.getEntriesByName("first-contentful-paint")[0].startTime / 1000"""


@pytest_asyncio.fixture(loop_scope="session")
async def lonely_browser(server):
    """A browser that can find no host but the server."""
    rules = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, rules])
        yield browser
        await browser.close()


# `browser` marks it as one that needs Chromium.
async def test_a_visit_is_within_its_budgets(browser, lonely_browser, server):
    context = await lonely_browser.new_context(viewport={"width": 390, "height": 844})
    await context.add_init_script(WATCH)
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    await session.send("Network.enable")
    requests, received = [], []
    session.on("Network.requestWillBeSent", lambda event: requests.append(event["request"]["url"]))
    session.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    await page.goto(server.url)
    await page.locator("[data-state=open]").wait_for()
    await page.locator(".voice").first.wait_for()
    assert sum(received) < MOST_BYTES
    assert len(requests) < MOST_REQUESTS
    assert all(url.startswith(server.url) for url in requests)
    assert await page.evaluate(FIRST_PAINT) < MOST_FIRST_PAINT_S
    assert await page.evaluate("() => shift") < MOST_SHIFT
    await page.click("#go")
    await page.locator("[data-state=speaking]").wait_for()
    assert sum(received) < MOST_BYTES, "with what speaking brings"
    assert all(url.startswith((server.url, "data:")) for url in requests)
    await context.close()


async def test_the_first_paint_waits_for_no_script(browser, server):
    """Whoever has a slow line sees the page before its scripts are there."""
    context = await browser.new_context()
    page = await context.new_page()
    await page.route("**/*.js", lambda route: None)
    await page.goto(server.url, wait_until="commit")
    await page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    await page.get_by_role("heading", name="rtvoice").wait_for()
    await context.close()
