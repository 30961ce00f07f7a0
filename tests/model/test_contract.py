"""The real engine keeps the contract that the tests' double keeps."""

import pytest
import pytest_asyncio

from rtvoice.speech.kokoro import KokoroSynthesizer
from tests.contract import SynthesizerContract

pytestmark = [pytest.mark.model, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def synthesizer(engine_config):
    async with KokoroSynthesizer(engine_config) as synthesizer:
        yield synthesizer


class TestKokoro(SynthesizerContract):
    pass
