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
from tests.web.conftest import ARGUMENTS, CHROMIUM, HERE, make_site, samples_of, serving

DRAIN_S = 10.0
MOST_ERRORS = 0.05

# Text comes at ten words a second, in utterances of about a minute, each opened while the last is still heard.
SOAK = """async ([sentences, seconds]) => {
    const voice = rtvoice.connect("./");
    window.player = new rtvoice.Player({ context: () => new AudioContext({ sampleRate: 24000 }) });
    window.sent = [];
    window.segments = [];
    await voice.ready();
    await player.open();
    async function* minute() {
        for (let i = 0; i < 18; i++) {
            for (const word of `${sentences[i % sentences.length]} `.match(/\\S+\\s*/g)) {
                yield word;
                await new Promise((resolve) => setTimeout(resolve, 100));
            }
        }
    }
    const until = performance.now() + seconds * 1000;
    let samples = 0;
    const soak = async () => {
        while (performance.now() < until) {
            const utterance = voice.speak(minute());
            utterance.on("segment", ({ start, end }) => segments.push({ start, end, sample: samples, utterance }));
            utterance.on("audio", (frame) => {
                sent.push(frame.samples);
                samples += frame.samples.length;
            });
            player.play(utterance);
            await utterance.finished;
            while (player.buffered > 5) await new Promise((resolve) => setTimeout(resolve, 100));
        }
        while (player.buffered > 0) await new Promise((resolve) => setTimeout(resolve, 100));
        await capture.until(capture.end + 4096);
        return segments.map(({ start, end, sample, utterance }) => [sample, utterance.text.slice(start, end)]);
    };
    window.over = soak().finally(() => (window.done = true));
}"""

SENT = """(() => {
    const all = Int16Array.from(sent.splice(0).flatMap((part) => [...part]));
    return Float32Array.from(all, (sample) => sample / 32768);
})()"""


@dataclass
class Result:
    """What came of it: samples [N] at 24 kHz from the first sound on, and which of them begin which text."""

    sent: np.ndarray
    heard: np.ndarray
    segments: list[tuple[int, str]]
    underruns: int
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
            segments = await page.evaluate("() => over")
            underruns, lead_s = await page.evaluate("() => [player.underruns, player.lead.seconds]")
            await browser.close()
    spoken = np.concatenate(sent)
    began = np.flatnonzero(spoken)[0]
    return Result(
        without_silence(spoken),
        without_silence(np.concatenate(heard)),
        [(max(0, sample - began), text) for sample, text in segments],
        underruns,
        lead_s,
    )


def without_silence(samples: np.ndarray) -> np.ndarray:
    """The samples from the first to the last that is not 0."""
    sounding = np.flatnonzero(samples)
    return samples[sounding[0] : sounding[-1] + 1] if len(sounding) else samples[:0]


def errors_of_listening(result: Result) -> float:
    """Whisper's word error rate over what was heard, in stretches as long as it takes at once."""
    whisper = Whisper(default_paths(os.environ).cache / "whisper-base")
    asked, understood = [], []
    starts = [sample for sample, _ in result.segments] + [len(result.heard)]
    first = 0
    for last in range(1, len(starts)):
        at_end = last == len(starts) - 1
        if not at_end and starts[last + 1] - starts[first] <= HEARD_S * SAMPLE_RATE:
            continue
        asked.append(plain(" ".join(text for _, text in result.segments[first:last])))
        understood.append(plain(whisper.hear(result.heard[starts[first] : starts[last]])))
        first = last
    return jiwer.wer(asked, understood)


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
    errors = 0.0
    if not arguments.scripted:
        errors = errors_of_listening(result)
        sys.stdout.write(f"words that Whisper heard otherwise: {errors:.1%}\n")
    return 1 if result.underruns or not same or errors > MOST_ERRORS else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
