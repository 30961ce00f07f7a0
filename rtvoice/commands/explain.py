"""`rtvoice explain`: show what would be said for a text, and why."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rtvoice.commands.options import add_command, add_common, paths_of
from rtvoice.config import DEFAULT_VOICE
from rtvoice.errors import InvalidInput

if TYPE_CHECKING:
    import argparse

    from rtvoice.commands.options import Commands
    from rtvoice.speech.phonemes import PhonemeWord
    from rtvoice.text.explain import Explanation
    from rtvoice.text.segment import Passage

_MANUAL = """\
Show as JSON what would be said for a text, and why: for each segment its characters and their range in the text, the
words spoken for it, their phonemes, and the rules that rewrote them; for each word the characters it came from. Loads
no model and makes no sound.

examples:
  rtvoice explain "It is \\$5."
  rtvoice explain < notes.md
  echo '["It is $", "29", ".", "95 today. Buy"]' | rtvoice explain --deltas -
  rtvoice explain --markup ssml '<speak>Wait <break time="800ms"/> there.</speak>'

With --deltas the text comes as a JSON list of strings, pushed one after the other; `before_flush` says how many
segments had come out when the last of them had been pushed.

Other than in speech, control marks act (--untrusted: they do not) and segments are neither joined nor cut to a length
(--lengths: they are).
"""


def add_parser(commands: Commands) -> None:
    """Describe the command."""
    parser = add_command(commands, "explain", "show what would be said, and why", _MANUAL)
    parser.add_argument("text", nargs="*", help="what to explain (default: standard input)")
    parser.add_argument("--deltas", metavar="FILE", help="read a JSON list of strings, `-` for standard input")
    parser.add_argument("--lang", metavar="CODE", help="the text's language (default: the voice's own)")
    parser.add_argument("--voice", metavar="NAME", default=DEFAULT_VOICE, help=f"who speaks (default: {DEFAULT_VOICE})")
    parser.add_argument(
        "--markup", choices=("markdown", "plain", "ssml"), default="markdown", help="whose marks (default: markdown)"
    )
    parser.add_argument("--untrusted", action="store_true", help="control marks are text")
    parser.add_argument("--lengths", action="store_true", help="join short segments and cut long ones")
    parser.add_argument("--emoji", choices=("silent", "names"), default="silent", help="(default: silent)")
    parser.add_argument("--code", choices=("notice", "skip"), default="notice", help="fenced code (default: notice)")
    parser.add_argument("--lexicon", metavar="FILE", type=Path, help="how some words are said")
    parser.add_argument("--no-phonemes", action="store_true", help="leave phonemes out; takes milliseconds")
    add_common(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Explain."""
    from rtvoice.speech.voices import VoiceStore
    from rtvoice.text.explain import explain
    from rtvoice.text.front import TextOptions
    from rtvoice.text.lengths import Lengths
    from rtvoice.text.lexicon import LexiconFile

    language = arguments.lang or VoiceStore(paths_of(arguments).data).info(arguments.voice).language
    options = TextOptions(
        language=language,
        markup=arguments.markup,
        control=not arguments.untrusted,
        emoji=arguments.emoji,
        code=arguments.code,
        lengths=Lengths() if arguments.lengths else None,
        lexicon=LexiconFile.read(arguments.lexicon).lexicon if arguments.lexicon else None,
    )
    explanation = explain(_deltas(arguments), options)
    pronounced = {} if arguments.no_phonemes else asyncio.run(_pronounced(explanation, language))
    account = {"language": language, "voice": arguments.voice, "markup": arguments.markup}
    account |= explanation.as_json(pronounced.get)
    # For a person line by line; for a program at once, which is many times as fast.
    sys.stdout.write(json.dumps(account, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None) + "\n")
    return 0


def _deltas(arguments: argparse.Namespace) -> list[str]:
    if arguments.deltas is None:
        return [" ".join(arguments.text) if arguments.text else sys.stdin.read()]
    if arguments.text:
        raise InvalidInput("Give a text or --deltas, not both.", field="--deltas")
    try:
        read = sys.stdin.read() if arguments.deltas == "-" else Path(arguments.deltas).read_text(encoding="utf-8")
        deltas = json.loads(read)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"The deltas cannot be read: {error}.", field="--deltas") from error
    if not isinstance(deltas, list) or not all(isinstance(delta, str) for delta in deltas):
        raise InvalidInput("The deltas are no JSON list of strings.", field="--deltas")
    return deltas


async def _pronounced(explanation: Explanation, language: str) -> dict[Passage, tuple[PhonemeWord, ...]]:
    """How each passage is pronounced; none in a language whose phonemes are not known."""
    from rtvoice.speech.phonemes import LANGUAGES, Phonemizer

    if language not in LANGUAGES:
        return {}
    pronounced = {}
    async with Phonemizer(preload=(language,)) as phonemizer:
        for passage in dict.fromkeys(explanation.passages):
            given = [(word.at, word.to, word.ipa) for word in passage.words if word.ipa]
            pronounced[passage] = await phonemizer.phonemise(passage.text, language, given)
    return pronounced
