"""Continuous speech in a page for as long as you like: fails if the player runs dry once.

    python -m tests.web.soak [--minutes 10] [--model]

With --model the real model speaks, and the machine must be fast enough to keep up.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path

from playwright.async_api import async_playwright

from tests.web.conftest import ARGUMENTS, CHROMIUM, ROOT, Server

SENTENCES = (
    "The night train crosses the river at ten. ",
    "Somebody in the last carriage is reading aloud, and nobody minds. ",
    "Outside there are fields, a lamp, fields again. ",
)

# Text comes at ten words a second, in utterances of about a minute, each opened while the last is still heard.
SOAK = """async ([sentences, seconds]) => {
    const { connect, Player } = await import("./rtvoice.js");
    const voice = connect("./");
    const player = new Player();
    await voice.ready();
    await player.open();
    const until = performance.now() + seconds * 1000;
    async function* minute() {
        for (let i = 0; i < 24; i++) {
            for (const word of sentences[i % sentences.length].match(/\\S+\\s*/g)) {
                yield word;
                await new Promise((resolve) => setTimeout(resolve, 100));
            }
        }
    }
    let spoken = 0;
    while (performance.now() < until) {
        const utterance = voice.speak(minute());
        player.play(utterance);
        spoken += (await utterance.finished).audioS;
        while (player.buffered > 5) await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return { spoken, underruns: player.underruns, lead: player.lead.seconds };
}"""


async def soak(minutes: float, *, model: bool) -> int:
    """Run it; the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(shutil.copytree(ROOT / "web", folder, dirs_exist_ok=True))
        server = Server(site, delay_s=0.1, model=model)
        await server.start()
        try:
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
                page = await browser.new_page()
                await page.goto(server.url)
                began = time.monotonic()
                result = await page.evaluate(SOAK, [SENTENCES, minutes * 60])
                await browser.close()
        finally:
            await server.kill()
    sys.stdout.write(
        f"{result['spoken']:.0f} s of speech in {time.monotonic() - began:.0f} s, "
        f"lead {result['lead']:.2f} s, underruns: {result['underruns']}\n"
    )
    return 1 if result["underruns"] else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--model", action="store_true")
    arguments = parser.parse_args()
    sys.exit(asyncio.run(soak(arguments.minutes, model=arguments.model)))
