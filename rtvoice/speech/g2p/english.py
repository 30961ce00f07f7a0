"""English words to phonemes: misaki's lexicon and rules, fed with spaCy's tags, and what they get wrong put right.

misaki reads a word by its part of speech ("I *read* it" and "will *read* it" differ by it), so a sentence is tagged
before its words are looked up. Nothing is dropped: a word misaki has no phonemes for is read by `unknown`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import ChainMap
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from misaki import en  # type: ignore[import-untyped]
from misaki.token import MToken  # type: ignore[import-untyped]
from spacy.tokens import Doc

from rtvoice.speech.g2p.dictionary import NAMES, Dictionary, Entry, open_dictionary
from rtvoice.speech.g2p.notation import PUNCTUATION, from_author, known
from rtvoice.speech.g2p.readable import capitals, readable
from rtvoice.speech.g2p.tagger import load_tagger
from rtvoice.speech.g2p.unknown import UnknownWords

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from spacy.language import Language

    from rtvoice.speech.g2p.espeak import Espeak
    from rtvoice.text.mapped import Mapped, Pin

_GUESSED: Final = 2
"""misaki's rating of phonemes that no lexicon vouches for."""

_LONGEST_INITIALS: Final = 3

# What the lexicon lacks or has wrong, by dialect. Alternatives by part of speech, as in misaki's own entries.
_CORRECTIONS: Final[dict[str, dict[str, Entry]]] = {
    "en-us": {"resume": {"DEFAULT": "ɹəzˈum", "NOUN": "ɹˈɛzəmˌA"}},
    "en-gb": {"resume": {"DEFAULT": "ɹɪzjˈuːm", "NOUN": "ɹˈɛzjʊmˌA"}, "Z": "zˈɛd"},
}
# The parts of speech tell neither lead's metal from its leaders nor, in the tagger's hands, read's tenses apart.
_LEAD_METAL: Final = "lˈɛd"
_LEADEN: Final = frozenset(
    ("acid", "bullet", "bullets", "paint", "pipe", "pipes", "poisoning", "shot", "solder", "weights")
)
_HABIT: Final = frozenset(
    ("always", "daily", "every", "generally", "never", "normally", "often", "sometimes", "usually")
)
_STOPS: Final = PUNCTUATION - set('"“”()')
_DETERMINERS: Final = frozenset(("a", "an", "the", "this", "that", "my", "your", "his", "her", "its", "our", "their"))


class Word(NamedTuple):
    """A word or a mark: the range of the text it stands for, its phonemes, whether a space follows."""

    at: int
    to: int
    phonemes: str
    space: bool


class English:
    """Reads English texts in both dialects. A dialect's dictionaries are opened when it is first asked for.

    Args:
        espeak: reads what the dictionaries lack; None spells it.
        cache: the folder of what can be made again, where they lie as files; None has them in memory.
    """

    def __init__(self, espeak: Espeak | None, cache: Path | None = None) -> None:
        self._tagger = load_tagger()
        self._espeak = espeak
        self._cache = cache
        self._dialects: dict[str, _Dialect] = {}

    def load(self, language: str) -> _Dialect:
        """Open a dialect's dictionaries unless they are."""
        if language not in self._dialects:
            lexicon = _Lexicon(language, *(open_dictionary(name, self._cache) for name in NAMES[language]))
            self._dialects[language] = _Dialect(language, lexicon, self._tagger, self._espeak)
        return self._dialects[language]

    def words(self, text: str, language: str, given: Iterable[tuple[int, int, str]] = ()) -> list[Word]:
        """Read a text.

        Args:
            text: anything.
            language: `en-us` or `en-gb`.
            given: ranges of `text` and their phonemes, in order and apart.

        Returns:
            Words and marks in the text's order. Where a character is said in several words (*less than*), they share
            its range. Every word has phonemes, all of them in the model's vocabulary.
        """
        phonemes = [(at, to, from_author(ipa)) for at, to, ipa in given]
        plain = readable(text, [entry for entry in phonemes if entry[2]])
        words: list[Word] = []
        for word in self.load(language).words(plain):
            if word.phonemes:
                words.append(word)
            elif word.space and words:  # what makes no sound still parts its neighbours
                words[-1] = words[-1]._replace(space=True)
        return words


