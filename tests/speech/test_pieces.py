"""Cutting phonemes into model calls: nothing lost, no call too long, cut where a speaker breathes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtvoice.speech.phonemes import PhonemeWord
from rtvoice.speech.pieces import TARGET, Piece, Span, cut


def words_of(*phonemes: str) -> list[PhonemeWord]:
    """One word for each string; a trailing space says that a space follows."""
    return [PhonemeWord(place, place + 1, item.rstrip(), item.endswith(" ")) for place, item in enumerate(phonemes)]


def phonemes_of(pieces: tuple[Piece, ...]) -> list[str]:
    return [piece.phonemes for piece in pieces]


sounds = st.text("aɪˈˌːtʃkəɹ", min_size=1, max_size=40)
marks = st.sampled_from([",", ".", "?", "—", "…", ";", "“", "”", "(", ")"])
texts = st.lists(st.builds(PhonemeWord, st.just(0), st.just(1), sounds | marks, st.booleans()), max_size=120)


@given(words=texts, target=st.integers(1, 80), slack=st.integers(0, 60))
def test_nothing_is_lost_or_twice_and_no_piece_is_too_long(words, target, slack):
    limit = target + slack
    pieces = cut(words, target=target, limit=limit)
    heard = [""] * len(words)
    for piece in pieces:
        assert 1 <= len(piece.phonemes) <= limit
        assert piece.phonemes == piece.phonemes.strip()
        for word, at, to in piece.spans:
            assert at < to
            heard[word] += piece.phonemes[at:to]
    assert heard == [word.phonemes for word in words]
    assert [span.word for piece in pieces for span in piece.spans] == sorted(
        span.word for piece in pieces for span in piece.spans
    )
    whole = "".join(word.phonemes + " " * word.space for word in words)
    assert "".join(phonemes_of(pieces)).replace(" ", "") == whole.replace(" ", "")


@given(words=texts, target=st.integers(40, 80))
def test_only_a_single_word_passes_the_target(words, target):
    for piece in cut(words, target=target, limit=510):
        assert len(piece.phonemes) <= target or " " not in piece.phonemes


@given(words=texts)
def test_spans_cover_all_but_the_spaces(words):
    for piece in cut(words, target=60, limit=60):
        covered = {place for span in piece.spans for place in range(span.at, span.to)}
        assert covered == {place for place, phoneme in enumerate(piece.phonemes) if phoneme != " "}


def test_nothing_to_say_is_no_piece():
    assert cut([]) == ()


def test_what_fits_is_one_piece():
    assert cut(words_of("hˈI ", "ðˈɛɹ", ".")) == (Piece("hˈI ðˈɛɹ.", (Span(0, 0, 3), Span(1, 4, 8), Span(2, 8, 9))),)


@pytest.mark.parametrize(("length", "pieces"), [(509, [509]), (510, [510]), (511, [256, 255]), (1020, [510, 510])])
def test_one_word_is_cut_only_past_the_models_limit(length, pieces):
    assert [len(piece.phonemes) for piece in cut(words_of("a" * length))] == pieces


@pytest.mark.parametrize(("spare", "pieces"), [(-1, 1), (0, 1), (1, 2)])
def test_the_models_limit_is_exact_for_many_words(spare, pieces):
    words = words_of(*["a" * 50 + " "] * 9, "a" * (510 - 9 * 51 + spare))
    assert len(cut(words, target=510, limit=510)) == pieces


def test_the_target_is_exact():
    half = "a" * (TARGET // 2)
    assert len(cut(words_of(half + " ", "a" * (TARGET - len(half) - 1)))) == 1
    assert phonemes_of(cut(words_of(half + " ", "b" * (TARGET - len(half))))) == [half, "b" * (TARGET - len(half))]


def test_pieces_are_of_about_equal_length():
    lengths = [len(piece.phonemes) for piece in cut(words_of(*["wɜɹd "] * 52))]  # 259 characters
    assert len(lengths) == 2
    assert max(lengths) - min(lengths) <= 10


@pytest.mark.parametrize(
    ("mark", "worse"),
    [(".", ","), (",", ""), (";", ","), ("—", ""), ("?", ";")],
)
def test_a_stronger_edge_wins_over_a_better_length(mark, worse):
    words = words_of(
        *["wɜɹd "] * 4, "ɛnd", f"{mark} ", *["wɜɹd "] * 2, "ɛnd", f"{worse} " if worse else " ", *["wɜɹd "] * 5
    )
    first = cut(words, target=50, limit=510)[0].phonemes
    assert first.endswith(mark)


def test_a_dash_without_spaces_is_an_edge():
    assert phonemes_of(cut(words_of("a" * 30, "—", "b" * 30), target=40, limit=510)) == ["a" * 30 + "—", "b" * 30]


def test_no_edge_between_a_stop_and_its_closing_quote():
    words = words_of("“", "a" * 30, "!", "” ", "b" * 30)
    assert phonemes_of(cut(words, target=40, limit=510)) == ["“" + "a" * 30 + "!”", "b" * 30]


def test_a_sound_is_not_cut_from_its_marks():
    for piece in cut(words_of("ˈɑː" * 30), target=10, limit=10):
        assert piece.phonemes[0] != "ː"
        assert piece.phonemes[-1] != "ˈ"


def test_spaces_inside_a_word_are_edges():
    assert phonemes_of(cut(words_of("ʤˈi ˈɑɹ zˈi wˈI kˈA"), target=12, limit=12)) == ["ʤˈi ˈɑɹ zˈi", "wˈI kˈA"]


@pytest.mark.parametrize(("target", "limit"), [(0, 510), (251, 250), (250, 511)])
def test_bad_limits_are_refused(target, limit):
    with pytest.raises(ValueError, match="target"):
        cut([], target=target, limit=limit)
