"""What to say: streaming segmenter, markup, lexicon, normaliser. Sans-I/O; needs nothing of the engine.

::

    front = TextFront(TextOptions(language="en-us"))
    for delta in deltas:                       # as a language model writes them
        for script in front.push(delta):       # a sentence that is complete
            speak(script.parts)                # its words, each with the characters it came from
    for script in front.flush():
        speak(script.parts)

    segmenter = Segmenter()                    # or only the sentences, as sent
    segments = segmenter.push("It is $29") + segmenter.push(".95. Wait") + segmenter.flush()

What is named here is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtvoice.text.front import TextFront, TextOptions
    from rtvoice.text.lengths import EarlyCut, Lengths
    from rtvoice.text.lexicon import Lexicon
    from rtvoice.text.mapped import Mapped
    from rtvoice.text.normaliser import normalise
    from rtvoice.text.segment import Passage, Pause, Script, Segment, SpokenWord, settled
    from rtvoice.text.segmenter import Segmenter

__all__ = [
    "EarlyCut",
    "Lengths",
    "Lexicon",
    "Mapped",
    "Passage",
    "Pause",
    "Script",
    "Segment",
    "Segmenter",
    "SpokenWord",
    "TextFront",
    "TextOptions",
    "normalise",
    "settled",
]

_HOMES = {
    "EarlyCut": "lengths",
    "Lengths": "lengths",
    "Lexicon": "lexicon",
    "Mapped": "mapped",
    "Passage": "segment",
    "Pause": "segment",
    "Script": "segment",
    "Segment": "segment",
    "Segmenter": "segmenter",
    "SpokenWord": "segment",
    "TextFront": "front",
    "TextOptions": "front",
    "normalise": "normaliser",
    "settled": "segment",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"rtvoice.text.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
