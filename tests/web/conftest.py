"""Pages in Debian's Chromium, before the real server over a scripted synthesizer."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import random
import re
import shutil
import socket
import sys
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import pytest_asyncio
from playwright.async_api import async_playwright
from websockets.asyncio.client import connect

from rtvoice.protocol.codec import decode_server
from rtvoice.protocol.messages import Audio, Done

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
MOST_BYTES = 150_000
"""Size of all that is served: with the page and its library."""

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--autoplay-policy=no-user-gesture-required",
]


TEXT = "The first sentence is here. A second one follows it, and it is longer. The third ends all."

# A player on a device of 24 kHz, which passes samples through as they are.
PLAYER = "window.player = new rtvoice.Player({ context: () => new AudioContext({ sampleRate: 24000 }) });"


def pytest_collection_modifyitems(items):
    """Tests that open a page need Chromium; in CI they fail without it, elsewhere they are skipped."""
    for item in items:
        if HERE in item.path.parents and "browser" in item.fixturenames:
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None and os.environ.get("CI") != "true":
                item.add_marker(pytest.mark.skip(reason="Chromium is not installed (package 'chromium')"))


def free_port():
    """A port that stays free while its server is dead: none that the system gives to whoever asks for any."""
    ports = list(range(20_000, 30_000))
    random.shuffle(ports)
    for port in ports:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


@dataclass
class Server:
    """A server process on a port that it keeps when it is started again. `options` are those of `server_process`."""

    web: Path
    options: tuple[str, ...] = ()
    port: int = 0
    url: str = ""
    process: asyncio.subprocess.Process | None = None

    async def start(self):
        """Start it and wait until it listens."""
        self.port = self.port or free_port()
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tests.web.server_process", "--web", self.web, "--port", str(self.port), *self.options),
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(300 if "--model" in self.options else 30):  # the model may have to be built first
            self.url = (await self.process.stdout.readline()).decode().strip()
        assert self.url, "the server did not start"

    async def kill(self):
        """Kill it, as a crash would."""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    return make_site(tmp_path_factory.mktemp("site"))


def make_site(folder: Path) -> Path:
    """Put the page's files into a folder, and beside them those that the tests need."""
    shutil.copytree(ROOT / "web", folder, dirs_exist_ok=True)
    shutil.copytree(HERE / "pages", folder, dirs_exist_ok=True)
    shutil.copytree(HERE / "cases", folder / "cases")
    manual = (ROOT / "docs" / "browser.md").read_text()
    example = re.search(r"```html\n(.*?)```", manual, re.DOTALL)[1].replace("wss://speech.example/", "./")
    head = '<!doctype html><title>Example</title><link rel="icon" href="favicon.svg">'
    (folder / "example.html").write_text(head + example)
    return folder


@asynccontextmanager
async def serving(site: Path, *options: str):
    """A server of the test's own, to be killed; by default one that speaks ten times as fast as one listens."""
    server = Server(site, options or ("--delay", "0.02"))
    await server.start()
    try:
        yield server
    finally:
        await server.kill()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server(site):
    """The server of all tests that leave it as it is."""
    async with serving(site) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def mortal_server(site):
    """A server of the test's own, to be killed."""
    async with serving(site) as server:
        yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser():
    assert CHROMIUM, "Chromium is not installed (package 'chromium')"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        await browser.close()


@asynccontextmanager
async def visit(
    browser: Browser, url: str, *, scripts: tuple[str, ...] = (), others: tuple[str, ...] = (), **options: object
):
    """Open a page that may make no request to another host, log no error and break no policy.

    `scripts` run before its own; `others` are hosts that it may ask; `options` are those of a browser context.

    Errors of the network are its business: pages outlive servers here.
    """
    context: BrowserContext = await browser.new_context(**options)
    context.set_default_timeout(15_000)
    await context.add_init_script(path=HERE / "pages" / "capture.js")
    for script in scripts:
        await context.add_init_script(script)
    page: Page = await context.new_page()
    page.evaluate = bounded(page.evaluate)
    faults, requests = [], []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
    page.on("request", lambda request: requests.append(request.url))
    await page.goto(url)
    yield page
    await context.close()
    expected = ("net::ERR", "WebSocket connection", "status of 503", "status of 401")
    assert not [fault for fault in faults if not any(words in fault for words in expected)], faults
    hosts = {url.split("/", 3)[2], *others}
    assert not [
        request for request in requests if not request.startswith("blob:") and request.split("/")[2] not in hosts
    ]


def bounded(call):
    """The same call, given up after a minute: Playwright itself waits for a promise without end."""

    async def call_within_a_minute(*arguments):
        async with asyncio.timeout(60):
            return await call(*arguments)

    return call_within_a_minute


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser, server):
    """The page, connected."""
    async with visit(browser, server.url) as page:
        await page.locator("[data-state=open]").wait_for()
        yield page


@pytest_asyncio.fixture(loop_scope="session")
async def library(browser, server):
    """A page with the client library as `rtvoice`, and nothing else on it."""
    async with visit(browser, f"{server.url}library.html") as page:
        await page.evaluate("async () => { window.voice = rtvoice.connect('./'); await voice.ready(); }")
        yield page


async def stop_and_listen(page: Page, act: str):
    """Click Stop or press a key; return how loud it was in the 100 ms before and from 100 ms after it on."""
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


async def speak(page: Page, text: str):
    """Type a text and press Speak."""
    await page.fill("#text", text)
    await page.click("#go")


async def until_heard(page: Page):
    """Wait until the page sounds."""
    await page.evaluate("() => capture.soundAfter(0)")


async def samples_of(page: Page, expression: str) -> np.ndarray:
    """Evaluate JavaScript that gives a Float32Array."""
    packed = await page.evaluate(
        f"""async () => {{
            const bytes = new Uint8Array((await ({expression})).buffer);
            let text = "";
            for (let at = 0; at < bytes.length; at += 8192) {{
                text += String.fromCharCode(...bytes.subarray(at, at + 8192));
            }}
            return btoa(text);
        }}"""
    )
    return np.frombuffer(base64.b64decode(packed), np.float32)


async def spoken_by(server, text, **options):
    """The samples [N] that the server sends for a text, float32, asked for without a browser."""
    async with connect(server.url.replace("http", "ws")) as socket:
        await socket.send(json.dumps({"type": "speak", "utterance": 1, "text": text, **options}))
        await socket.send(json.dumps({"type": "end", "utterance": 1}))
        frames = []
        while not isinstance(message := decode_server(await socket.recv()), Done):
            if isinstance(message, Audio):
                frames.append(np.frombuffer(message.data, "<i2"))
    return (np.concatenate(frames) / 32768).astype(np.float32)


def without_silence(samples):
    """The samples from the first to the last that is not 0."""
    heard = np.flatnonzero(samples)
    return samples[heard[0] : heard[-1] + 1]


@asynccontextmanager
async def below(path: str, port: int):
    """A proxy that serves another port's server below a path, which it strips. Gives the address of the page there."""

    async def carry(reader, writer):
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
            writer.close()

    async def serve(reader, writer):
        # One request a connection: the server closes it behind each answer.
        request = await reader.readline()
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", port)
        upstream_writer.write(request.replace(path.encode(), b"", 1))
        await asyncio.gather(carry(reader, upstream_writer), carry(upstream_reader, writer))

    proxy = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}{path}/"
    proxy.close()
