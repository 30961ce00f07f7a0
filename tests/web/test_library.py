"""The client library, on a page that has nothing else."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.web.conftest import PLAYER, TEXT, samples_of, spoken_by, visit, without_silence

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_what_leaves_the_worklet_is_what_the_server_sent(library, server):
    await library.evaluate(f"() => {{ {PLAYER} }}")
    heard = await samples_of(
        library,
        """(async () => {
            await player.open();
            const finished = new Promise((resolve) => player.on("finish", resolve));
            player.play(voice.speak(TEXT, { speed: 1.5, seed: 7 }));
            const { inSeconds } = await finished;
            await capture.until(capture.end + Math.ceil(inSeconds * 24000) + 256);
            return capture.sound();
        })()""".replace("TEXT", json.dumps(TEXT)),
    )
    expected = await spoken_by(server, TEXT, speed=1.5, seed=7)
    assert np.array_equal(heard, without_silence(expected))
    assert await library.evaluate("() => player.underruns") == 0


async def test_two_utterances_are_heard_one_after_the_other_without_a_gap(library, server):
    await library.evaluate(f"() => {{ {PLAYER} }}")
    heard = await samples_of(
        library,
        """(async () => {
            await player.open();
            const finished = new Promise((resolve) => player.on("finish", ({ track }) => track === 2 && resolve()));
            player.play(voice.speak("One two three."));
            player.play(voice.speak("Four five six."));
            await finished;
            await capture.until(capture.end + 1024);
            return capture.sound();
        })()""",
    )
    first, second = await spoken_by(server, "One two three."), await spoken_by(server, "Four five six.")
    assert np.array_equal(heard, without_silence(np.concatenate([first, second])))


async def test_text_may_come_in_pieces_cut_anywhere(library):
    text = "Flags 🇬🇧 and faces 😀 are two units each. Words behind them are counted rightly."
    outcome = await library.evaluate(
        """async (text) => {
            async function* units() { for (let i = 0; i < text.length; i++) yield text[i]; }
            const utterance = voice.speak(units());
            const words = [];
            utterance.on("words", (some) => words.push(...some));
            const outcome = await utterance.finished;
            return { ...outcome, text: utterance.text, words };
        }""",
        text,
    )
    assert outcome["type"] == "done"
    assert outcome["text"] == text
    units = text.encode("utf-16-le")
    assert outcome["spoken"] == len(units) // 2
    assert len(outcome["words"]) >= 12
    for word in outcome["words"]:
        assert units[2 * word["start"] : 2 * word["end"]].decode("utf-16-le") == word["text"]
    starts = [word["startS"] for word in outcome["words"]]
    assert starts == sorted(starts)


async def test_an_utterance_may_be_written_by_hand(library):
    outcome = await library.evaluate(
        """async () => {
            const utterance = voice.speak(null, { voice: "bm_george" });
            const firstAudio = new Promise((resolve) => utterance.on("audio", resolve));
            utterance.write("No full stop");
            utterance.flush();
            const { at, samples } = await firstAudio;
            utterance.end();
            return { at, samples: samples.length, ...(await utterance.finished) };
        }"""
    )
    assert outcome["at"] == 0
    assert outcome["samples"] > 0
    assert outcome["type"] == "done"
    assert outcome["spoken"] == len("No full stop")


async def test_no_audio_follows_a_cancel(library):
    result = await library.evaluate(
        """async (text) => {
            const utterance = voice.speak(text.repeat(40));
            let frames = 0;
            await new Promise((resolve) => utterance.on("audio", () => { frames++; resolve(); }));
            utterance.cancel();
            const before = frames;
            const outcome = await utterance.finished;
            const next = await voice.speak("Next.").finished;
            return { type: outcome.type, spoken: outcome.spoken, next: next.type, late: frames - before };
        }""",
        TEXT,
    )
    assert result["type"] == "cancelled"
    assert result["spoken"] < len(TEXT)
    assert result["late"] == 0
    assert result["next"] == "done"


async def test_a_source_that_fails_ends_its_utterance(library):
    error = await library.evaluate(
        """async () => {
            async function* source() { yield "It begins. "; throw new Error("the model is gone"); }
            return voice.speak(source()).finished.catch(({ code, message }) => ({ code, message }));
        }"""
    )
    assert error == {"code": "source", "message": "the model is gone"}


async def test_an_error_names_the_field_and_what_is_allowed(library):
    error = await library.evaluate(
        """async () => {
            const utterance = voice.speak("Hello.", { voice: "nobody" });
            return utterance.finished.catch(({ code, field, allowed }) => ({ code, field, allowed }));
        }"""
    )
    assert error == {"code": "invalid_input", "field": "voice", "allowed": ["af_heart", "bm_george"]}


async def test_an_interruption_at_any_moment_leaves_nothing_of_the_old(library):
    """20 stops at random moments, every second one followed at once by other words.

    From 100 ms after the stop on, the device is given the other words to the sample, and silence around them.
    """
    await library.evaluate(f"() => {{ {PLAYER} }}")
    rounds = await library.evaluate(
        """async (text) => {
            await player.open();
            const rounds = [];
            let state = 1;
            const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
            for (let i = 0; i < 20; i++) {
                capture.clear();
                player.play(voice.speak(text));
                const began = await capture.soundAfter(capture.end);
                await capture.until(began + Math.round(random() * 12000));
                const stopped = Math.round(capture.context.currentTime * 24000);
                player.stop();
                voice.cancel();
                const before = capture.loudest(stopped - 4800, stopped);
                const expected = i % 2 ? await other(`Other${i}.`) : new Float32Array(0);
                await capture.until(stopped + 7200);
                const heard = capture.between(stopped, capture.end);
                const lead = heard.findLastIndex(Boolean) - expected.findLastIndex(Boolean); // of the other words
                expected.forEach((sample, at) => (heard[lead + at] -= sample));
                const after = heard.subarray(2400).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
                rounds.push({ before, after, said: expected.length });
            }
            return rounds;

            /** Says something, and returns it once it was heard. */
            async function other(words) {
                const utterance = voice.speak(words);
                const samples = [];
                utterance.on("audio", (frame) => samples.push(...frame.samples));
                const finished = new Promise((resolve) =>
                    player.on("finish", ({ track }) => track === utterance.number && resolve()));
                player.play(utterance);
                await finished;
                await capture.until(capture.end + 1024);
                return Float32Array.from(samples, (sample) => sample / 32768);
            }
        }""",
        TEXT,
    )
    assert len(rounds) == 20
    assert all(stop["before"] > 0.1 for stop in rounds), "it spoke until it was stopped"
    assert [stop["after"] for stop in rounds] == [0.0] * 20
    assert [stop["said"] >= 4800 for stop in rounds] == [False, True] * 10


async def test_a_cancel_may_say_how_much_was_heard(library):
    outcome = await library.evaluate(
        """async (text) => {
            const utterance = voice.speak(text);
            await new Promise((resolve) => utterance.on("audio", ({ at }) => at > 24000 && resolve()));
            utterance.cancel(0.7);
            return utterance.finished;
        }""",
        TEXT,
    )
    assert outcome["type"] == "cancelled"
    assert TEXT[: outcome["spoken"]] == "The first sentence is"  # the fourth word begins at 0.6 s
    assert outcome["computeS"] > 0


async def test_the_position_is_what_is_heard(library):
    """Where the player says it is, against the sample that leaves for the device at that time."""
    errors = await library.evaluate(
        """async (text) => {
            window.player = new rtvoice.Player({ context: () => new AudioContext({ sampleRate: 24000 }) });
            await player.open();
            player.play(voice.speak(text));
            const began = await capture.soundAfter(capture.end);
            const errors = [];
            for (let i = 1; i <= 10; i++) {
                await capture.until(began + i * 4800);
                const { seconds } = player.position();
                const heard = capture.context.currentTime - player.latency - began / 24000;
                errors.push(seconds - heard);
            }
            player.stop();
            return errors;
        }""",
        TEXT,
    )
    # The first tone begins with sin(0) = 0, so the first sound is the track's second sample.
    assert max(map(abs, errors)) < 0.002


async def test_it_connects_again_when_the_server_is_back(browser, mortal_server):
    async with visit(browser, f"{mortal_server.url}library.html") as page:
        await page.evaluate(
            """async () => {
                window.voice = rtvoice.connect("./", { leastPause: 20, mostPause: 100 });
                window.states = [];
                window.waited = new Promise((resolve) =>
                    voice.on("state", (state) => {
                        states.push(state.name);
                        if (state.name === "waiting" && state.attempt === 3) resolve();
                    }));
                await voice.ready();
                window.lost = voice.speak("It never ends. ".repeat(100)).finished.catch(({ code }) => code);
            }"""
        )
        await mortal_server.kill()
        assert await page.evaluate("() => lost") == "disconnected"
        assert await page.evaluate("() => voice.speak('Hello?').finished.catch(({ code }) => code)") == "disconnected"
        await page.evaluate("() => waited")
        await mortal_server.start()
        outcome = await page.evaluate("() => voice.ready().then(() => voice.speak('Hello!').finished)")
        assert outcome["type"] == "done"
        states = await page.evaluate("() => states")
        assert states[:5] == ["open", "waiting", "connecting", "waiting", "connecting"]
        assert states[-2:] == ["connecting", "open"]
        await page.evaluate("() => voice.close()")
        assert await page.evaluate("() => voice.ready().catch(({ code }) => code)") == "closed"


async def test_the_example_in_the_manual_works(browser, server):
    # Its script is inline, which is short to read; the server's pages may have none.
    async with visit(browser, f"{server.url}example.html", bypass_csp=True) as page:
        await page.get_by_role("button", name="Speak").click()
        await page.evaluate("() => capture.soundAfter(0)")
        stopped = await page.evaluate(
            """() => {
                document.getElementById("stop").click();
                return Math.round(capture.context.currentTime * capture.context.sampleRate);
            }"""
        )
        await page.evaluate("(frame) => capture.until(frame)", stopped + 20_000)
        assert await page.evaluate("(frame) => capture.loudest(frame, capture.end)", stopped + 4_800) == 0


async def test_an_address_that_cannot_be_had_is_told_and_asked_for_again(browser, server):
    async with visit(browser, f"{server.url}library.html") as page:
        told = await page.evaluate(
            """async () => {
                const answers = [
                    () => Promise.reject(new Error("no token today")),
                    () => "http://",
                    () => new Promise(() => {}),
                    () => "./",
                ];
                const voice = rtvoice.connect(() => answers.shift()(), { leastPause: 1, mostPause: 1, patience: 500 });
                const told = [];
                voice.on("error", ({ code }) => told.push(code));
                voice.on("state", (state) => told.push(state.reason ?? state.name));
                await voice.ready();
                voice.close();
                return told;
            }"""
        )
    attempt = ["unreachable", "connecting"]
    assert told == ["address", *attempt, "address", *attempt, *attempt, "open", "closed"]


async def test_a_wrong_address_is_told_at_once(library):
    error = await library.evaluate("() => { try { rtvoice.connect('http://'); } catch ({ name }) { return name; } }")
    assert error == "TypeError"
