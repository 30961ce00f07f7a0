"""The page, as people use it."""

from __future__ import annotations

import json
import re
import wave

import numpy as np
import pytest
from playwright.async_api import expect

from tests.web.conftest import below, samples_of, serving, speak, stop_and_listen, until_heard, visit

pytestmark = pytest.mark.asyncio(loop_scope="session")

LONG = "Every word of this goes on and on for a while. " * 8


async def test_it_speaks_what_is_typed(page):
    await speak(page, "One two three. Four five.")
    await page.locator("[data-state=speaking]").wait_for()
    await until_heard(page)
    await page.locator("[data-state=open]").wait_for()
    heard = await samples_of(page, "capture.sound()")
    rate = await page.evaluate("() => capture.context.sampleRate")
    assert len(heard) / rate == pytest.approx(5 * 0.2, abs=0.3)  # five tones, and the pause between two sentences
    assert np.abs(heard).max() == pytest.approx(0.5, abs=0.06)
    await expect(page.locator("#first-sound")).to_have_text(re.compile(r"\d m?s"))
    await expect(page.locator("#underruns")).to_have_text("0")
    await expect(page.locator("#status")).to_have_text("Finished.")


async def test_nothing_to_say_is_said(page):
    await speak(page, "  \n")
    await expect(page.get_by_role("alert")).to_contain_text("nothing to say yet")
    await expect(page.locator("#text")).to_be_focused()
    await speak(page, "Now there is.")
    await expect(page.get_by_role("alert")).to_be_empty()
    await until_heard(page)


async def test_ctrl_enter_speaks(page):
    await page.fill("#text", "Hello there.")
    await page.locator("#text").press("Control+Enter")
    await until_heard(page)


@pytest.mark.parametrize("act", ["stop", "Escape"])
async def test_it_is_silent_at_once(page, act):
    await speak(page, LONG)
    await until_heard(page)
    before, after = await stop_and_listen(page, act)
    assert before > 0.3
    assert after == 0
    await page.locator("[data-state=open]").wait_for()
    await expect(page.locator("#status")).to_have_text("Stopped.")
    await expect(page.locator("#stop")).to_be_disabled()


async def test_speak_again_replaces_what_is_spoken(page):
    await speak(page, LONG)
    await until_heard(page)
    await speak(page, "Short.")
    await page.locator("[data-state=open]").wait_for()
    await expect(page.locator("#status")).to_have_text("Finished.")


async def test_voice_speed_and_accent_are_asked_for(page):
    sent = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(json.loads(frame))))
    await page.reload()
    await page.locator("[data-state=open]").wait_for()
    await page.get_by_label("George").check()
    await page.get_by_label("Speed").fill("1.25")
    await page.get_by_label("Accent").select_option("American English")
    await speak(page, "Hello.")
    await until_heard(page)
    opening = next(message for message in sent if message["type"] == "speak")
    assert {"voice": "bm_george", "speed": 1.25, "language": "en-us"}.items() <= opening.items()
    await page.reload()
    await page.locator("[data-state=open]").wait_for()
    await expect(page.get_by_label("George")).to_be_checked()
    await expect(page.get_by_label("Speed")).to_have_value("1.25")


async def test_voices_are_blended_by_weight(browser, server):
    async with visit(browser, server.url, permissions=["clipboard-read", "clipboard-write"]) as page:
        sent = []
        page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(json.loads(frame))))
        await page.reload()
        await page.locator("[data-state=open]").wait_for()
        await expect(page.locator("#voice-name")).to_have_text("af_heart")
        await page.get_by_role("switch", name="Blend").check()
        await page.get_by_role("checkbox", name="George").check()
        await page.get_by_role("slider", name="Heart").fill("3")
        await expect(page.locator("#shares output")).to_have_text(["75%", "25%"])
        await page.get_by_role("button", name="Copy").click()
        assert await page.evaluate("() => navigator.clipboard.readText()") == "af_heart(3)+bm_george(1)"
        await page.get_by_role("button", name="Hear Heart and George").click()
        await page.locator("#connection[data-state=speaking]").wait_for()
        opening = next(message for message in sent if message["type"] == "speak")
        assert opening["voice"] == "af_heart(3)+bm_george(1)"
        await until_heard(page)
        await page.reload()
        await page.locator("[data-state=open]").wait_for()
        await expect(page.locator("#voice-name")).to_have_text("af_heart(3)+bm_george(1)")
        await page.get_by_role("switch", name="Blend").uncheck()
        await expect(page.locator("#voice-name")).to_have_text("af_heart")
        await expect(page.get_by_role("radio", name="Heart")).to_be_checked()


