"""Text to phonemes: every word is said, as it is said, in characters the model knows."""

import subprocess
import sys

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rtvoice.speech.g2p import notation
from rtvoice.speech.g2p.english import English
from rtvoice.speech.g2p.espeak import Espeak
from rtvoice.speech.g2p.readable import readable, spoken_name
from rtvoice.speech.vocabulary import vocabulary


@pytest.fixture(scope="module")
def english():
    return English(Espeak())


@pytest.fixture(scope="module")
def spelling():
    """As it is where espeak-ng is not installed."""
    return English(None)


def said(english, text, language="en-us", given=()):
    words = english.words(text, language, given)
    return "".join(word.phonemes + " " * word.space for word in words).strip()


def said_for(english, text, part, language="en-us"):
    """Phonemes of the words that stand for a part of the text."""
    at = text.index(part)
    return "".join(w.phonemes for w in english.words(text, language) if at <= w.at and w.to <= at + len(part))


# --- What English says ---


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("Hello, world.", "həlˈO, wˈɜɹld."),
        ("I read it yesterday and will read it again.", "ˌI ɹˈɛd ɪt jˈɛstəɹdˌA ænd wɪl ɹˈid ɪt əɡˈɛn."),
        ("They read books every day.", "ðˌA ɹˈid bˈʊks ˈɛvəɹi dˈA."),
        ("She has read it.", "ʃˌi hæz ɹˈɛd ɪt."),
        ("Close the door close to me.", "klˈOz ðə dˈɔɹ klˈOs tə mˌi."),
        ("They present a present.", "ðˌA pɹizˈɛnt ɐ pɹˈɛzᵊnt."),
        ("He wound the bandage around the wound.", "hˌi wˈWnd ðə bˈændɪʤ əɹˈWnd ðə wˈund."),
        ("A tear fell; do not tear it.", "ɐ tˈɪɹ fˈɛl; dˈu nˌɑt tˈɛɹ ɪt."),
        ("The lead pipe will lead there.", "ðə lˈɛd pˈIp wɪl lˈid ðˈɛɹ."),
        ("I used to use it.", "ˌI jˈust tə jˈuz ɪt."),
        ("I am used to it.", "ˌI ɐm jˈust tʊ ɪt."),
        ("It is used to cut.", "ˌɪt ɪz jˈuzd tə kˈʌt."),
        ("Send your resume.", "sˈɛnd jʊɹ ɹˈɛzəmˌA."),
        ("the apple, the pear, to eat, to play", "ði ˈæpᵊl, ðə pˈɛɹ, tʊ ˈit, tə plˈA"),
        ("Can't, won't, y'all should've.", "kˈænt, wˈOnt, jˈɔl ʃˈʊdəv."),
        ("John's dogs' tails", "ʤˈɑnz dˈɔɡz tˈAlz"),
        ("'Tis rock 'n' roll.", "tˈɪz ɹˈɑk ən ɹˈOl."),
        ("A well-known state-of-the-art idea", "ɐ wˌɛlnˈOn stˈAtʌvðiˈɑɹt Idˈiə"),
        ("Wait—what -- why - so – there…", "wˈAt—wˌʌt — wˌI — sˌO — ðˈɛɹ…"),
        ("Really?? Stop!!! Well... no?!", "ɹˈiᵊli? stˈɑp! wˈɛl… nˈO?!"),
        ('"Hi," she said. “Bye.”', "“hˈI,” ʃi sˈɛd. “bˈI.”"),
        ("gonna gotta cannot", "ɡˈʌnə ɡˈɑTə kənˈɑt"),
        ("a.m. and p.m.", "ˌAˈɛm ænd pˌiˈɛm."),
        ("O'Brien. ma'am.", "ObɹˈIən. mˈæm."),
        ("and/or", "ænd ɔɹ"),
        ("a façade, a naïve café", "ɐ fəsˈɑd, ɐ nɑˈiv kæfˈA"),
        ("Dr. Smith vs. Mrs. Jones", "dˈɑktəɹ smˈɪθ vˈɜɹsəs mˈɪsɪz ʤˈOnz"),
    ],
)
def test_how_english_is_said(english, text, phonemes):
    assert said(english, text) == phonemes


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("THIS IS A TEST", "ðɪs ɪz ɐ tˈɛst"),
        ("I REALLY mean it.", "ˌI ɹˈiᵊli mˈin ɪt."),
        ("DON'T DO IT", "dˈOnt dˈu ɪt"),
        ("GIVE IT TO US NOW", "ɡˈɪv ɪt tʊ ˌʌs nˈW"),
        ("COME TO THE US NOW", "kˈʌm tə ðə jˌuˈɛs nˈW"),
        ("the IT team told the WHO and NASA", "ði ˌItˈi tˈim tˈOld ðə dˌʌbᵊljuˌAʧˈO ænd nˈæsə"),
        ("We saw the FBI and US troops.", "wˌi sˈɔ ði ˌɛfbˌiˈI ænd jˌuˈɛs tɹˈups."),
        ("LLMs and APIs, PhD", "ˌɛlˌɛlˈɛmz ænd ˌApˌiˈIz, pˌiˈAʧ dˈi"),
        ("U.S.A.", "jˌuˌɛsˈA."),
    ],
)
def test_capitals_are_loudness_or_initials(english, text, phonemes):
    assert said(english, text) == phonemes


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("Hello, world.", "həlˈQ, wˈɜːld."),
        ("Send your resume.", "sˈɛnd jɔː ɹˈɛzjʊmˌA."),
        ("The letter Z", "ðə lˈɛtə zˈɛd"),
        ("I can't bathe", "ˌI kˈɑːnt bˈAð"),
    ],
)
def test_how_british_english_is_said(english, text, phonemes):
    assert said(english, text, "en-gb") == phonemes


