"""What is read how: the table in readings.txt, and what holds for every text."""

from __future__ import annotations

import time

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from rtvoice.text.mapped import Mapped
from rtvoice.text.normaliser import characters, english, normalise
from scripts.write_text_docs import DOCS, load_readings, render

READINGS = load_readings()


def title(reading):
    return f"{reading.heading}: {reading.written}"


def spoken(text, language="en-us", **options):
    return normalise(Mapped.of(text), language, **options).text.text


@pytest.mark.parametrize("reading", READINGS, ids=title)
def test_reading(reading):
    assert spoken(reading.written).strip() == reading.american
    assert spoken(reading.written, "en-gb").strip() == reading.british


def test_the_table_shows_every_rule():
    fired = {
        name
        for reading in READINGS
        for language in ("en-us", "en-gb")
        for name in normalise(Mapped.of(reading.written), language).rules
    }
    rules = (*characters.RULES, *english.FIRST_RULES, *english.DIGIT_RULES, *english.WORD_RULES, *english.MARK_RULES)
    assert {rule.name for rule in rules} <= fired


def test_the_page_is_up_to_date():
    assert DOCS.read_text(encoding="utf-8") == render(READINGS), "run: python scripts/write_text_docs.py"


# Letters that were spelled look like initials or numerals when they are read again.
NOT_TWICE = ("U.S.", "We meet at 8 p.m. Bring food.", "John V. Smith")


@pytest.mark.parametrize("reading", [reading for reading in READINGS if reading.written not in NOT_TWICE], ids=title)
def test_reading_what_is_spoken_changes_nothing(reading):
    """What the first pass has made is words: the second finds nothing to do."""
    assert spoken(reading.american).strip() == reading.american


@pytest.mark.parametrize(
    ("text", "word", "written"),
    [
        ("It cost $5 now.", "dollars", "$5"),
        ("See docs.example.com now.", "dot", "."),
        ("See docs.example.com now.", "example", "example"),
        ("The 9:05 p.m. train.", "P M", "9:05 p.m."),
        ("Wind 42 km/h, calm.", "kilometers", "42 km/h"),
        ("They’re here.", "here", "here"),
        ("Part III tonight.", "three", " III"),
        ("Call 415-555-0132 now.", "zero one three two", "0132"),
        ("Dr. Osei came.", "Doctor", "Dr."),
        ("Pay 5–10% more.", "ten", "5–10%"),
        ("🎉🎉 great", "great", "great"),
        ("x² grows", "squared", "²"),
    ],
)
def test_spoken_words_know_their_characters(text, word, written):
    said = normalise(Mapped.of(text, 100), "en-us").text
    at = said.text.index(word)
    start, end = said.origin(at, at + len(word))
    assert text[start - 100 : end - 100] == written


def test_letters_that_are_spelled_have_phonemes():
    for language, phonemes in (("en-us", "pˌiˈɛm"), ("en-gb", "pˌiːˈɛm")):
        said = normalise(Mapped.of("at 9 p.m. sharp"), language).text
        assert [(said.text[pin.at : pin.to], pin.ipa) for pin in said.pins] == [("P M", phonemes)]


@pytest.mark.parametrize(
    ("text", "ipa"),
    [("the U.S.'s", "jˌuˈɛsᵻz"), ("R.E.M.'s", "ˌɑɹˌiˈɛmz"), ("two PhDs", "pˌiˌAʧdˈiz"), ("the A.F.'s", "ˌAˈɛfs")],
)
def test_possessives_of_initials_end_as_they_sound(text, ipa):
    assert ipa in [pin.ipa for pin in normalise(Mapped.of(text), "en-us").text.pins]


