"""Whisper writes down what was said: it is what was asked for."""

import jiwer
import pytest

from tests.model.sentences import SENTENCES, VOICES

pytestmark = pytest.mark.model

_PLAIN = jiwer.Compose(
    [
        jiwer.ToLowerCase(),
        jiwer.SubstituteRegexes({"[’‘]": "'", "-": " "}),
        jiwer.RemovePunctuation(),
        jiwer.RemoveMultipleSpaces(),
        jiwer.Strip(),
    ]
)


def test_whisper_reads_back_what_was_spoken(recordings, transcribe):
    asked = [_PLAIN(text) for _ in VOICES for text in SENTENCES]
    heard = [_PLAIN(transcribe(recordings[voice, text])) for voice in VOICES for text in SENTENCES]
    differences = [f"{said!r} heard as {other!r}" for said, other in zip(asked, heard, strict=True) if said != other]
    assert jiwer.wer(asked, heard) < 0.05, differences
