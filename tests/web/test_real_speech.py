"""The whole way: the real model, the server, the socket, the player, the device; and Whisper listens."""

from __future__ import annotations

import re

import jiwer
import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.model.conftest import transcribe  # noqa: F401
from tests.web.conftest import samples_of, serving, visit

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.model]

TEXT = "The lighthouse keeper wound the clock, as he did every night. Outside, the sea had gone quiet."

# A device of 48 kHz: every second sample of what it is given is the speech at the 24 kHz that Whisper's fixture takes,
# since there is nothing in it above 12 kHz.
DEVICE = "window.AudioContext = class extends AudioContext { constructor() { super({ sampleRate: 48000 }); } };"


@pytest_asyncio.fixture(loop_scope="session")
async def real_server(site):
    async with serving(site, "--model") as server:
        yield server


async def test_whisper_understands_what_the_device_is_given(browser, real_server, transcribe):  # noqa: F811
    async with visit(browser, real_server.url, scripts=(DEVICE,)) as page:
        await page.locator("[data-state=open]").wait_for()
        await page.fill("#text", TEXT)
        await page.click("#go")
        await expect(page.locator("#status")).to_have_text("Finished.", timeout=60_000)
        heard = await samples_of(page, "capture.sound()")
    assert jiwer.wer(plain(TEXT), plain(transcribe(heard[::2]))) < 0.05


def plain(text):
    """Only the words."""
    return " ".join(re.findall(r"[a-z']+", text.lower()))
