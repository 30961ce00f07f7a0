"""Characters, in any language: one form for each thing, before words are looked at.

What Unicode writes in many ways (full width, circled, thin, curly) becomes plain; what cannot be heard goes.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import emoji
import regex

from rtvoice.text.normaliser.rule import Rule

if TYPE_CHECKING:
    from rtvoice.text.normaliser.rule import Reading


@dataclass(frozen=True, slots=True)
class Writing:
    """How a text is written.

    Attributes:
        wide_punctuation: the language's own punctuation is of full width and stays so.
        emoji_language: language of emoji names (a key of the `emoji` library), or None to pass emoji over in silence.
    """

    wide_punctuation: bool = False
    emoji_language: str | None = None


_KEYCAP = re.compile("(?P<key>[0-9#*])\ufe0f?\u20e3")
_EMOJI = re.compile(
    "[\u2194-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
    "[\ufe0f\u200d\u2194-\u2bff\U0001f000-\U0001faff\U000e0020-\U000e007f]{0,31}+"
)
# In the emoji tables, but symbols of text as well: what they are called is a language's matter.
_TEXT_SYMBOLS = frozenset("↔Ⓜ㊗㊙〰〽")
_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\ufff9-\ufffc\U000e0000-\U000e0fff]+"
)
_DIGIT_GAP = re.compile(r"(?<=\d)(?<!\d{4})[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_SPACE = re.compile("[\t\r\n\u000b\u000c\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_APOSTROPHE = re.compile("[’‘ʼʹ‛＇´]")
_DOUBLE_QUOTE = re.compile("[„‟〝〞＂«»]")
_VULGAR = re.compile(r"(?:(?<=\d)[ ]?)?(?P<fraction>[¼-¾⅐-⅞])")
_OTHER_DIGIT = regex.compile(r"(?![0-9])\p{Nd}")
_CIRCLED = re.compile("[①-⒛⓪⓫-⓿❶-➓㉈-㉏㉑-㉟㊱-㊿Ⅰ-Ⅿⅰ-ⅿ]")
_COMPATIBLE = re.compile(
    "[\u02b0-\u02b8\u02e0-\u02e4\u1d2c-\u1d6a\u2080-\u209c\u2100-\u2109\u210a-\u213f\u2145-\u214e\u24b6-\u24e9"
    "\u3371-\u33df\ufb00-\ufb06\uff01-\uff5e\uff61-\uff9f\uffe0-\uffe6\U0001d400-\U0001d7ff\U0001f110-\U0001f149]"
)
_WIDE_LETTER = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\ufb00-\ufb06\U0001d400-\U0001d7ff]")
_KEPT = frozenset("№℗℠™℅Ω℮")  # compatible with letters, but read by their own names, or silent


def _read_emoji(match: re.Match[str], writing: Writing) -> Reading:
    found = emoji.emoji_list(match[0])
    if not found or all(item["emoji"] in _TEXT_SYMBOLS for item in found):
        return None
    if writing.emoji_language is None:
        return " "
    names = []
    for item in found:
        data = emoji.EMOJI_DATA[item["emoji"]]
        name = data.get(writing.emoji_language, data["en"])
        names.append(name.strip(":").replace("_", " ").replace("-", " "))
    return f" {', '.join(names)} "


def _read_fraction(match: re.Match[str], _: Writing) -> str:
    plain = unicodedata.normalize("NFKC", match["fraction"]).replace("⁄", "/")
    start, end = match.start(), match.end()
    before = " " if start and match.string[start - 1].isalnum() else ""
    return before + plain + (" " if match.string[end : end + 1].isalpha() else "")


def _read_circled(match: re.Match[str], _: Writing) -> str:
    start, end = match.start(), match.end()
    before = " " if start and match.string[start - 1].isalnum() else ""
    return f"{before}{int(unicodedata.numeric(match[0]))}{' ' if match.string[end : end + 1].isalnum() else ''}"


def _read_compatible(match: re.Match[str], writing: Writing) -> str | None:
    if match[0] in _KEPT or (writing.wide_punctuation and not _WIDE_LETTER.match(match[0])):
        return None
    return unicodedata.normalize("NFKC", match[0])


RULES: tuple[Rule[Writing], ...] = (
    Rule("keycap", _KEYCAP, lambda match, _: f"{match['key']} ", needs=("\u20e3",)),
    Rule("emoji", _EMOJI, _read_emoji),
    Rule("thousands apart", _DIGIT_GAP, lambda _match, _: ""),
    Rule("invisible characters", _INVISIBLE, lambda _match, _: ""),
    Rule("white space", _SPACE, lambda match, _: None if match[0] == " " else " "),
    Rule("apostrophe", _APOSTROPHE, lambda _match, _: "'"),
    Rule("quotation marks", _DOUBLE_QUOTE, lambda _match, _: '"'),
    Rule("vulgar fraction", _VULGAR, _read_fraction),
    Rule("circled number", _CIRCLED, _read_circled),
    Rule("full width and look-alikes", _COMPATIBLE, _read_compatible),
    Rule("digits of other scripts", _OTHER_DIGIT, lambda match, _: str(unicodedata.digit(match[0]))),
)
