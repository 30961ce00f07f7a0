"""The tagger without what it does not need tags as the whole pipeline does."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from rtvoice.speech.g2p.tagger import _MODEL, load_tagger

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def both():
    whole = import_module(_MODEL).load(exclude=("parser", "senter", "attribute_ruler", "lemmatizer", "ner"))
    return load_tagger(), whole


def texts():
    lines = (ROOT / "benchmarks" / "sentences.jsonl").read_text("utf-8").splitlines()
    segments = [path.read_text("utf-8") for path in (ROOT / "README.md", ROOT / "docs" / "text.md")]
    return [json.loads(line)["text"] for line in lines] + [text[:20_000] for text in segments]


def test_it_tags_as_the_whole_pipeline_does(both):
    lean, whole = both
    for text in texts():
        with lean.memory_zone(), whole.memory_zone():
            assert [(token.text, token.tag_) for token in lean(text)] == [
                (token.text, token.tag_) for token in whole(text)
            ]


def test_its_tokenizer_is_the_models_own(both):
    lean, whole = (nlp.tokenizer for nlp in both)
    assert lean.rules == whole.rules
    for rule in ("prefix_search", "suffix_search", "infix_finditer", "url_match"):
        assert getattr(lean, rule).__self__.pattern == getattr(whole, rule).__self__.pattern
    assert (lean.token_match, lean.faster_heuristics) == (whole.token_match, whole.faster_heuristics)


def test_spacys_commands_stay_out_and_can_be_imported_later():
    code = (
        "import sys\n"
        "from rtvoice.speech.g2p.tagger import without_commands\n"
        "with without_commands():\n"
        "    import rtvoice.speech.g2p.english\n"
        "assert not {'requests', 'httpx', 'typer', 'weasel', 'spacy.cli'} & sys.modules.keys()\n"
        "from spacy.cli.info import info\n"
        "assert info(silent=True)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120, cwd=ROOT)
