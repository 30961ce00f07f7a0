"""A bot of Pipecat whose voice is rtvoice: Pipecat's own ElevenLabs service with another address.

    pip install 'pipecat-ai[elevenlabs]'
    python examples/pipecat_bot.py "Hello there." -o hello.wav

The pipeline here is only a text, the voice and a file; put `voice()` where your pipeline has its service.
"""

from __future__ import annotations

import argparse
import asyncio
import wave

from pipecat.frames.frames import EndFrame, Frame, TTSAudioRawFrame, TTSSpeakFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.elevenlabs.tts import ElevenLabsTTSService
from pipecat.workers.runner import WorkerRunner

RATE = 24_000


def voice(server: str, key: str = "none", name: str = "af_heart") -> ElevenLabsTTSService:
    """Make the service.

    Args:
        server: address of rtvoice, as `ws://127.0.0.1:8765`.
        key: an API key, if the server wants one.
        name: of a voice.
    """
    settings = ElevenLabsTTSService.Settings(voice=name, model="eleven_flash_v2_5")
    return ElevenLabsTTSService(api_key=key, url=server, settings=settings)


class Recorder(FrameProcessor):
    """Writes what is spoken to a file."""

    def __init__(self, file: wave.Wave_write) -> None:
        super().__init__()
        self._file = file

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """See `FrameProcessor.process_frame`."""
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSAudioRawFrame):
            self._file.writeframes(frame.audio)
        await self.push_frame(frame, direction)


async def main() -> None:
    """Speak a text into a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("-o", "--output", default="speech.wav")
    parser.add_argument("--server", default="ws://127.0.0.1:8765")
    arguments = parser.parse_args()

    with wave.open(arguments.output, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        pipeline = Pipeline([voice(arguments.server), Recorder(file)])
        worker = PipelineWorker(pipeline, params=PipelineParams(audio_out_sample_rate=RATE))
        runner = WorkerRunner()
        await runner.add_workers(worker)
        await worker.queue_frames([TTSSpeakFrame(arguments.text), EndFrame()])
        await runner.run()


if __name__ == "__main__":
    asyncio.run(main())
