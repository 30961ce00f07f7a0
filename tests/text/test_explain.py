"""The account of what is said: complete, exact, and the same from the command line."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtvoice import cli
from rtvoice.speech.phonemes import PhonemeWord
from rtvoice.text.explain import explain
from rtvoice.text.front import TextOptions
from rtvoice.text.lengths import Lengths
from tests.text.segmenting import cases, cuttings, texts

OPTIONS = TextOptions(lengths=None, control=True)


def test_account():
    account = explain(["It is $", "5 [pau", "se:1s] now. Bu", "y it"], OPTIONS).as_json()
    assert account["before_flush"] == 1
    first, second = account["segments"]
    assert (first["text"], first["range"]) == ("It is $5 [pause:1s] now. ", [0, 25])
    assert first["spoken"] == "It is five dollars now."
    assert first["phonemes"] is None
    assert first["rules"] == ["pause", "money"]
    assert [part.get("pause_s", part.get("text")) for part in first["parts"]] == ["It is five dollars", 1.0, "now."]
    assert first["parts"][0]["words"][2] == {"spoken": "five", "text": "$5", "range": [6, 8], "phonemes": None}
    assert (second["text"], second["range"], second["spoken"]) == ("Buy it", [25, 31], "Buy it")


def test_phonemes_are_filled_in_by_whoever_knows_them():
    def pronounce(passage):
        return [
            PhonemeWord(0, 2, "hˈI", space=True),
            PhonemeWord(3, 6, "ðˈɛɹ", space=False),
            PhonemeWord(6, 7, ".", False),
        ]

    (segment,) = explain(["Hi you."], OPTIONS).as_json(pronounce)["segments"]
    assert segment["phonemes"] == "hˈI ðˈɛɹ."
    assert [word["phonemes"] for word in segment["parts"][0]["words"]] == ["hˈI", "ðˈɛɹ"]


@pytest.mark.parametrize("case", cases("segmenting.jsonl", "boundaries.jsonl"), ids=lambda case: case["id"])
def test_cases(case):
    options = TextOptions(
        language=case.get("lang", "en-us"), markup=case.get("markup", "markdown"), lengths=None, control=True
    )
    account = explain(case["deltas"], options).as_json()
    assert [segment["text"].strip() for segment in account["segments"]] == case["segments"]
    assert account["before_flush"] >= case.get("early", 0)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(texts(), st.data())
def test_segments_are_the_text_whatever_its_deltas(text, data):
    account = explain(data.draw(cuttings(text)), OPTIONS).as_json()
    segments = account["segments"]
    assert segments == explain([text], OPTIONS).as_json()["segments"]
    assert "".join(segment["text"] for segment in segments) == (text if text.strip() else "")
    for number, segment in enumerate(segments):
        assert text[slice(*segment["range"])] == segment["text"]
        assert number == 0 or not segment["text"][0].isspace()
        for part in segment["parts"]:
            for word in part.get("words", ()):
                assert text[slice(*word["range"])] == word["text"]


def test_lengths_may_be_switched_on():
    explanation = explain(["Yes. No. Sure. It"], TextOptions(lengths=Lengths()))
    assert [segment.text for segment in explanation.segments] == ["Yes. No. Sure. ", "It"]


def run(arguments: list[str], capsys, folders=()) -> dict:
    assert cli.main(["explain", "--no-phonemes", *arguments, *folders]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def folders(tmp_path) -> list[str]:
    return ["--cache-dir", str(tmp_path / "cache"), "--data-dir", str(tmp_path / "data")]


def test_command_with_text(capsys, folders):
    account = run(["It is", "$5."], capsys, folders)
    assert (account["language"], account["voice"], account["markup"]) == ("en-us", "af_heart", "markdown")
    assert account["segments"][0]["spoken"] == "It is five dollars."


def test_command_with_deltas_from_standard_input(capsys, folders, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO('["今日は。", "明日は"]'))
    account = run(["--deltas", "-", "--lang", "ja"], capsys, folders)
    assert account["language"] == "ja"
    assert account["before_flush"] == 1


def test_command_with_text_from_standard_input(capsys, folders, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("One. Two."))
    assert len(run([], capsys, folders)["segments"]) == 2


def test_command_options(capsys, folders, tmp_path):
    assert run(["a", "--voice", "bf_emma"], capsys, folders)["language"] == "en-gb"
    ssml = run(["--markup", "ssml", '<break time="1s"/>Hi.'], capsys, folders)
    assert ssml["segments"][0]["parts"][0] == {"pause_s": 1.0}
    untrusted = run(["--untrusted", "Wait [pause:1s] go."], capsys, folders)
    assert "pause" not in untrusted["segments"][0]["rules"]
    lexicon = tmp_path / "words.toml"
    lexicon.write_text('[words]\nkubectl = "cube control"\n')
    said = run(["--lexicon", str(lexicon), "Run kubectl."], capsys, folders)
    assert said["segments"][0]["spoken"] == "Run cube control."
    assert run(["--lengths", "Yes. No. Sure"], capsys, folders)["segments"][0]["text"] == "Yes. No. "


@pytest.mark.parametrize("deltas", ["no JSON", '{"a": 1}', '["a", 1]'])
def test_deltas_that_are_none_are_refused(deltas, capsys, folders, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(deltas))
    assert cli.main(["explain", "--deltas", "-", *folders]) == 2
    assert "deltas" in capsys.readouterr().err


def test_text_and_deltas_together_are_refused(capsys, folders):
    assert cli.main(["explain", "--deltas", "-", "text", *folders]) == 2
    assert "not both" in capsys.readouterr().err


def test_command_with_phonemes(capsys, folders):
    assert cli.main(["explain", "I read it and [Zef](/zɛf/) will read it. Grzyk hums.", *folders]) == 0
    first, second = json.loads(capsys.readouterr().out)["segments"]
    words = {word["spoken"]: word["phonemes"] for word in first["parts"][0]["words"]}
    assert words["Zef"] == "zɛf"
    assert second["parts"][0]["words"][0]["phonemes"]
    assert "❓" not in second["phonemes"]
