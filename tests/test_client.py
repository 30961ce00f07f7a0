"""The asyncio client against a live server."""

import asyncio

import pytest
from websockets.asyncio.server import serve

import rtvoice
from rtvoice import audio
from rtvoice.config import Limits
from rtvoice.errors import (
    ConnectionLost,
    ConnectionRefused,
    InvalidInput,
    LoadFailed,
    Overloaded,
    ServerStopping,
    SynthesisFailed,
    TextTooLong,
)
from rtvoice.protocol.messages import Cancelled, Done
from tests.scripted import WORD_S, ScriptedSynthesizer
from tests.serving.conftest import serving

pytestmark = pytest.mark.usefixtures("watched_loop")

SAMPLES = round(WORD_S * 24_000)


def url_of(endpoint):
    host, port = endpoint.address
    return f"ws://{host}:{port}"


@pytest.fixture
async def session():
    async with serving(ScriptedSynthesizer()) as endpoint, rtvoice.connect(url_of(endpoint)) as session:
        yield session


def assert_joined(segments, text):
    """Segments follow each other and are the text."""
    starts, ends = zip(*segments, strict=True)
    assert starts == (0, *ends[:-1])
    assert ends[-1] == len(text)


async def arriving(*pieces):
    for piece in pieces:
        await asyncio.sleep(0.001)
        yield piece


async def test_knows_what_the_server_offers(session):
    assert [voice.name for voice in session.ready.voices] == ["af_heart", "bm_george"]
    assert session.ready.limits.text_characters == 20_000


@pytest.mark.parametrize(
    "make_text",
    [lambda: "One two. Three.", lambda: ["One tw", "o. Thr", "ee."], lambda: arriving("One ", "two. ", "Three.")],
    ids=["str", "iterable", "async iterable"],
)
async def test_text_comes_whole_or_in_pieces(session, make_text):
    utterance = session.speak(make_text())
    frames = [frame async for frame in utterance]
    expected = 0
    for frame in frames:
        assert (frame.utterance, frame.index) == (1, expected)
        expected += len(frame.samples) // 2
    assert expected == 3 * SAMPLES
    assert_joined([frame.segment for frame in frames if frame.segment], "One two. Three.")
    words = [word for frame in frames for word in frame.words]
    assert [(word.text, word.start, word.end) for word in words] == [("One", 0, 3), ("two", 4, 7), ("Three", 9, 14)]
    assert [round(word.start_s / WORD_S) for word in words] == [0, 1, 2]
    assert isinstance(utterance.result, Done)
    assert utterance.number == 1


async def test_formats_hold_the_same_sound(session):
    def joined(frames):
        return b"".join(frame.samples for frame in frames)

    exact = audio.decode(joined([frame async for frame in session.speak("A word.", format="pcm_f32le")]), "pcm_f32le")
    coarse = audio.decode(joined([frame async for frame in session.speak("A word.")]), "pcm_s16le")
    assert len(exact) == len(coarse)
    assert abs(exact - coarse).max() < 1 / 32_000


async def test_options_reach_the_voice(session):
    async def spoken(**options):
        return b"".join([frame.samples async for frame in session.speak("Word.", **options)])

    plain = await spoken()
    assert await spoken() == plain
    assert await spoken(voice="bm_george") != plain
    assert await spoken(voice="af_heart(2)+bm_george(1)") != plain
    assert await spoken(seed=7) != plain
    assert len(await spoken(speed=2.0)) == len(plain) // 2


async def test_phonemes_come_to_who_asks_for_them(session):
    frames = [frame async for frame in session.speak("One two. Three.", phoneme_times=True)]
    sounds = [sound for frame in frames for sound in frame.phonemes]
    assert "".join(sound.phoneme for sound in sounds) == "OnetwoThree"
    for frame in frames:  # a word comes with its first one
        assert {word.start_s for word in frame.words} <= {sound.start_s for sound in frame.phonemes}
    assert not any([frame.phonemes async for frame in session.speak("One two.")])


