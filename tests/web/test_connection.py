"""The page and the library when the server goes, comes back, is full, or belongs to somebody else."""

from __future__ import annotations

import threading
import urllib.request
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.async_api import expect

from rtvoice.serving.access import make_key
from tests.web.conftest import samples_of, serving, speak, until_heard, visit

pytestmark = pytest.mark.asyncio(loop_scope="session")

LONG = "Every word of this goes on and on for a while. " * 32


async def test_it_says_when_the_server_goes_and_goes_on_when_it_is_back(browser, mortal_server):
    async with visit(browser, mortal_server.url) as page:
        await page.locator("[data-state=open]").wait_for()
        await speak(page, LONG)
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


async def test_a_full_server_says_so_and_takes_who_waits(browser, site):
    async with serving(site, "--connections", "1") as server, visit(browser, server.url) as first:
        await first.locator("[data-state=open]").wait_for()
        async with visit(browser, server.url) as second:
            await second.locator("[data-state=waiting]").wait_for()
            await expect(second.locator("#connection-text")).to_contain_text("Server full. Next try in")
            await expect(second.get_by_role("alert")).to_contain_text("is full")
            pause = await second.locator("#connection-text").inner_text()
            assert int(pause.split()[-2]) >= 1
            await first.close()
            await second.get_by_role("button", name="Try now").click()
            await second.locator("[data-state=open]").wait_for()
            await expect(second.get_by_role("alert")).to_be_empty()


async def test_a_full_server_is_left_alone_for_as_long_as_it_asks(browser, site):
    async with serving(site, "--connections", "1") as server, visit(browser, f"{server.url}library.html") as page:
        waiting = await page.evaluate(
            """async () => {
                window.first = rtvoice.connect("./");
                await first.ready();
                const answer = await fetch("readyz");
                const asked = Number(answer.headers.get("Retry-After"));
                const second = rtvoice.connect("./", { leastPause: 1, mostPause: 1 });
                const state = await new Promise((resolve) =>
                    second.on("state", (state) => state.name === "waiting" && resolve(state)));
                second.close();
                return { ...state, asked, inSeconds: (state.retryAt - Date.now()) / 1000 };
            }"""
        )
        assert waiting["reason"] == "full"
        assert waiting["asked"] >= 1
        assert waiting["asked"] - 0.5 < waiting["inSeconds"] < waiting["asked"] * 1.25 + 0.1


class Shop(SimpleHTTPRequestHandler):
    """Somebody else's site: it serves the library, and gives out tokens for the speech server, whose key it keeps."""

    def __init__(self, *arguments, speech, key, **options):
        self.speech, self.key = speech, key
        super().__init__(*arguments, **options)

    def do_GET(self):
        if not self.path.startswith("/speech-token"):
            return super().do_GET()
        origin = self.path.partition("=")[2] or f"http://{self.headers['Host']}"
        request = urllib.request.Request(  # noqa: S310
            f"{self.speech.url}token?origin={origin}", headers={"Authorization": f"Bearer {self.key}"}
        )
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            body = answer.read()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        return self.wfile.write(body)

    def end_headers(self):
        speech = f"127.0.0.1:{self.speech.port}"
        self.send_header(
            "Content-Security-Policy",
            f"default-src 'none'; script-src 'self'; img-src 'self'; connect-src 'self' ws://{speech} http://{speech}",
        )
        super().end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def shop(folder, speech, key):
    """The shop's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Shop, directory=folder, speech=speech, key=key))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def key_and_file(tmp_path):
    key, line = make_key("shop")
    file = tmp_path / "keys"
    file.write_text(f"{line}\n")
    return key, str(file)


TOKENS = """async (speech) => {
    window.tokens = [];
    window.voice = rtvoice.connect(async () => {
        const { token } = await (await fetch("speech-token")).json();
        tokens.push(token);
        return `${speech}?token=${token}`;
    }, { leastPause: 20, mostPause: 100 });
    window.player = new rtvoice.Player();
    await voice.ready();
    await player.open();
    player.play(voice.speak("Hello from the shop."));
    await new Promise((resolve) => player.on("finish", resolve));
}"""


async def test_a_page_of_another_origin_speaks_with_a_token(browser, site, key_and_file):
    key, file = key_and_file
    async with serving(site, "--keys", file) as speech:
        with shop(site, speech, key) as url:
            host = f"127.0.0.1:{speech.port}"
            async with visit(browser, f"{url}library.html", others=(host,)) as page:
                await page.evaluate(TOKENS, speech.url)
                assert len(await samples_of(page, "capture.sound()")) > 0
                # The server that comes back knows none of the tokens that its predecessor gave out.
                await speech.kill()
                await page.evaluate(
                    "() => new Promise((resolve) => voice.on('state', ({ name }) => name === 'waiting' && resolve()))"
                )
                await speech.start()
                again = await page.evaluate("async () => (await voice.ready(), voice.speak('Again.').finished)")
                assert again["type"] == "done"
                tokens = await page.evaluate("() => tokens")
                assert len(set(tokens)) == len(tokens) >= 2


@pytest.mark.parametrize("query", ["?token=none", "?token=OF-ANOTHER-ORIGIN", ""])
async def test_a_page_without_a_good_token_is_refused(browser, site, key_and_file, query):
    key, file = key_and_file
    async with serving(site, "--keys", file) as speech:
        with shop(site, speech, key) as url:
            async with visit(browser, f"{url}library.html", others=(f"127.0.0.1:{speech.port}",)) as page:
                state = await page.evaluate(
                    """async ([speech, query]) => {
                        const elsewhere = await fetch("speech-token?origin=https://elsewhere.example");
                        const { token } = await elsewhere.json();
                        const voice = rtvoice.connect(speech + query.replace("OF-ANOTHER-ORIGIN", token));
                        const state = await new Promise((resolve) =>
                            voice.on("state", (state) => state.name !== "connecting" && resolve(state)));
                        voice.close();
                        return state;
                    }""",
                    [speech.url, query],
                )
                assert (state["name"], state.get("reason")) == ("waiting", "refused")


async def test_the_page_says_that_a_key_is_asked_for_and_takes_one(browser, site, key_and_file):
    key, file = key_and_file
    async with serving(site, "--keys", file) as server:
        async with visit(browser, server.url) as page:
            await expect(page.get_by_role("alert")).to_contain_text("?api_key=")
            await expect(page.locator("#connection-text")).to_contain_text("Refused")
        async with visit(browser, f"{server.url}?api_key={key}") as page:
            await page.locator("[data-state=open]").wait_for()
            await page.locator("#engine").scroll_into_view_if_needed()
            await expect(page.locator("#engine-state")).to_have_text("Ready")
            await speak(page, "Hello.")
            await until_heard(page)