# --- What no lexicon has ---


@pytest.mark.parametrize(
    "text", ["My robot Grzyk hums.", "Grzyk", "Grzyk's", "half-Grzyk", "Grzyk7", "OpenVINO", "nginx"]
)
@pytest.mark.parametrize("language", ["en-us", "en-gb"])
def test_unknown_words_are_read(english, spelling, text, language):
    for reader in (english, spelling):
        for word in reader.words(text, language):
            assert word.phonemes
    assert said(english, text, language) != said(spelling, text, language) or text == "OpenVINO"


def test_without_espeak_unknown_words_are_spelled(spelling):
    assert said(spelling, "Grzyk hums") == "ʤˈi ˈɑɹ zˈi wˈI kˈA hˈʌmz"
    assert said(spelling, "half-Grzyk7") == "hˈæf ʤˈi ˈɑɹ zˈi wˈI kˈA sˈɛvən"


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("привет", "prʲivʲˈet"),
        ("γειά", "jˈa"),
        ("你好", "niχˈɑu"),
        ("こんにちは", "kˌonniʨˈiha"),
        ("안녕", "ˈɐnnjʌŋ"),
        ("नमस्ते", "nəmˈʌsteː"),
        ("שלום", "ʃalˈom"),
        ("Schrödinger", "ʃɹˈɜɹdɪŋɡəɹ"),
    ],
)
def test_other_scripts_are_read_by_their_rules(english, text, phonemes):
    assert said(english, text) == phonemes


@pytest.mark.parametrize(
    ("text", "like"),
    [
        ("你好", "Chinese character Chinese character"),
        ("ø", "Latin O with stroke"),
        ("αβγ", "Greek alpha beta gamma"),
        ("שמש", "Hebrew shin mem shin"),
    ],
)
def test_without_espeak_other_scripts_are_named(spelling, text, like):
    def sounds(text):  # stress is the sentence's affair
        return said(spelling, text).replace("ˈ", "").replace("ˌ", "").split()

    assert sounds(text) == sounds(like)


def test_letters_without_a_known_name_are_spelled_by_it(spelling):
    assert said(spelling, "ᚠ").split()[:2] == ["ɹˈunɪk", "ˈɛf"]


@pytest.mark.parametrize(
    ("text", "like"),
    [
        ("5 < 10 & x", "five less than ten and x"),
        ("a ½ cup, €5", "a one half cup, euro five"),
        ("50% @ home", "fifty percent at home"),
        ("x × y ÷ z − w", "x times y divided by z minus w"),
        ("😀", "grinning face"),
        ("１２ ٣ Ａ", "twelve three A"),
        ("ﬁne co\u00adoperate e\u0301tude", "fine cooperate étude"),
        ("“wait”。本当！？", "“wait”.本当?!"),
        ("[a] {b} «c»", "(a) (b) “c”"),
        ("it’s ‘fine’", "it's 'fine'"),
        ("9" * 20, " ".join("9" * 20)),
    ],
)
def test_what_is_no_english_letter_is_said_as_words(english, text, like):
    assert said(english, text) == said(english, like)


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u200d\ufe0f", "\ud800", "\ue000", "*", "_ _", "\u0301", "'"])
def test_what_makes_no_sound_is_no_word(english, text):
    assert [w for w in english.words(text, "en-us") if set(w.phonemes) - set('“”"')] == []


unicode_texts = st.text(st.characters(), max_size=40)
latin_texts = st.text("abcdeEXYZ'’-_./, 0159$€%é“”\"()\u0301\u00adßø漢п!?…—*#\n", max_size=60)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example("\ud800\udfff\x00(hi)")
@example("1,,2..3-4'5")
@example("A/b" * 300)
@example("\U00017000")
@example("-'" * 300)
@example("a" * 2000)
@given(text=unicode_texts | latin_texts)
def test_any_text_is_read_in_the_models_vocabulary(english, spelling, text):
    for reader in (english, spelling):
        place = 0
        spoken = set()
        for word in reader.words(text, "en-us"):
            assert 0 <= word.at < word.to <= len(text)
            assert word.at >= place
            place = word.at
            spoken.update(range(word.at, word.to))
            assert word.phonemes
            assert word.phonemes == word.phonemes.strip()
            assert set(word.phonemes) <= vocabulary().keys()
        silent = [c for i, c in enumerate(text) if i not in spoken and c.isalnum()]
        assert silent == [], "letters and digits that nothing was said for"