async def test_nothing_to_say_is_done(session):
    utterance = session.speak("")
    assert [frame async for frame in utterance] == []
    assert isinstance(utterance.result, Done)


async def test_utterances_begun_together_are_spoken_in_order(session):
    order = []

    async def hear(text):
        async for frame in session.speak(text):
            order.append(frame.utterance)

    async with asyncio.TaskGroup() as group:
        for text in ("One two three.", "Four five.", "Six."):
            group.create_task(hear(text))
    assert order == sorted(order)
    assert set(order) == {1, 2, 3}


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"voice": "nobody"}, "voice"),
        ({"voice": "af_heart(2)+nobody(1)"}, "voice"),
        ({"language": "xx"}, "language"),
        ({"format": "flac"}, "format"),
    ],
)
async def test_options_that_are_not_allowed(session, options, field):
    with pytest.raises(InvalidInput) as caught:
        [frame async for frame in session.speak("Hello.", **options)]
    assert caught.value.field == field
    assert caught.value.allowed
    assert [frame async for frame in session.speak("Still here.")]


@pytest.mark.parametrize("speed", [0.4, 2.1, float("nan"), float("inf"), True])
async def test_speeds_that_are_none(session, speed):
    with pytest.raises(InvalidInput) as caught:
        [frame async for frame in session.speak("Hello.", speed=speed)]
    assert caught.value.field == "speed"


async def test_more_text_than_allowed(session):
    with pytest.raises(TextTooLong):
        [frame async for frame in session.speak("word " * 5_000)]
    assert [frame async for frame in session.speak("Still here.")]


@pytest.mark.parametrize("text", [["fine", 3], "half \ud83d a pair"])
async def test_text_that_is_none(session, text):
    with pytest.raises(InvalidInput) as caught:
        [frame async for frame in session.speak(text)]
    assert caught.value.field == "text"


async def test_an_exception_of_the_text_comes_out_and_cancels(session):
    async def broken():
        yield "One. Two"
        raise ZeroDivisionError

    utterance = session.speak(broken())
    with pytest.raises(ZeroDivisionError):
        [frame async for frame in utterance]
    assert [frame async for frame in session.speak("Next.")]


async def test_leaving_early_cancels():
    synthesizer = ScriptedSynthesizer(delay_s=0.01)
    async with serving(synthesizer) as endpoint, rtvoice.connect(url_of(endpoint)) as session:
        async for frame in session.speak("word " * 200):
            assert frame.index == 0
            break
        frames = [frame async for frame in session.speak("Next.")]
        assert {frame.utterance for frame in frames} == {2}
        assert synthesizer.slices_made < 50


async def test_cancel_ends_the_iteration_with_the_servers_account():
    synthesizer = ScriptedSynthesizer(delay_s=0.01)
    async with serving(synthesizer) as endpoint, rtvoice.connect(url_of(endpoint)) as session:
        utterance = session.speak("word " * 200)
        count = 0
        async for _ in utterance:
            count += 1
            await utterance.cancel()
        assert count == 1
        assert isinstance(utterance.result, Cancelled)
        assert 0 < utterance.result.spoken_characters < utterance.result.characters


async def test_cancel_before_it_begins(session):
    utterance = session.speak("Never.")
    await utterance.cancel()
    assert [frame async for frame in utterance] == []
    assert utterance.number is None


async def test_an_utterance_is_iterated_over_once(session):
    utterance = session.speak("Once.")
    assert [frame async for frame in utterance]
    with pytest.raises(RuntimeError):
        [frame async for frame in utterance]