class _Lexicon(en.Lexicon):  # type: ignore[misc]  # misaki has no types
    """misaki's rules over dictionaries that are not in memory, and what these lack.

    `en.Lexicon.__init__` is not called: it reads them all.
    """

    def __init__(self, language: str, golds: Dictionary, silvers: Mapping[str, Entry]) -> None:
        self.british = language == "en-gb"
        self.cap_stresses = (0.5, 2)  # as misaki has them: what stress a capital brings, and a word of capitals
        # 'tis, 'twas: also at the beginning of a sentence
        self.contractions = [word for word in golds.starting_with("'") if len(word) > len("'ll")]
        capitals = {_capital(word): golds[word] for word in self.contractions}
        self.golds = ChainMap(_CORRECTIONS[language] | capitals, golds)  # type: ignore[arg-type]  # it is only read
        self.silvers = silvers


class _Dialect(en.G2P):  # type: ignore[misc]  # misaki has no types
    """misaki's English with the tagger we have, and every token's place kept.

    `en.G2P.__init__` is not called: it insists on a package named en_core_web_sm, and would fetch it.
    """

    def __init__(self, language: str, lexicon: _Lexicon, tagger: Language, espeak: Espeak | None) -> None:
        self.version = None
        self.british = lexicon.british
        self.nlp = tagger
        self.lexicon = lexicon
        alphabet = map(chr, range(ord("A"), ord("Z") + 1))
        letters = {letter: name for letter in alphabet if isinstance(name := lexicon.golds[letter], str)}
        self._unknown = UnknownWords(language, self._look_up, letters, espeak)
        self.fallback = lambda token: (self._speak(token.text), _GUESSED)
        self.unk = ""
        tokenizer: Any = tagger.tokenizer
        for word in lexicon.contractions:
            for one in (word, _capital(word)):  # the tokenizer's own rules see a quotation mark and a word
                tokenizer.add_special_case(one, [{"ORTH": one}])

    def words(self, text: Mapped) -> Iterator[Word]:
        """Read a text that is written for us; words without a sound are empty."""
        given = {pin.at: pin.ipa for pin in text.pins}
        spoken = self._quietened(text.text)
        _, tokens = self(spoken, preprocess=lambda plain: (plain, (), text.pins))
        place = 0
        for token in tokens:
            # misaki passes over some apostrophes; the characters it keeps are in the text's order.
            at = to = spoken.index(token.text[:1], place)
            for character in token.text:
                to = spoken.index(character, to) + 1
            place = to
            phonemes = given.get(at) or known(token.phonemes or "").strip() or self._speak(token.text)
            yield Word(*text.origin(at, to), phonemes, space=spoken.startswith(" ", to))
            if to == len(spoken) and token.text.endswith(".") and phonemes and not phonemes.endswith("."):
                # An abbreviation's full stop ends the sentence as well.
                yield Word(*text.origin(to - 1, to), ".", space=False)

    def tokenize(self, text: str, _: Sequence[str], pins: Sequence[Pin]) -> list[Any]:
        """Tag a text, and give the pinned words their phonemes. In the place of misaki's own, which `words` calls."""
        with self.nlp.memory_zone():  # or every new word would stay in the vocabulary for ever
            doc = self.nlp(_cut(self.nlp.make_doc(text), pins))
            places = [token.idx for token in doc]
            tokens = [
                MToken(
                    text=token.text,
                    tag=token.tag_,
                    whitespace=token.whitespace_,
                    _=MToken.Underscore(is_head=True, num_flags="", prespace=False),
                )
                for token in doc
            ]
        self._retag(tokens)
        for pin in pins:
            pinned = tokens[bisect_left(places, pin.at) : bisect_left(places, pin.to)]
            for token in pinned:
                token._.is_head = token is pinned[0]
                token.phonemes = pin.ipa if token is pinned[0] else ""
        return tokens

    def _retag(self, tokens: Sequence[Any]) -> None:
        """Put right what the tagger, or misaki's use of its tags, gets wrong."""
        texts = [token.text.lower() for token in tokens]
        for i, (token, word) in enumerate(zip(tokens, texts, strict=True)):
            before, after = texts[i - 1] if i else "", texts[i + 1] if i + 1 < len(texts) else ""
            if token.text in _STOPS:
                token.tag = "."  # whatever the tagger took it for, or it would be part of the word before
            elif token.text == "a" and after[:1].isalpha():
                token.tag = "DT"  # not the letter
            elif word == "read" and token.tag == "VBP" and not _HABIT.isdisjoint(texts[max(i - 5, 0) : i + 6]):
                token.tag = "VB"  # misaki takes VBP for the past, which it mostly is
            elif word == "lead" and after in _LEADEN:
                token.phonemes = _LEAD_METAL
            elif token.text.isupper() and (before in _DETERMINERS or token.text == "US"):
                token.tag = "NNP" if self._also_initials(token.text) else token.tag
        for used, to, verb in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if used.text.lower() == "used" and used.tag == "VBN" and to.text == "to" and verb.tag != "VB":
                used.tag = "VBD"  # "is used to it", not "is used to cut it"

    def _also_initials(self, word: str) -> bool:
        """Whether letters are a word or, as a noun, initials: US, WHO, IT."""
        entry = self.lexicon.golds.get(word)
        return isinstance(entry, dict) and "NOUN" in entry and entry["NOUN"] is None

    def _quietened(self, text: str) -> str:
        """Words in capitals for loudness in small letters, which the tagger knows; initials stay."""
        pieces, place = [], 0
        for at, to, shouted in capitals(text):
            word, small = text[at:to], text[at:to].lower()
            named = self._also_initials(word) and text[max(at - 4, 0) : at] in ("THE ", "the ")
            initials = isinstance(self.lexicon.golds.get(word), str) or named or not word.isascii()
            # Alone, misaki takes a word of the second-rate lexicon for initials if the tagger takes it for a name.
            rare = len(word) > _LONGEST_INITIALS and small not in self.lexicon.golds and small in self.lexicon.silvers
            if not initials and (rare or (shouted and len(word) > 1 and self._look_up(small))):
                pieces += [text[place:at], small]
                place = to
        return "".join([*pieces, text[place:]])

    def _look_up(self, word: str) -> str | None:
        """Phonemes of one English word by itself."""
        token = MToken(text=word, tag="NN", whitespace="", _=MToken.Underscore(is_head=True, num_flags=""))
        phonemes: str | None = self.lexicon(token, en.TokenContext())[0]
        return phonemes and phonemes.replace("ɾ", "T").replace("ʔ", "t")

    def _speak(self, text: str) -> str:
        """Phonemes of what the lexicon does not know, or the mark it is."""
        return self._unknown.phonemes(text) or "".join(mark for mark in text if mark in PUNCTUATION)


def _capital(contraction: str) -> str:
    return f"'{contraction[1:].capitalize()}"


def _cut(doc: Doc, pins: Sequence[Pin]) -> Doc:
    """The same text with a token's edge at every edge of a pin."""
    edges = {edge for pin in pins for edge in (pin.at, pin.to)}
    if not edges:
        return doc
    words: list[str] = []
    spaces: list[bool] = []
    for token in doc:
        cuts = [0, *(i for i in range(1, len(token)) if token.idx + i in edges), len(token)]
        words += [token.text[at:to] for at, to in pairwise(cuts)]
        spaces += [False] * (len(cuts) - 2) + [bool(token.whitespace_)]
    return Doc(doc.vocab, words=words, spaces=spaces)
