"""Question and answer: spoken while it is written, and interrupted."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import expect

from tests.web.conftest import stop_and_listen, until_heard

pytestmark = pytest.mark.asyncio(loop_scope="session")


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


async def test_an_empty_question_is_not_asked(page):
    await page.get_by_role("tab", name="Converse").click()
    await page.click("#go")
    await expect(page.get_by_role("alert")).to_contain_text("no question yet")
    await expect(page.locator("#prompt")).to_be_focused()
    await expect(page.locator(".answer")).to_have_count(0)
