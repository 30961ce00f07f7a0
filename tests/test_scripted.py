"""The double keeps to the contract of what it stands for."""

import pytest

from tests.contract import SynthesizerContract
from tests.scripted import ScriptedSynthesizer


class TestScripted(SynthesizerContract):
    @pytest.fixture
    async def synthesizer(self):
        async with ScriptedSynthesizer() as synthesizer:
            yield synthesizer
