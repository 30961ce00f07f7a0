"""A speaker who is interrupted: what was heard, what was not, and the next answer at once. No microphone needed.

    python examples/barge_in.py --after 1.5

The audio is not played but clocked: a player that has played `--after` seconds is stopped, as by somebody who begins to
talk. The server answers which text had been heard by then, which is what a conversation should remember.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

import rtvoice

STORY = (
    "Once upon a time there was a king who had three daughters. The first was wise, the second was brave, and the "
    "third one knew when to keep quiet. One day a stranger came to the gate and asked for bread."
)


async def main() -> None:
    """Speak, interrupt, speak again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="ws://127.0.0.1:8765")
    parser.add_argument("--after", type=float, default=1.5, help="seconds that are heard before the interruption")
    arguments = parser.parse_args()

    async with rtvoice.connect(arguments.server) as session:
        story = session.speak(STORY)
        playing_since = None
        async for _ in story:
            if playing_since is None:
                playing_since = time.perf_counter()
                asyncio.get_running_loop().call_later(
                    arguments.after, lambda: interruptions.append(asyncio.create_task(story.cancel(arguments.after)))
                )
        interrupted = time.perf_counter()
        heard = story.result.spoken_characters
        sys.stdout.write(f"heard:   {STORY[:heard]}\nunheard: {STORY[heard:]}\n")

        answer = session.speak("Yes? What is it?")
        frames = [frame async for frame in answer]
        seconds = sum(len(frame.samples) for frame in frames) / 48_000
        sys.stdout.write(f"then {seconds:.1f} s of another answer, {time.perf_counter() - interrupted:.2f} s later\n")


interruptions: list[asyncio.Task[None]] = []  # held, since the loop holds tasks only weakly


if __name__ == "__main__":
    asyncio.run(main())
