"""Continuous speech in a page for as long as you like, and what the device was given of it.

    python -m tests.web.soak [--minutes 10] [--scripted]

Fails if the player ran dry once, if what left the worklet is not what the server sent, to the sample, or if Whisper
does not understand it. The real model speaks, and the machine must be fast enough to keep up; with --scripted tones
take its place, which Whisper is not asked about.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import jiwer
import numpy as np
from playwright.async_api import async_playwright

from benchmarks.whisper import HEARD_S, Whisper
from rtvoice.config import SAMPLE_RATE
from rtvoice.paths import default_paths
from tests.model.sentences import SENTENCES
from tests.web.conftest import ARGUMENTS, CHROMIUM, HERE, make_site, samples_of, serving, without_silence

DRAIN_S = 10.0
MOST_ERRORS = 0.05

# Text comes at ten words a second, in utterances of about a minute, each opened while the last is still heard.
SOAK = """async ([sentences, seconds]) => {
    const voice = rtvoice.connect("./");
    window.player = new rtvoice.Player({ context: () => new AudioContext({ sampleRate: 24000 }) });
    window.sent = [];
    window.holes = [];
    const began = performance.now();
    for (const event of ["underrun", "resume"]) {
        player.on(event, ({ track, seconds }) => {
            const after = (performance.now() - began) / 1000;
            holes.push(`${after.toFixed(2)} s: ${event} ${seconds.toFixed(2)} s into utterance ${track}`);
        });
    }
    await voice.ready();
    await player.open();
    const until = performance.now() + seconds * 1000;
    async function* minute() {
        for (let i = 0; i < 18 && performance.now() < until; i++) {
            for (const word of `${sentences[i % sentences.length]} `.match(/\\S+\\s*/g)) {
                yield word;
                await new Promise((resolve) => setTimeout(resolve, 100));
            }
        }
    }
    const texts = [];
    const soak = async () => {
        while (performance.now() < until) {
            const utterance = voice.speak(minute());
            utterance.on("audio", ({ samples }) => sent.push(samples));
            player.play(utterance);
            await utterance.finished;
            texts.push(utterance.text);
            while (player.buffered > 5) await new Promise((resolve) => setTimeout(resolve, 100));
        }
        while (player.buffered > 0) await new Promise((resolve) => setTimeout(resolve, 100));
        await capture.until(capture.end + 4096);
        return texts.join(" ");
    };
    window.over = soak().finally(() => (window.done = true));
}"""

SENT = """(() => {
    const all = Int16Array.from(sent.splice(0).flatMap((part) => [...part]));
    return Float32Array.from(all, (sample) => sample / 32768);
})()"""


@dataclass
class Result:
    """What came of it: samples [N] at 24 kHz from the first sound to the last, their text, and where they ran dry."""

    sent: np.ndarray
    heard: np.ndarray
    text: str
    underruns: int
    holes: list[str]
    lead_s: float


async def soak(seconds: float, *, scripted: bool) -> Result:
    """Speak for so long."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("--delay", "0.1") if scripted else ("--model",)
        async with serving(make_site(Path(folder)), *options) as server, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            page = await browser.new_page()
            await page.add_init_script(path=HERE / "pages" / "capture.js")
            await page.goto(f"{server.url}library.html")
            await page.evaluate(SOAK, [SENTENCES, seconds])
            sent, heard, done = [], [], False
            while not done:
                await asyncio.sleep(min(DRAIN_S, seconds))
                done = await page.evaluate("() => Boolean(window.done)")
                heard.append(await samples_of(page, "capture.drain()"))
                sent.append(await samples_of(page, SENT))
            text = await page.evaluate("() => over")
            underruns, holes, lead_s = await page.evaluate("() => [player.underruns, holes, player.lead.seconds]")
            await browser.close()
    return Result(
        without_silence(np.concatenate(sent)), without_silence(np.concatenate(heard)), text, underruns, holes, lead_s
    )


def errors_of_listening(result: Result) -> float:
    """Whisper's word error rate over what was heard."""
    whisper = Whisper(default_paths(os.environ).cache / "whisper-base")
    understood = " ".join(whisper.hear(stretch) for stretch in stretches(result.heard))
    return jiwer.wer(plain(result.text), plain(understood))


def stretches(samples: np.ndarray):
    """Cut samples into pieces that Whisper takes at once, each where it is quietest in the second half of that."""
    most, step = int(HEARD_S * SAMPLE_RATE), SAMPLE_RATE // 10
    while len(samples) > most:
        second_half = samples[most // 2 : most]
        loudness = np.abs(second_half[: len(second_half) // step * step]).reshape(-1, step).max(axis=1)
        cut = most // 2 + int(loudness.argmin()) * step + step // 2
        yield samples[:cut]
        samples = samples[cut:]
    yield samples


def plain(text: str) -> str:
    """Only the words."""
    return " ".join(re.findall(r"[a-z']+", text.lower()))


async def main() -> int:
    """Run it and tell what came of it; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--scripted", action="store_true")
    arguments = parser.parse_args()
    began = time.monotonic()
    result = await soak(arguments.minutes * 60, scripted=arguments.scripted)
    same = np.array_equal(result.sent, result.heard)
    spoken_s, took_s = len(result.sent) / SAMPLE_RATE, time.monotonic() - began
    sys.stdout.write(
        f"{spoken_s:.0f} s of speech in {took_s:.0f} s, lead {result.lead_s:.2f} s\n"
        f"underruns: {result.underruns}\n"
        f"samples that left the worklet: {'those that were sent' if same else 'NOT those that were sent'}\n"
    )
    sys.stdout.writelines(f"  {hole}\n" for hole in result.holes)
    errors = 0.0
    if not arguments.scripted:
        errors = errors_of_listening(result)
        sys.stdout.write(f"words that Whisper heard otherwise: {errors:.1%}\n")
    return 1 if result.underruns or not same or errors > MOST_ERRORS else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
