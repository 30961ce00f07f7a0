"""Streams in every format: how long they are, and that they are what went in."""

import io
import wave

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rtvoice.encoders
from rtvoice.audio import cut, decode
from rtvoice.config import AUDIO_FORMATS, OPUS_RATES, PCM_FORMATS, SAMPLE_RATE, SAMPLE_RATES, AudioFormat
from rtvoice.encoders import Encoder, available_formats, check_format
from rtvoice.errors import InvalidInput

HERTZ = 440.0
ALL = [AudioFormat(name, rate) for name in AUDIO_FORMATS for rate in (OPUS_RATES if name == "opus" else SAMPLE_RATES)]


def tone(samples):
    return (0.5 * np.sin(2 * np.pi * HERTZ / SAMPLE_RATE * np.arange(samples))).astype(np.float32)


def encoded(audio_format, stretches, frame=2_400):
    """Encode stretches, each in frames, as a session does; asserts that positions follow each other."""
    encoder, data = Encoder(audio_format), b""
    size = PCM_FORMATS.get(audio_format.encoding, 1)
    for stretch in stretches:
        frames = list(cut(stretch, frame))
        for number, samples in enumerate(frames, start=1):
            at, piece = encoder.encode(samples, joins=number == len(frames))
            assert at * size == len(data)
            data += piece
    return data + encoder.finish()[1]


def decoded(audio_format, data):
    """What a player hears: samples, and their rate."""
    if audio_format.encoding in PCM_FORMATS:
        return decode(data, audio_format.encoding), audio_format.sample_rate
    with av.open(io.BytesIO(data)) as container:
        frames = list(container.decode(audio=0))
        rate = container.streams.audio[0].rate
    samples = np.concatenate([frame.to_ndarray().reshape(-1) for frame in frames])
    return samples.astype(np.float32) / (32_768 if samples.dtype == np.int16 else 1), rate


@pytest.mark.parametrize("audio_format", ALL, ids=str)
def test_lasts_as_long_as_what_went_in(audio_format):
    stretches = [tone(SAMPLE_RATE), tone(SAMPLE_RATE // 3), tone(7_777)]
    seconds = sum(map(len, stretches)) / SAMPLE_RATE
    heard, rate = decoded(audio_format, encoded(audio_format, stretches))
    frame = 0
    if audio_format.encoding == "mp3":
        frame = 1_152 if rate >= 32_000 else 576
    assert abs(len(heard) - seconds * rate) <= max(1, frame)


@pytest.mark.parametrize("audio_format", ALL, ids=str)
def test_sounds_as_what_went_in(audio_format):
    heard, rate = decoded(audio_format, encoded(audio_format, [tone(SAMPLE_RATE)]))
    middle = heard[len(heard) // 4 : -len(heard) // 4]
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle))))
    loudest = np.argmax(spectrum) * rate / len(middle)
    assert abs(loudest - HERTZ) < 5
    assert abs(np.sqrt(np.mean(middle**2)) - 0.5 / np.sqrt(2)) < 0.03


@given(st.lists(st.integers(1, 9_000), min_size=1, max_size=4), st.sampled_from(SAMPLE_RATES))
@settings(max_examples=40, deadline=None)
def test_samples_add_up_at_every_join(lengths, rate):
    data = encoded(AudioFormat("pcm_f32le", rate), [tone(length) for length in lengths])
    assert len(data) == 4 * round(sum(lengths) * rate / SAMPLE_RATE + 1e-9)


@pytest.mark.parametrize("rate", [8_000, 44_100])
def test_nothing_of_a_sentence_waits_for_the_next(rate):
    encoder = Encoder(AudioFormat("pcm_s16le", rate))
    _, data = encoder.encode(tone(4_800), joins=True)
    assert len(data) == 2 * round(4_800 * rate / SAMPLE_RATE)


def test_frames_may_be_any_length():
    whole = encoded(AudioFormat("pcm_s16le", 8_000), [tone(20_000)], frame=20_000)
    pieces = encoded(AudioFormat("pcm_s16le", 8_000), [tone(20_000)], frame=333)
    one, other = np.frombuffer(whole, np.int16).astype(int), np.frombuffer(pieces, np.int16).astype(int)
    assert np.abs(one - other).max() <= 1


def test_a_wav_stream_can_be_read():
    data = encoded(AudioFormat("wav", 16_000), [tone(SAMPLE_RATE)])
    with wave.open(io.BytesIO(data)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 16_000)
        assert len(file.readframes(1 << 20)) == 32_000


@pytest.mark.parametrize("name", AUDIO_FORMATS)
def test_nothing_to_say(name):
    _, data = Encoder(AudioFormat(name)).finish()
    assert len(data) == (44 if name == "wav" else 0)


@pytest.mark.parametrize(
    ("audio_format", "field"),
    [
        (AudioFormat("flac"), "format"),
        (AudioFormat("pcm_s16le", 11_025), "sample_rate"),
        (AudioFormat("opus", 44_100), "sample_rate"),
    ],
)
def test_what_cannot_be_made(audio_format, field):
    with pytest.raises(InvalidInput) as caught:
        check_format(audio_format)
    assert caught.value.field == field
    assert caught.value.allowed


def test_without_codecs(monkeypatch):
    monkeypatch.setattr(rtvoice.encoders, "find_spec", lambda name: None)
    assert available_formats() == (*PCM_FORMATS, "wav")
    with pytest.raises(InvalidInput):
        check_format(AudioFormat("mp3"))
