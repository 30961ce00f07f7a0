"""What the page shows of the speech and of the server."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.async_api import expect

from tests.web.conftest import samples_of, serving, speak, until_heard, visit

pytestmark = pytest.mark.asyncio(loop_scope="session")

LONG = "Every word of this goes on and on for a while. " * 3

# Which columns of the spectrogram have something in them, as shares of its width.
SPECTRUM = """() => {
    const canvas = document.querySelector("#spectrogram");
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    const full = [];
    for (let x = 0; x < canvas.width; x++) {
        for (let y = 0; y < canvas.height; y++) {
            if (data[4 * (y * canvas.width + x) + 3] < 64) continue;
            full.push(x / canvas.width);
            break;
        }
    }
    return full;
}"""


async def test_the_engine_is_seen_cold_loading_ready_and_released(browser, site):
    async with serving(site, "--cold", "--load", "2.5", "--idle", "1") as server, visit(browser, server.url) as page:
        state = page.locator("#engine-state")
        await page.locator("[data-state=open]").wait_for()
        await page.locator("#engine").scroll_into_view_if_needed()
        await expect(state).to_have_text("Cold")
        await expect(page.locator("#memory")).to_have_text(re.compile(r"^\d[\d,]* MB$"))
        await expect(page.locator("#sessions")).to_have_text("1")
        await speak(page, "Hello there.")
        await expect(page.locator("#connection-text")).to_have_text("Loading the model")
        await expect(state).to_have_text("Loading")
        await expect(state).to_have_text("Ready")
        await expect(page.locator("#status")).to_have_text("Finished.")
        await expect(page.locator("#timeline-text")).to_contain_text("to load the model")
        await expect(state).to_have_text("Released")
        await expect(page.locator("#engine-meaning")).to_contain_text("memory was given back")


async def test_the_server_is_asked_only_while_somebody_looks(page):
    asked = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/status") else None)
    await page.set_viewport_size({"width": 1280, "height": 500})
    await page.reload()
    await page.locator("[data-state=open]").wait_for()
    await page.wait_for_timeout(300)
    assert not asked, "it lies below what is seen"
    await page.locator("#engine").scroll_into_view_if_needed()
    await expect(page.locator("#engine-state")).to_have_text("Ready")
    await page.wait_for_timeout(300)
    assert len(asked) == 1


async def test_the_spectrum_lies_below_the_timeline_and_begins_anew(page):
    await speak(page, "One two three four five.")
    await until_heard(page)
    await expect(page.locator("#status")).to_have_text("Finished.")
    await page.wait_for_timeout(100)
    full = await page.evaluate(SPECTRUM)
    number, unit = (await page.locator("#first-sound").inner_text()).split()
    began_s = float(number) / (1000 if unit == "ms" else 1)
    ended_s = began_s + 5 * 0.2
    shown_s = next(span for span in (4, 6, 8, 12, 16) if ended_s < span)
    assert full[0] * shown_s == pytest.approx(began_s, abs=0.2)
    assert full[-1] * shown_s == pytest.approx(ended_s, abs=0.2)
    await speak(page, LONG)
    await until_heard(page)
    await page.wait_for_timeout(200)
    assert max(await page.evaluate(SPECTRUM)) < full[-1], "what was heard before is gone"


async def test_a_hidden_tab_speaks_on(page):
    """A minimised window draws nothing; the page is told that it is hidden, and later that it is seen again."""
    session = await page.context.new_cdp_session(page)
    window = (await session.send("Browser.getWindowForTarget"))["windowId"]

    async def be(state, window_state):
        await session.send("Browser.setWindowBounds", {"windowId": window, "bounds": {"windowState": window_state}})
        await page.evaluate(
            """(state) => {
                Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
                document.dispatchEvent(new Event("visibilitychange"));
            }""",
            state,
        )

    await page.locator("#engine").scroll_into_view_if_needed()
    await speak(page, LONG)
    await until_heard(page)
    await be("hidden", "minimized")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    await page.evaluate("() => { window.drawn = 0; (function draw() { drawn++; requestAnimationFrame(draw); })(); }")
    await page.evaluate("() => capture.until(capture.end + 3 * capture.context.sampleRate)")
    assert await page.evaluate("() => drawn") < 30
    assert not asked, "nobody looks"
    await be("visible", "normal")
    said = await page.evaluate(
        """async () => {
            await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
            return document.querySelector("#mirror .heard").textContent;
        }"""
    )
    assert len(said.split()) >= 14, "three seconds and more are 15 words"
    await expect(page.locator("#status")).to_have_text("Finished.", timeout=15_000)
    await expect(page.locator("#underruns")).to_have_text("0")
    rate = await page.evaluate("() => capture.context.sampleRate")
    heard = await samples_of(page, "capture.sound()")
    loud = np.flatnonzero(np.abs(heard) > 0.01)
    assert np.diff(loud).max() < 0.35 * rate, "nothing longer than the pause between two sentences"
    assert len(heard) / rate > len(LONG.split()) * 0.2 - 0.05


async def test_any_key_wakes_a_suspended_device(page):
    await speak(page, LONG)
    await until_heard(page)
    await page.evaluate("() => capture.context.suspend()")
    await expect(page.get_by_role("alert")).to_contain_text("holds the sound back")
    await page.keyboard.press("Shift")
    await expect(page.get_by_role("alert")).to_be_empty()
    await expect(page.locator("#status")).to_have_text("Finished.", timeout=15_000)
    rate = await page.evaluate("() => capture.context.sampleRate")
    assert len(await samples_of(page, "capture.sound()")) / rate > len(LONG.split()) * 0.2 - 0.05
