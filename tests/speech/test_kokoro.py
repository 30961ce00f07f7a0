"""What is refused before anything is loaded."""

import pytest

from rtvoice.config import EngineConfig, Paths
from rtvoice.errors import InvalidInput
from rtvoice.speech.kokoro import KokoroSynthesizer
from rtvoice.speech.synthesizer import SpeechOptions

BLEND = "af_heart(2)+bf_emma(1)"


def kokoro(tmp_path, **config):
    return KokoroSynthesizer(EngineConfig(paths=Paths(cache=tmp_path, data=tmp_path), **config))


@pytest.mark.parametrize("language", [None, "en-us"])
def test_a_voice_that_is_not_there_is_refused_whatever_the_language(tmp_path, language):
    with pytest.raises(InvalidInput, match="There is no voice named 'nobody'"):
        kokoro(tmp_path).check(SpeechOptions(voice="nobody", language=language))


def test_a_blend_that_was_not_fitted_is_spoken_unless_that_is_forbidden(tmp_path):
    kokoro(tmp_path).check(SpeechOptions(voice=BLEND))
    careful = kokoro(tmp_path, unfitted=False)
    careful.check(SpeechOptions(voice="bf_emma"))
    with pytest.raises(
        InvalidInput, match=r"may run: rtvoice voices fit 'af_heart\(0\.6667\)\+bf_emma\(0\.3333\)'"
    ) as no:
        careful.check(SpeechOptions(voice=BLEND))
    assert no.value.field == "voice"
    assert set(no.value.allowed) == {voice.name for voice in careful.voices}
