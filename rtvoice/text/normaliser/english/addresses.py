"""Web addresses, e-mail addresses, file names and paths, hashtags, mentions.

Each mark inside becomes a word of its own, so that every spoken word still knows its characters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rtvoice.text.normaliser.english.written import DOT_WITHIN
from rtvoice.text.normaliser.rule import Part, Rule

if TYPE_CHECKING:
    from rtvoice.text.normaliser.english.dialect import Dialect
    from rtvoice.text.normaliser.rule import Said

# What behind a dot makes words joined by dots a web address, and a name a file's.
_DOMAINS = (
    "com|org|net|edu|gov|mil|int|info|biz|io|ai|dev|app|co|me|tv|uk|us|ca|au|nz|ie|de|fr|es|it|nl|be|ch|at|se|no|dk|fi|pl|cz|"
    "ru|jp|cn|in|br|mx|za|eu|example|test|online|site|tech|store|blog|cloud|xyz|page|ly|gg|sh|fm"
)
_EXTENSIONS = (
    "pdf|docx?|xlsx?|pptx?|txt|md|csv|tsv|json|ya?ml|toml|xml|html?|css|jsx?|tsx?|py|rb|rs|go|java|kt|swift|c|h|cpp|hpp|cs|php|"
    "pl|lua|sh|bat|ps1|sql|ini|cfg|conf|env|lock|log|bak|tmp|zip|tar|gz|bz2|xz|7z|rar|exe|dll|so|dmg|iso|deb|rpm|apk|jar|png|"
    "jpe?g|gif|svg|webp|bmp|ico|tiff?|psd|mp3|mp4|m4a|wav|flac|ogg|mov|avi|mkv|webm|ttf|otf|woff2?|ipynb|onnx|bin|dat|db"
)
_ANY = r"[^\s<>\"“”`|\[\]{}]"
_TAIL = r"(?<![.,;:!?'’\")\]}*_])"
_URL = re.compile(
    rf"(?<![\w@/.-])(?P<scheme>[a-zA-Z][a-zA-Z0-9+]{{1,9}}://|mailto:)?(?P<rest>(?(scheme){_ANY}{{1,2000}}|www\.{_ANY}{{1,2000}})){_TAIL}"
)
_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}"
_BARE_URL = re.compile(
    rf"(?<![\w@/.-])(?:{_HOST}(?:{_DOMAINS})|localhost(?=[:/]\d|/\w)|(?:\d{{1,3}}\.){{3}}\d{{1,3}}(?=[:/]\d|/\w))(?![\w@-]|\.\w)"
    rf"(?::\d{{2,5}}(?!\d))?(?:[/?#]{_ANY}{{0,2000}}{_TAIL})?"
)
_DOT_OR_LOCALHOST = re.compile(r"\.\w|localhost[:/]")
_EMAIL = re.compile(r"(?<![\w@.+-])[\w.+-]{1,64}+@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w@-])")
_FILE = re.compile(
    rf"(?<![\w@/.\\~-])(?:(?:~|\.{{1,2}})?/)?(?:[\w@+-]{{1,64}}[/\\]){{0,20}}(?:[\w+-]{{1,64}}\.){{1,6}}(?:{_EXTENSIONS})(?::\d{{1,6}})?(?![\w@/-]|\.\w)"
)
_PATH = re.compile(
    r"(?<![\w/.~:<\\)])(?:(?:~|\.{1,2})(?:/[\w.@+-]{1,64}){1,30}/?|(?:/[\w.@+-]{2,64}){2,30}/?"
    r"|/[a-z]{2,20}(?:[.-][\w]{1,20})?/?|[A-Z]:(?:\\[\w .@+-]{1,64}?){1,30})(?<![.,])(?![\w\\/])"
)
_HASHTAG = re.compile(r"(?<![\w&/#])#(?=\d{0,20}[^\W\d])\w{1,100}+")
_MENTION = re.compile(r"(?<![\w@/.])@(?=[A-Za-z_])[\w.]{1,60}(?<!\.)(?!\w)")

_NUMBERED = re.compile(r"#[A-Z]?\d+[A-Z]?")
_RUN = re.compile(r"[A-Za-z]+|\d+|[^\W\d_]+|[\s\S]")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+|_+|.")
_MARKS = {
    ".": "dot", "/": "slash", "\\": "backslash", "-": "dash", "_": "underscore", "?": "question mark", "=": "equals",
    "&": "and", "#": "hash", "%": "percent", "+": "plus", ":": "colon", "~": "tilde", "@": "at", ",": "comma",
    "!": "bang", "$": "dollar", "*": "star", ";": "semicolon",
}  # fmt: skip
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)
# Written small, yet said letter by letter.
_SPELLED = frozenset(
    [
        "io",
        "ai",
        "py",
        "api",
        "url",
        "uri",
        "cli",
        "ui",
        "ux",
        "id",
        "ip",
        "uk",
        "us",
        "eu",
        "au",
        "de",
        "fr",
        "es",
        "it",
        "at",
        "ca",
        "ie",
        "in",
        "exe",
        "apk",
        "cpu",
        "gpu",
        "usb",
        "faq",
        "mov",
        "ogg",
        "iso",
        "ico",
        "psd",
        "env",
        "yml",
        "ru",
        "jp",
        "cn",
        "nl",
        "se",
        "fi",
        "pl",
        "za",
        "fm",
        "uid",
        "ios",
        "aws",
        "avi",
        "ttf",
        "otf",
    ]
)
_SAID = {"usr": "user", "src": "source", "tmp": "temp", "cfg": "config"}


def _read(address: str, at: int, dialect: Dialect, behind_colon: str = "port") -> tuple[Part, ...]:
    """An address that begins at character `at` of a match; a number behind a colon in it is a port or a line."""
    runs = list(_RUN.finditer(address))
    parts: list[Part] = []
    for place, run in enumerate(runs):
        start, end = at + run.start(), at + run.end()
        behind = runs[place + 1][0] if place + 1 < len(runs) else ""
        if run[0].isalnum():
            if place and runs[place - 1][0].isalnum():
                parts.append(Part(start, start, " "))
            parts.append(Part(start, end, _said(run[0], dialect)))
        else:
            name = behind_colon if run[0] == ":" and behind.isdecimal() else _MARKS.get(run[0], "")
            parts.append(Part(start, end, f" {name} "))
    return tuple(parts)


def _said(run: str, dialect: Dialect) -> Said:
    """A run of letters or digits of an address."""
    if run.isdecimal():
        return dialect.integer(run)
    if not run.isascii():
        return run
    small = run.lower()
    if small in _SPELLED or len(run) == 1 or (len(run) <= 5 and small not in _SAID and not _VOWEL.search(run)):
        return dialect.spell(run)
    return _SAID.get(small, run)


def _read_url(match: re.Match[str], dialect: Dialect) -> tuple[Part, ...]:
    skipped = len(match["scheme"] or "")
    rest = match["rest"]
    silent = 1 if len(rest) > 1 and rest.endswith("/") else 0
    start = (Part(0, skipped, ""),) if skipped else ()
    end = (Part(skipped + len(rest) - 1, skipped + len(rest), ""),) if silent else ()
    return (*start, *_read(rest[: len(rest) - silent], skipped, dialect), *end)


def _read_address(match: re.Match[str], dialect: Dialect) -> tuple[Part, ...]:
    return _read(match[0], 0, dialect)


def _read_file(match: re.Match[str], dialect: Dialect) -> tuple[Part, ...]:
    return _read(match[0], 0, dialect, behind_colon="line")


def _read_tag(match: re.Match[str], dialect: Dialect) -> tuple[Part, ...]:
    """A hashtag or a mention: its words are told by capitals, digits and underscores."""
    mark = "at" if match[0][0] == "@" else "number" if _NUMBERED.fullmatch(match[0]) else "hashtag"
    parts = [Part(0, 1, mark)]
    for word in _CAMEL.finditer(match[0], 1):
        parts.append(Part(word.start(), word.start(), " "))
        if word[0].isdecimal():
            number = int(word[0]) if len(word[0]) == 4 else 0
            said: Said = dialect.year(number) if 1100 <= number < 2100 else dialect.integer(word[0])
        else:
            said = "" if word[0][0] == "_" else "dot" if word[0] == "." else word[0]
        parts.append(Part(word.start(), word.end(), said))
    return tuple(parts)


RULES: tuple[Rule[Dialect], ...] = (
    Rule("web address", _URL, _read_url, needs=("://", "www.", "mailto:")),
    Rule("e-mail address", _EMAIL, _read_address, needs=("@",)),
    Rule("web address without scheme", _BARE_URL, _read_address, needs_match=_DOT_OR_LOCALHOST),
    Rule("file name", _FILE, _read_file, needs_match=DOT_WITHIN),
    Rule("path", _PATH, _read_file, needs=("/", "\\")),
    Rule("hashtag", _HASHTAG, _read_tag, needs=("#",)),
    Rule("mention", _MENTION, _read_tag, needs=("@",)),
)
