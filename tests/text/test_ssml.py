"""SSML: what its tags do, and what becomes of those that do nothing."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtvoice.config import MAX_SPEED, MIN_SPEED
from rtvoice.text.front import TextFront, TextOptions
from rtvoice.text.markup import Stretch
from rtvoice.text.markup.reader import MAX_PAUSE_S
from rtvoice.text.markup.ssml import MAX_DEPTH
from rtvoice.text.segment import Passage, Pause
from tests.text.marking import left_of, parts_of
from tests.text.segmenting import cuttings


def stretches(text: str, **options) -> list[tuple[str, float, str | None]]:
    parts, _ = parts_of(text, "ssml", **options)
    return [(p.text.text.strip(), p.rate, p.voice) for p in parts if isinstance(p, Stretch) and p.text.text.strip()]


@pytest.mark.parametrize(
    ("tag", "seconds"),
    [
        ('<break time="800ms"/>', 0.8),
        ("<break time='1.25s' />", 1.25),
        ('<break time="+.5s"></break>', 0.5),
        ('<break strength="none"/>', 0.0),
        ('<break strength="x-strong"/>', 1.0),
        ("<break/>", 0.5),
        ('<break time="soon"/>', 0.5),
        ('<break time="99999s"/>', MAX_PAUSE_S),
    ],
)
def test_break(tag, seconds):
    parts, rules = parts_of(f"Wait {tag} now", "ssml")
    assert [part for part in parts if isinstance(part, Pause)] == [Pause(seconds)]
    assert rules == ["break"]


@pytest.mark.parametrize(
    ("rate", "factor"),
    [
        ("slow", 0.75),
        ("x-fast", 1.7),
        ("default", 1.0),
        ("80%", 0.8),
        ("+20%", 1.2),
        ("-25%", 0.75),
        ("1.5", 1.5),
        ("1000%", MAX_SPEED),
        ("0", MIN_SPEED),
        ("quickly", 1.0),
    ],
)
def test_prosody_rate(rate, factor):
    assert stretches(f'<prosody rate="{rate}">so</prosody> then') == (
        [("so", factor, None), ("then", 1.0, None)] if factor != 1.0 else [("so then", 1.0, None)]
    )


def test_rates_multiply_and_voices_nest():
    text = (
        '<prosody rate="80%">a <prosody rate="50%">b</prosody> <voice name="am_michael">c <voice name="bf_emma">d'
        "</voice> e</voice></prosody> f"
    )
    assert stretches(text) == [
        ("a", 0.8, None),
        ("b", 0.5, None),
        ("c", 0.8, "am_michael"),
        ("d", 0.8, "bf_emma"),
        ("e", 0.8, "am_michael"),
        ("f", 1.0, None),
    ]


def test_a_voice_that_may_not_be_asked_for_changes_nothing():
    front = TextFront(TextOptions(markup="ssml", voices={"bf_emma"}.__contains__))
    text = '<voice name="bf_emma">a <voice name="nobody">b</voice> c</voice> d'
    said = [(p.text, p.voice) for s in front.push(text) + front.flush() for p in s.parts if isinstance(p, Passage)]
    assert said == [("a b c", "bf_emma"), ("d", None)]


def test_a_tag_may_blend_the_voices_that_may_be_asked_for():
    front = TextFront(TextOptions(markup="ssml", voices={"af_heart(2)+bf_emma"}.__contains__))
    text = '<voice name="af_heart(2)+bf_emma">a</voice> <voice name="af_heart+nobody">b</voice>'
    said = [(p.text, p.voice) for s in front.push(text) + front.flush() for p in s.parts if isinstance(p, Passage)]
    assert said == [("a", "af_heart(2)+bf_emma"), ("b", None)]


def test_tags_hold_over_segments():
    assert stretches('<prosody rate="slow">One. Two.</prosody> Three.') == [
        ("One.", 0.75, None),
        ("Two.", 0.75, None),
        ("Three.", 1.0, None),
    ]


def test_sub_says_its_alias_for_its_content():
    parts, _ = parts_of('The <sub alias="World Wide Web Consortium">W3C</sub> met.', "ssml")
    (part,) = parts
    assert isinstance(part, Stretch)
    assert part.text.text == "The World Wide Web Consortium met."
    assert part.text.origin(4, 29) == (43, 46)


def test_sub_that_reaches_over_segments_is_said_once():
    assert left_of('<sub alias="it">One. Two. Three.</sub> End.', "ssml") == "it End."


def test_phoneme_pins_its_content():
    parts, _ = parts_of('Meet <phoneme alphabet="ipa" ph="zɛfˈɪɹə"> Zefira </phoneme> now', "ssml")
    (part,) = parts
    assert isinstance(part, Stretch)
    ((at, to, ipa),) = part.text.pins
    assert (part.text.text[at:to], ipa) == ("Zefira", "zɛfˈɪɹə")


@pytest.mark.parametrize(
    "tag", ['<phoneme alphabet="x-sampa" ph="zE">', '<phoneme ph="5">', "<phoneme>", f'<phoneme ph="{"a" * 201}">']
)
def test_phonemes_that_cannot_be_said_leave_the_word(tag):
    parts, rules = parts_of(f"Meet {tag}Zefira</phoneme> now", "ssml")
    assert left_of(f"Meet {tag}Zefira</phoneme> now", "ssml") == "Meet Zefira now"
    assert not any(part.text.pins for part in parts if isinstance(part, Stretch))
    assert rules == []


@pytest.mark.parametrize(
    ("kind", "content", "said"),
    [
        ("characters", "ABC", "A B C"),
        ("spell-out", "a1", "a 1"),
        ("digits", "1905", "1 9 0 5"),
        ("ordinal", "3", "3rd"),
        ("ordinal", "12", "12th"),
        ("ordinal", "21", "21st"),
        ("ordinal", "many", "many"),
        ("cardinal", "12", "12"),
        ("date", "2031-05-02", "2031-05-02"),
    ],
)
def test_say_as(kind, content, said):
    assert left_of(f'<say-as interpret-as="{kind}">{content}</say-as>', "ssml") == said


def test_other_tags_entities_and_comments():
    text = (
        '<?xml version="1.0"?><speak>A &amp; b <!-- no. No --> <emphasis>c</emphasis> <mark name="x"/>&lt;d&gt; 5 < 6'
    )
    assert left_of(text, "ssml") == "A & b c <d> 5 < 6"


def test_a_comment_reaches_over_segments():
    assert left_of("One <!-- " + "two three. " * 150 + "--> four <!-- five", "ssml") == "One four"


def test_closing_tags_without_an_opening_one_and_deep_nesting_do_no_harm():
    assert stretches("</prosody>a</voice>") == [("a", 1.0, None)]
    deep = '<prosody rate="90%">' * 100 + "a" + "</prosody>" * 100 + "b"
    said = stretches(deep)
    assert said[0] == ("a", MIN_SPEED, None)
    assert said[-1] == ("b", 1.0, None)
    assert MAX_DEPTH < 100


def test_control_marks_act_in_ssml_too_if_they_may():
    text = "a [pause:1s] [b](/bˈi/) c"
    parts, rules = parts_of(text, "ssml")
    assert Pause(1.0) in parts
    assert rules == ["inline phonemes", "pause"]
    assert left_of(text, "ssml", control=False) == text


def test_tags_do_nothing_in_other_markup():
    text = 'Wait <break time="9s"/> <voice name="am_michael">now</voice>'
    for part in parts_of(text, "markdown")[0]:
        assert isinstance(part, Stretch)
        assert (part.rate, part.voice) == (1.0, None)
    assert left_of(text, "markdown") == "Wait now"
    assert left_of(text, "plain") == text


DOCUMENT = (
    '<speak><p>Hi <break time="0.8s"/> there.</p> <prosody rate="slow">One. <voice name="a">Two.</voice></prosody> '
    '<sub alias="x. Y">z</sub> <phoneme ph="zɛf">w</phoneme> <say-as interpret-as="digits">12</say-as></speak>'
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_nothing_depends_on_where_deltas_cut_tags(data):
    assert parts_of(data.draw(cuttings(DOCUMENT)), "ssml") == parts_of(DOCUMENT, "ssml")