async def test_blends_are_not_offered_where_they_are_not_spoken(browser, site):
    async with serving(site, "--fitted-blends") as server, visit(browser, server.url) as page:
        await expect(page.get_by_role("switch", name="Blend")).to_be_hidden()
        kept = json.dumps({"voice": "af_heart(1)+bm_george(3)", "speed": 1, "language": ""})
        await page.evaluate("(kept) => localStorage.setItem('rtvoice.settings', kept)", kept)
        await page.reload()
        await page.locator("[data-state=open]").wait_for()
        await expect(page.get_by_role("switch", name="Blend")).to_be_hidden()
        await expect(page.locator("#voice-name")).to_have_text("bm_george")
        await speak(page, "Hello.")
        await until_heard(page)


async def test_a_blend_keeps_its_last_voice(page):
    await page.get_by_role("switch", name="Blend").check()
    await page.get_by_role("checkbox", name="Heart").click()
    await expect(page.get_by_role("checkbox", name="Heart")).to_be_checked()
    await expect(page.locator("#voice-name")).to_have_text("af_heart")


async def test_the_word_that_is_heard_is_marked(page):
    """Each word of 0.2 s is marked when its tone leaves for the device, give or take a drawing or two."""
    await page.evaluate(
        """() => {
            window.marks = [];
            const mark = document.querySelector("#mirror .now");
            new MutationObserver(() => {
                const word = mark.textContent;
                if (word && marks.at(-1)?.word !== word) marks.push({ word, time: capture.context.currentTime });
            }).observe(mark, { childList: true, characterData: true, subtree: true });
        }"""
    )
    text = "Alpha bravo charlie delta echo foxtrot golf hotel."
    await speak(page, text)
    began = await page.evaluate("async () => (await capture.soundAfter(0)) / capture.context.sampleRate")
    await page.locator("[data-state=open]").wait_for()
    marks = await page.evaluate("() => marks")
    assert [mark["word"].strip(".") for mark in marks] == text.strip(".").split()
    latency = await page.evaluate("() => capture.context.outputLatency || capture.context.baseLatency")
    late = [mark["time"] - latency - began - 0.2 * i for i, mark in enumerate(marks)]
    assert np.median(np.abs(late)) < 0.05
    assert np.sort(np.abs(late))[-2] < 0.2  # one drawing may come late on a busy machine


async def test_an_error_of_the_server_is_shown(page):
    await speak(page, "x" * 20_001)
    await expect(page.get_by_role("alert")).not_to_be_empty()
    await expect(page.locator("#text-count")).to_contain_text("20,000 at most")
    await page.locator("[data-state=open]").wait_for()


async def test_what_was_heard_can_be_downloaded(page, tmp_path):
    await speak(page, "One two three.")
    await page.locator("[data-state=speaking]").wait_for()
    await page.locator("[data-state=open]").wait_for()
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download WAV").click()
    await (await download.value).save_as(tmp_path / "speech.wav")
    with wave.open(str(tmp_path / "speech.wav")) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 24_000)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    assert len(samples) >= 3 * 4_800
    assert np.abs(samples).max() == pytest.approx(16_384, abs=100)


async def test_modes_are_chosen_by_keyboard(page):
    await page.get_by_role("tab", name="Speak").focus()
    await page.keyboard.press("ArrowRight")
    await expect(page.get_by_role("tab", name="Converse")).to_be_focused()
    await expect(page.get_by_role("tabpanel", name="Converse")).to_be_visible()
    await page.keyboard.press("ArrowLeft")
    await expect(page.get_by_role("tabpanel", name="Speak")).to_be_visible()


async def test_no_width_scrolls_sideways(page):
    for width in (320, 390, 768, 1024, 1440):
        await page.set_viewport_size({"width": width, "height": 800})
        assert await page.evaluate("() => document.documentElement.scrollWidth") <= width


async def test_it_works_below_a_path(browser, server):
    async with below("/deep/speech", server.port) as url, visit(browser, url) as page:
        await page.locator("[data-state=open]").wait_for()
        await speak(page, "Hello.")
        await until_heard(page)


async def test_a_phone_speaks_by_touch(browser, server):
    async with visit(
        browser, server.url, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    ) as page:
        await page.locator("[data-state=open]").wait_for()
        await page.fill("#text", LONG)
        await expect(page.locator("#go")).to_be_in_viewport()
        await page.locator("#go").tap()
        await until_heard(page)
        await expect(page.locator("#stop")).to_be_in_viewport()
        await page.locator("#stop").tap()
        await expect(page.locator("#status")).to_have_text("Stopped.")
        small = await page.evaluate(
            """() => [...document.querySelectorAll("button, select, label.voice, .tabs button")]
                .filter((target) => target.checkVisibility() && target.getBoundingClientRect().height < 24)
                .map((target) => target.outerHTML)"""
        )
        assert not small, "WCAG's least size of what is touched"


async def test_what_moves_by_itself_rests_where_that_is_asked_for(browser, server):
    async with visit(browser, server.url, reduced_motion="reduce") as page:
        await page.locator("[data-state=open]").wait_for()
        await speak(page, LONG)
        await until_heard(page)
        await page.wait_for_function("() => document.querySelector('.now').textContent")
        running = await page.evaluate(
            "() => document.getAnimations().filter((it) => it.playState === 'running').length"
        )
        assert running == 0