async def test_flush_speaks_what_has_arrived(session):
    more = asyncio.Event()

    async def held():
        yield "One"
        await more.wait()
        yield " two."

    utterance = session.speak(held())
    iterator = aiter(utterance)
    first = asyncio.ensure_future(anext(iterator))
    await asyncio.sleep(0.05)
    assert not first.done()
    await utterance.flush()
    assert (await first).segment == (0, 3)
    more.set()
    segments = [frame.segment async for frame in iterator if frame.segment]
    assert segments == [(3, 8)]


async def test_a_segment_that_fails():
    async with (
        serving(ScriptedSynthesizer(fails_on="bad")) as endpoint,
        rtvoice.connect(url_of(endpoint)) as session,
    ):
        frames = []

        async def hear():
            async for frame in session.speak(["Good one.\n\n", "A bad one.\n\n", "Never."]):
                frames.append(frame)

        with pytest.raises(SynthesisFailed):
            await hear()
        assert sum(len(frame.samples) for frame in frames) == 2 * 3 * SAMPLES


async def test_one_who_does_not_iterate_holds_a_bounded_amount(monkeypatch):
    monkeypatch.setattr("rtvoice.link._MAX_WAITING", 4)
    async with serving(ScriptedSynthesizer()) as endpoint, rtvoice.connect(url_of(endpoint)) as session:
        iterator = aiter(session.speak("one two three four five six seven."))
        await anext(iterator)
        await asyncio.sleep(0.1)
        assert len([frame async for frame in iterator]) == 14
        held = aiter(session.speak("one two three four five six seven."))
        await anext(held)
        await asyncio.sleep(0.1)
        await held.aclose()  # full as it is, leaving it frees those behind it
        assert [frame async for frame in session.speak("Next.")]


async def test_the_server_goes_away():
    gate = asyncio.Event()
    async with (
        serving(ScriptedSynthesizer(gate=gate)) as endpoint,
        rtvoice.connect(url_of(endpoint), patience_s=0) as session,
    ):
        hearing = asyncio.ensure_future(anext(aiter(session.speak("Hello."))))
        await asyncio.sleep(0.05)
        await endpoint.abort()
        with pytest.raises(ServerStopping):
            await hearing
        with pytest.raises(ConnectionLost):
            [frame async for frame in session.speak("Anyone?")]
        assert not session.is_connected


async def test_nobody_listens(unused_tcp_port):
    with pytest.raises(ConnectionLost, match="no rtvoice server"):
        async with rtvoice.connect(f"ws://127.0.0.1:{unused_tcp_port}"):
            pass


async def test_a_load_that_fails_is_told_as_such():
    synthesizer = ScriptedSynthesizer(fails_on="bad", fault=LoadFailed("The engine could not be loaded."))
    async with serving(synthesizer) as endpoint, rtvoice.connect(url_of(endpoint)) as session:
        with pytest.raises(LoadFailed):
            [frame async for frame in session.speak("A bad one.")]


@pytest.mark.parametrize("url", ["127.0.0.1:8765", "http://127.0.0.1:1/"])
async def test_no_address(url):
    with pytest.raises(InvalidInput) as caught:
        async with rtvoice.connect(url):
            pass
    assert caught.value.field == "url"


async def test_a_full_server():
    async with (
        serving(ScriptedSynthesizer(), limits=Limits(connections=1)) as endpoint,
        rtvoice.connect(url_of(endpoint)),
    ):
        with pytest.raises(Overloaded) as caught:
            async with rtvoice.connect(url_of(endpoint)):
                pass
        assert caught.value.retry_after_ms > 0


async def test_an_origin_that_is_not_welcome():
    async with serving(ScriptedSynthesizer()) as endpoint:
        with pytest.raises(ConnectionRefused, match="403"):
            async with rtvoice.connect(url_of(endpoint), origin="https://elsewhere.example"):
                pass


async def test_a_server_of_something_else():
    async def chatter(socket):
        await socket.send("hello")
        await socket.wait_closed()

    async with serve(chatter, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ConnectionRefused, match="does not speak"):
            async with rtvoice.connect(f"ws://127.0.0.1:{port}"):
                pass