# --- Places, and phonemes an author gave ---


def test_each_word_knows_its_place(english):
    text = "Well…  the café’s “Grzyk” (x)"
    places = [(text[w.at : w.to], w.space) for w in english.words(text, "en-us")]
    assert places == [
        ("Well", False),
        ("…", True),
        ("the", True),
        ("café’s", True),
        ("“", False),
        ("Grzyk", False),
        ("”", True),
        ("(", False),
        ("x", False),
        (")", False),
    ]


def test_words_of_one_symbol_share_its_place(english):
    assert [(w.at, w.to) for w in english.words("a<b", "en-us")] == [(0, 1), (1, 2), (1, 2), (2, 3)]


def test_given_phonemes_are_said_as_given(english):
    words = english.words("Ask Grzyk's friend.", "en-us", [(4, 9, "ɡʒˈɪk")])
    assert [(w.at, w.to, w.phonemes) for w in words] == [
        (0, 3, "ˈæsk"),
        (4, 9, "ɡʒˈɪk"),
        (9, 11, "s"),
        (12, 18, "fɹˈɛnd"),
        (18, 19, "."),
    ]


def test_given_phonemes_of_several_words(english):
    words = english.words("Visit New  York City now", "en-us", [(6, 15, "nuːˈjɔɹk")])
    assert [(w.at, w.to) for w in words][:3] == [(0, 5), (6, 15), (16, 20)]
    assert words[1].phonemes == "nuːˈjɔɹk"


def test_the_article_hears_given_phonemes(english):
    assert said(english, "the xyz", given=[(4, 7, "ˈæpᵊl")]) == "ði ˈæpᵊl"
    assert said(english, "the xyz", given=[(4, 7, "pˈɛɹ")]) == "ðə pˈɛɹ"


def test_given_phonemes_in_foreign_notation(english):
    assert said(english, "gem church", given=[(0, 3, "gɛm"), (4, 10, "t͡ʃˈɜːt͡ʃ")]) == "ɡɛm ʧˈɜːʧ"


def test_given_phonemes_without_any_sound_are_passed_over(english):
    assert said(english, "hello", given=[(0, 5, "55")]) == "həlˈO"


def test_nothing_of_a_text_stays_in_the_tagger(english):
    strings = english._tagger.vocab.strings
    english.words("Warm up.", "en-us")
    before = len(strings)
    for number in range(50):
        english.words(f"Word{'x' * number}ish and such.", "en-us")
    assert len(strings) == before


# --- Parts ---


@pytest.mark.parametrize(
    ("ipa", "dialect", "phonemes"),
    [
        ("t͡ʃˈa͡ɪniːz", "en-us", "ʧˈIniz"),
        ("t͡ʃˈa͡ɪniːz", "en-gb", "ʧˈIniːz"),
        ("ɡˈo͡ʊ", "en-us", "ɡˈO"),
        ("ɡˈə͡ʊ", "en-gb", "ɡˈQ"),
        ("bˈɜːd", "en-us", "bˈɜɹd"),
        ("bˈʌʔn̩", "en-us", "bˈʌtᵊn"),
        ("ʒi.pˈe5n", None, "ʒipˈen"),
        ("mħˈɫ̪", None, "mhˈl"),
    ],
)
def test_ipa_in_the_models_alphabet(ipa, dialect, phonemes):
    assert notation.from_espeak(ipa, dialect) == phonemes


def test_espeak_says_no_language_switches():
    assert "(" not in Espeak().ipa("say नमस्ते twice", "en-us")


def test_espeak_refuses_a_voice_it_has_not():
    with pytest.raises(ValueError, match="no voice"):
        Espeak().ipa("hello", "en-xx")


def test_espeak_reads_every_clause():
    assert Espeak().ipa("one. two, three", "en-us") == "wˈʌn tˈuː θɹˈiː"


@pytest.mark.parametrize(
    ("character", "name"), [("€", "euro"), ("½", "one half"), ("漢", "Chinese character"), ("\ue000", "")]
)
def test_names_of_characters(character, name):
    assert spoken_name(character) == name


@given(text=st.text(st.characters(), max_size=60))
def test_readable_text_keeps_places(text):
    plain = readable(text)
    assert len(plain.starts) == len(plain.text)
    assert all(0 <= at <= to <= len(text) for at, to in zip(plain.starts, plain.ends, strict=True))
    assert "\ud800" not in plain.text


def test_only_what_is_needed_is_loaded():
    code = (
        "import sys; from rtvoice.speech.g2p.english import English; e = English(None); e.words('Hi.', 'en-us');"
        "print(e._tagger.component_names, *[m for m in ('torch', 'phonemizer') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['tok2vec', 'tagger']"
