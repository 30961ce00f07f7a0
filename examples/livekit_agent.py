"""An agent of LiveKit whose voice is rtvoice: LiveKit's own ElevenLabs plugin with another address.

    pip install livekit-agents livekit-plugins-elevenlabs
    RTVOICE=http://127.0.0.1:8765 python examples/livekit_agent.py console

The rest of the agent (speech to text, the language model) is as you have it.
"""

from __future__ import annotations

import os

from livekit import agents
from livekit.plugins import elevenlabs


def voice(server: str, key: str = "none", name: str = "af_heart", **options: object) -> elevenlabs.TTS:
    """Make the voice.

    Args:
        server: address of rtvoice, as `http://127.0.0.1:8765`.
        key: an API key, if the server wants one.
        name: of a voice.
        options: of the plugin.
    """
    # pcm spares both sides an MP3 codec, which is the plugin's default.
    return elevenlabs.TTS(base_url=f"{server}/v1", api_key=key, voice_id=name, encoding="pcm_24000", **options)


async def entrypoint(context: agents.JobContext) -> None:
    """Greet whoever comes, and follow the voice word by word."""
    session = agents.AgentSession(
        tts=voice(os.environ.get("RTVOICE", "http://127.0.0.1:8765"), os.environ.get("RTVOICE_KEY", "none")),
        use_tts_aligned_transcript=True,
    )
    await session.start(agent=agents.Agent(instructions="Be brief."), room=context.room)
    await session.say("Hello there. What can I do for you?")


if __name__ == "__main__":
    agents.cli.run_app(agents.WorkerOptions(entrypoint_fnc=entrypoint))
