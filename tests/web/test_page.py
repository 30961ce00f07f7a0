"""The page, as people use it."""

from __future__ import annotations

import json
import re
import wave

import numpy as np
import pytest
from playwright.async_api import expect

from tests.web.conftest import below, samples_of, visit

pytestmark = pytest.mark.asyncio(loop_scope="session")

LONG = "Every word of this goes on and on for a while. " * 8


async def speak(page, text):
    """Type a text and press Speak."""
    await page.fill("#text", text)
    await page.click("#go")


async def until_heard(page):
    """Wait until the page sounds."""
    await page.evaluate("() => capture.soundAfter(0)")


async def stop_and_listen(page, act):
    """Do what stops the speech; return how loud it was in the 100 ms before and from 100 ms after it on."""
    return await page.evaluate(
        """async (act) => {
            const rate = capture.context.sampleRate;
            await capture.until(capture.end + rate * 0.3);
            const stopped = Math.round(capture.context.currentTime * rate);
            if (act === "stop") document.querySelector("#stop").click();
            else document.activeElement.dispatchEvent(
                new KeyboardEvent("keydown", { key: act, bubbles: true, cancelable: true }));
            await capture.until(stopped + 0.5 * rate);
            return [capture.loudest(stopped - 0.1 * rate, stopped), capture.loudest(stopped + 0.1 * rate, capture.end)];
        }""",
        act,
    )


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
    assert np.abs(late).max() < 0.2


async def test_it_says_when_the_server_goes_and_goes_on_when_it_is_back(browser, mortal_server):
    async with visit(browser, mortal_server.url) as page:
        await page.locator("[data-state=open]").wait_for()
        await speak(page, LONG * 4)
        await until_heard(page)
        await mortal_server.kill()
        await page.locator("[data-state=waiting]").wait_for()
        await expect(page.get_by_role("alert")).to_contain_text("The speech server went away")
        await expect(page.locator("#connection-text")).to_contain_text("Next try in")
        await expect(page.locator("#go")).to_be_disabled()
        await mortal_server.start()
        await page.locator("[data-state=open]").wait_for()
        await expect(page.locator("#go")).to_be_enabled()
        await expect(page.get_by_role("alert")).to_be_empty()
        await speak(page, "Back again.")
        await page.locator("[data-state=open]").wait_for()
        await expect(page.locator("#status")).to_have_text("Finished.")


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


async def test_an_answer_is_spoken_while_it_is_written_and_can_be_interrupted(page):
    await page.get_by_role("tab", name="Converse").click()
    await page.get_by_label("Tokens a second").fill("40")
    await page.fill("#prompt", "Why so early?")
    await page.press("#prompt", "Enter")
    await until_heard(page)
    written = len(await page.locator(".answer").inner_text())
    await expect(page.locator(".answer")).to_contain_text("language model")
    assert len(await page.locator(".answer").inner_text()) > written, "it is still being written"
    await page.focus("#prompt")
    before, after = await stop_and_listen(page, " ")
    assert before > 0.3
    assert after == 0
    await expect(page.locator(".verdict")).to_contain_text("the rest was not said")
    said = await page.locator(".answer .heard").inner_text()
    unsaid = await page.locator(".answer .now ~ span").inner_text()
    assert said.startswith("Speech is")
    assert unsaid
    assert await page.input_value("#prompt") == ""


async def test_typing_interrupts_and_is_kept(page):
    await page.get_by_role("tab", name="Converse").click()
    await page.fill("#prompt", "Go on.")
    await page.press("#prompt", "Enter")
    await until_heard(page)
    await page.locator("#talk").focus()
    await page.keyboard.type("Wait")
    await page.locator(".verdict").wait_for()
    assert await page.input_value("#prompt") == "Wait"


async def test_answers_come_from_a_model_that_speaks_openais_protocol(page):
    asked = []
    pieces = ["Hello", " from", " a model.", " It ", "streams."]
    events = [{"choices": [{"delta": {"content": piece}}]} for piece in pieces]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in [{"choices": [{"delta": {}}]}, *events])

    async def answer(route):
        asked.append(route.request)
        await route.fulfill(body=body + "data: [DONE]\n\n", content_type="text/event-stream")

    await page.route("**/v1/chat/completions", answer)
    await page.get_by_role("tab", name="Converse").click()
    await page.get_by_label("A model of yours").check()
    await page.get_by_label("Address").fill(f"{page.url}v1/")
    await page.get_by_label("Model", exact=True).fill("small")
    await page.get_by_label("Key").fill("secret")
    await page.fill("#prompt", "Who are you?")
    await page.press("#prompt", "Enter")
    await expect(page.locator("#status")).to_have_text("Finished.")
    await expect(page.locator(".answer")).to_have_text("".join(pieces))
    request = asked[0].post_data_json
    assert request["model"] == "small"
    assert request["stream"] is True
    assert request["messages"][-1] == {"role": "user", "content": "Who are you?"}
    assert (await asked[0].all_headers())["authorization"] == "Bearer secret"


async def test_a_model_that_does_not_answer_is_named(page):
    await page.route("**/v1/chat/completions", lambda route: route.abort())
    await page.get_by_role("tab", name="Converse").click()
    await page.get_by_label("A model of yours").check()
    await page.get_by_label("Address").fill(f"{page.url}v1")
    await page.fill("#prompt", "Who are you?")
    await page.press("#prompt", "Enter")
    await expect(page.get_by_role("alert")).to_contain_text("does not answer")
    await page.locator("[data-state=open]").wait_for()


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
