"""SSML, the part of it that changes how something is said.

`break`, `phoneme` (alphabet ipa), `sub`, `say-as`, `prosody` (rate) and `voice` act; other tags are left out and
what is between them is said. The text need not be well-formed: it is still being written.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, NamedTuple

from rtvoice.config import MAX_SPEED, MIN_SPEED
from rtvoice.text.ipa import MAX_IPA, is_phonemes
from rtvoice.text.mapped import Edit, Mapped
from rtvoice.text.markup.reader import Reader, Reading, Stretch, pauses, pin_phonemes, seconds
from rtvoice.text.segment import Pause

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtvoice.text.segment import Segment

_TAG = re.compile(
    r"""<!--(?P<comment>.*?)(?:-->|\Z) | <[?!][^<>]*+>
      | <(?P<close>/?)(?P<name>[A-Za-z][\w:-]*+)(?P<attributes>(?:[^<>"']|"[^"<]*+"|'[^'<]*+')*?)(?P<empty>/?)>""",
    re.VERBOSE | re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')""")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]\w{1,30});")
_TIME = re.compile(r"\s*\+?(\d{1,5}(?:\.\d{1,3})?|\.\d{1,3})\s*(ms|s)\s*", re.IGNORECASE)
_PERCENT = re.compile(r"\s*([-+]?)(\d{1,4}(?:\.\d+)?)(%?)\s*")
_STRENGTHS = {"none": 0.0, "x-weak": 0.1, "weak": 0.25, "medium": 0.5, "strong": 0.75, "x-strong": 1.0}
_RATES = {"x-slow": 0.5, "slow": 0.75, "medium": 1.0, "default": 1.0, "fast": 1.3, "x-fast": 1.7}
_CONTAINERS = frozenset({"sub", "phoneme", "say-as", "prosody", "voice"})
_SPELLED = frozenset({"characters", "spell-out", "verbatim", "digits"})
_PIECES = re.compile(r"\S")


class _Open(NamedTuple):
    """An open tag: its name, and what holds while it is open."""

    name: str
    rate: float
    voice: str | None
    silent: bool = False  # its content was said in other words
    ipa: str | None = None
    spelled: bool = False
    ordinal: bool = False


_OUTSIDE = _Open("", 1.0, None)
MAX_DEPTH = 32
"""Tags open at once that are minded; deeper ones change nothing."""


class SsmlReader(Reader):
    """Reads SSML.

    Args:
        control: whether `[pause:0.8s]` and `[word](/.../)` act as well.
        voices: tells whether a voice tag may name a voice or a blend; tags with others change nothing. None allows any.
    """

    def __init__(self, *, control: bool, voices: Callable[[str], bool] | None = None) -> None:
        self._control = control
        self._voices = voices
        self._open = [_OUTSIDE]
        self._in_comment = False

    def read(self, segment: Segment, *, begins_line: bool) -> Reading:
        """Read the next segment. Tags it leaves open hold for the segments that follow."""
        text = Mapped.of(segment.text, segment.start)
        parts: list[Stretch | Pause] = []
        rules: list[str] = []
        at = 0
        if self._in_comment:
            end = text.text.find("-->")
            at = end + 3 if end >= 0 else len(text)
            self._in_comment = end < 0
        for tag in _TAG.finditer(text.text, at):
            self._say(text[at : tag.start()], parts, rules)
            at = tag.end()
            if tag["comment"] is not None:
                self._in_comment = not tag[0].endswith("-->")
            elif tag["name"]:
                self._mind(tag, text, parts, rules)
        self._say(text[at:], parts, rules)
        return Reading(tuple(_merged(parts)), tuple(dict.fromkeys(rules)))

    def _mind(self, tag: re.Match[str], text: Mapped, parts: list[Stretch | Pause], rules: list[str]) -> None:
        """Do what a tag says."""
        name = tag["name"].lower()
        if tag["close"]:
            names = [opened.name for opened in self._open]
            if name in names:
                del self._open[len(names) - 1 - names[::-1].index(name) :]
            return
        attributes = {m[1].lower(): html.unescape(m[2] or m[3] or "") for m in _ATTRIBUTE.finditer(tag["attributes"])}
        if name == "break":
            parts.append(Pause(_break(attributes)))
            rules.append("break")
            return
        if name not in _CONTAINERS:
            return
        around = self._open[-1]
        opened = _opened(name, attributes, around, self._voices)
        if opened is not None:
            rules.append(name)
            if name == "sub" and not around.silent:
                parts.append(self._stretch(Mapped.standing_for(attributes["alias"], *_content(tag, text))))
        if not tag["empty"] and len(self._open) < MAX_DEPTH:
            # One that changes nothing is open as well: its end must not be taken for that of another.
            self._open.append(opened or around._replace(name=name))

    def _say(self, text: Mapped, parts: list[Stretch | Pause], rules: list[str]) -> None:
        """Say text between two tags."""
        inside = self._open[-1]
        if not text.text or inside.silent:
            return
        text = text.edit(Edit(m.start(), m.end(), html.unescape(m[0])) for m in _ENTITY.finditer(text.text))
        if inside.ipa is not None and text.text.strip():
            text = text.strip()
            text = text.pin(0, len(text), inside.ipa)
        elif inside.spelled:
            marks = list(_PIECES.finditer(text.text))
            text = text.edit(Edit(m.end(), m.end(), " ") for m in marks[:-1])
        elif inside.ordinal and text.text.strip().isdecimal():
            text = text.strip()
            text = text.replace(0, len(text), text.text + _ordinal_ending(int(text.text)))
        elif self._control:
            text = pin_phonemes(text, rules)
            parts.extend(pauses(self._stretch(text), rules))
            return
        parts.append(self._stretch(text))

    def _stretch(self, text: Mapped) -> Stretch:
        return Stretch(text, self._open[-1].rate, self._open[-1].voice)


def _opened(name: str, attributes: dict[str, str], around: _Open, voices: Callable[[str], bool] | None) -> _Open | None:
    """What holds inside a tag, or None if it changes nothing."""
    if name == "sub" and attributes.get("alias"):
        return around._replace(name=name, silent=True)
    if name == "phoneme" and attributes.get("alphabet", "ipa").lower() == "ipa":
        ipa = attributes.get("ph", "").strip()
        return around._replace(name=name, ipa=ipa) if is_phonemes(ipa) and len(ipa) <= MAX_IPA else None
    if name == "say-as":
        kind = attributes.get("interpret-as", "").lower()
        return around._replace(name=name, spelled=kind in _SPELLED, ordinal=kind == "ordinal")
    if name == "prosody" and "rate" in attributes:
        return around._replace(name=name, rate=_rate(attributes["rate"], around.rate))
    voice = attributes.get("name", "").strip()
    if name == "voice" and voice and (voices is None or voices(voice)):
        return around._replace(name=name, voice=voice)
    return None


def _content(tag: re.Match[str], text: Mapped) -> tuple[int, int]:
    """Range in the original of what stands between a tag and the one that closes it, else of the tag."""
    end = re.compile(rf"</{re.escape(tag['name'])}\s*>", re.IGNORECASE).search(text.text, tag.end())
    return text.origin(tag.end(), end.start()) if end and end.start() > tag.end() else text.origin(*tag.span())


def _break(attributes: dict[str, str]) -> float:
    time = _TIME.fullmatch(attributes.get("time", ""))
    return seconds(time[1], time[2]) if time else _STRENGTHS.get(attributes.get("strength", "medium").lower(), 0.5)


def _rate(written: str, around: float) -> float:
    """A rate as a factor on the utterance's speed, within what the engine can do."""
    rate = _RATES.get(written.strip().lower())
    if rate is None:
        number = _PERCENT.fullmatch(written)
        if number is None:
            return around
        rate = float(number[2]) / (100 if number[3] else 1)
        if number[1]:
            rate = 1 + rate if number[1] == "+" else 1 - rate
    return min(max(rate * around, MIN_SPEED), MAX_SPEED)


def _ordinal_ending(number: int) -> str:
    """`21` -> "st"."""
    if number // 10 % 10 == 1:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _merged(parts: list[Stretch | Pause]) -> list[Stretch | Pause]:
    """Stretches in one voice at one pace joined, so that a tag that changes neither cuts no breath."""
    merged: list[Stretch | Pause] = []
    for part in parts:
        before = merged[-1] if merged else None
        if (
            isinstance(part, Stretch)
            and isinstance(before, Stretch)
            and (part.rate, part.voice)
            == (
                before.rate,
                before.voice,
            )
        ):
            merged[-1] = Stretch(before.text + part.text, part.rate, part.voice)
        else:
            merged.append(part)
    return merged