def test_pinned_words_stay():
    text = Mapped.of("say k8s and $5").pin(4, 7, "kˈubz")
    said = normalise(text, "en-us").text
    assert said.text == "say k8s and five dollars"
    assert [pin.ipa for pin in said.pins] == ["kˈubz"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Great job 🎉 team.", "Great job party popper team."),
        ("👍🏽👩‍💻", "thumbs up medium skin tone, woman technologist"),
        ("🥇 first", "first place medal first"),
    ],
)
def test_emoji_are_named_when_asked_for(text, names):
    assert spoken(text, emoji_names=True).strip() == names


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("fr", "Il a 21 ans et 3,5 %.", "Il a vingt et un ans et trois virgule cinq pour cent."),
        ("es", "Son 1.200 personas & 5 €", "Son mil doscientos personas y cinco euros "),
        ("de", "Es ist 12 °", "Es ist zwölf Grad "),
        ("pt-br", "€5 @ 10", "cinco euros arroba dez"),
        ("it", "3 + 4 = 7", "tre più quattro uguale sette"),
        ("zh", "这是**重点**。共１２个", "这是 重点。共12个"),
        ("ja", "温度は20°です🎉。", "温度は20 です。"),
        ("xx", "a * b 5", "a b 5"),
    ],
)
def test_other_languages(language, text, expected):
    assert spoken(text, language) == expected


# --- for every text -------------------------------------------------------------------------------------------------

NOT_WORDS = regex.compile(r"[\p{N}\p{S}\p{C}#%&*/@\\_\[\]{}•§¶†‡]")

WRITTEN = st.lists(
    st.one_of(
        st.sampled_from([reading.written for reading in READINGS]),
        st.text(max_size=4),
        st.text(alphabet="0123456789.,:/-–$€%°²#@&+*=<>()[]'\" aAIVXLCkmMGBspth", max_size=12),
        st.sampled_from([" ", "", "-", ".", ", "]),
    ),
    max_size=6,
).map("".join)


@given(WRITTEN)
@example("")
@example("1" * 400)
@example("\u0660\u0e59\U0001d7d8 ¹ ⅔ ㉍ Ⅻ ௰ 〇")
@example("⊞⟿¤₠⸮\ue000\U000e0041\x00\ud7ff")
def test_no_digit_and_no_symbol_is_left(text):
    for language in ("en-us", "en-gb"):
        said = spoken(text, language)
        assert not NOT_WORDS.findall(said), said


@given(WRITTEN)
@example("Ms. No. 5–“a”…")
def test_quick_looks_hide_nothing(text):
    """Every rule tried on every text says the same as only those whose quick look finds something."""
    expected = Mapped.of(text).strip()
    for rule in characters.RULES:
        expected = rule.apply(expected, characters.Writing())
    for rule in (*english.FIRST_RULES, *english.DIGIT_RULES, *english.WORD_RULES, *english.MARK_RULES):
        expected = rule.apply(expected, english.AMERICAN)
    assert normalise(Mapped.of(text), "en-us").text == expected


@given(WRITTEN, st.integers(0, 10_000))
def test_every_character_comes_from_somewhere_and_order_is_kept(text, start):
    said = normalise(Mapped.of(text, start), "en-us").text
    origins = [said.origin(i, i + 1) for i in range(len(said))]
    assert all(start <= low <= high <= start + len(text) for low, high in origins)
    assert origins == sorted(origins)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz ", max_size=60))
def test_small_plain_words_are_left_alone(text):
    plain = " ".join(word for word in text.split() if word not in ("vs", "eg", "ie", "aka", "approx", "dept", "govt"))
    normalised = normalise(Mapped.of(plain), "en-us")
    assert (normalised.text.text, normalised.rules) == (plain, ())


PATHOLOGICAL = {
    "dots": "a.", "digits": "9", "at": "a@", "opening brackets": "[", "parentheses": "(", "decimals": "1.",
    "commas": "1,", "hyphens": "1-", "slashes": "1/", "colons": "1:", "quotes": "'", "inches": '5" ', "money": "$5",
    "initials": "A. ", "superscripts": "x²", "joiners": "👩\u200d", "schemes": "http://", "paths": "/a",
    "spaced thousands": "111 ", "Roman": "IV ", "fractions": "½", "crosses": "5 x ", "abbreviations": "e.g.",
    "letters": "A", "spaces": " ",
}  # fmt: skip


@pytest.mark.parametrize("unit", PATHOLOGICAL.values(), ids=PATHOLOGICAL)
def test_time_is_linear(unit):
    """Four times the text takes about four times as long; a quadratic rule would take sixteen."""

    def seconds(length):
        text = Mapped.of((unit * length)[:length])
        started = time.process_time()
        normalise(text, "en-us")
        return time.process_time() - started

    seconds(1_000)
    assert min(seconds(16_000) for _ in range(2)) < 9 * min(seconds(4_000) for _ in range(3)) + 0.02
