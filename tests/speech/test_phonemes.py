"""The phonemizer: a process that is started, watched and replaced, and requests that survive it."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rtvoice.errors import InvalidInput, SetupError, SynthesisFailed
from rtvoice.speech.phonemes import LANGUAGES, PhonemeWord, Phonemizer

# Speaks the protocol without spaCy; misbehaves where the text says so.
DOUBLE = textwrap.dedent(
    """
    import os, sys, time
    from pathlib import Path
    from rtvoice.speech.g2p.frames import HEADER, decode, encode
    log = Path(sys.argv[1])
    with log.open("a") as file:
        file.write("start\\n")
    out = open(1, "wb", buffering=0)
    requests = open(0, "rb")
    if sys.argv[2:] == ["missing"]:
        out.write(encode({"missing": "No module named 'misaki'"}))
        sys.exit(1)
    if sys.argv[2:] == ["stillborn"]:
        sys.exit(3)
    out.write(encode({"ready": True}))
    while header := requests.read(HEADER.size):
        text = decode(requests.read(*HEADER.unpack(header)))["text"]
        with log.open("a") as file:
            file.write(text + "\\n")
        lives = log.read_text().count("start\\n")
        if text == "die" or (text == "die once" and lives == 1):
            os._exit(9)
        if text == "hang" or (text == "hang once" and lives == 1):
            time.sleep(60)
        if text == "half" and lives == 1:
            out.write(encode({"words": []})[:7])
            os._exit(0)
        if text == "nonsense" and lives == 1:
            out.write(HEADER.pack(3) + b"{]}")
            continue
        if text == "endless" and lives == 1:
            out.write(HEADER.pack(0xFFFFFFFF))
            continue
        if text == "error":
            out.write(encode({"error": "KeyError at en.py:1"}))
            continue
        if text == "slow":
            time.sleep(0.2)
        out.write(encode({"words": [[0, len(text), text, False]]}))
    """
)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


@pytest.fixture
def double(tmp_path, log):
    """Makes phonemizers whose process is the double above."""
    script = tmp_path / "double.py"
    script.write_text(DOUBLE)

    def make(*arguments, **options):
        return Phonemizer(command=(sys.executable, str(script), str(log), *arguments), **options)

    return make


def texts(words):
    return [word.phonemes for word in words]


async def until(condition, within_s=10.0):
    """Wait until something holds that other processes do."""
    for _ in range(int(within_s / 0.01)):
        if condition():
            return True
        await asyncio.sleep(0.01)
    return False


def ended(pid):
    """Whether a process is gone, or a zombie whose new parent has not asked for it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def descriptors(pid):
    """What the open files of a process are."""
    return [os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()]


def started(log):
    """How many of the double's processes have started."""
    return log.read_text().count("start\n") if log.exists() else 0


# --- With the real process ---


async def test_words_of_both_languages_with_their_places():
    async with Phonemizer() as phonemizer:
        await phonemizer.ready()
        assert await phonemizer.phonemise("Hello, world.", "en-us") == (
            PhonemeWord(0, 5, "həlˈO", space=False),
            PhonemeWord(5, 6, ",", space=True),
            PhonemeWord(7, 12, "wˈɜɹld", space=False),
            PhonemeWord(12, 13, ".", space=False),
        )
        assert texts(await phonemizer.phonemise("Hello", "en-gb")) == ["həlˈQ"]
        assert texts(await phonemizer.phonemise("Hi Grzyk", "en-us", [(3, 8, "ɡʒˈɪk")])) == ["hˈI", "ɡʒˈɪk"]
        assert await phonemizer.phonemise(" \ud800", "en-us") == ()

        # Killed at any moment, in the midst of a request as well: nobody notices but by the time it takes.
        first = phonemizer.pid
        request = asyncio.create_task(phonemizer.phonemise("word " * 3000, "en-us"))
        await asyncio.sleep(0.05)
        os.kill(first, signal.SIGKILL)
        assert len(await request) == 3000
        assert phonemizer.pid != first
        last = phonemizer.pid
    assert ended(last)


async def test_the_process_inherits_nothing_and_heeds_no_interrupt():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.set_inheritable(True)
        async with Phonemizer() as phonemizer:
            await phonemizer.ready()
            pid = phonemizer.pid
            inode = f"socket:[{os.fstat(listening.fileno()).st_ino}]"
            assert inode not in descriptors(pid)
            assert os.getsid(pid) != os.getsid(0)
            os.kill(pid, signal.SIGINT)
            await phonemizer.ready()
            assert phonemizer.pid == pid


@pytest.mark.parametrize("how", ["import asyncio as runner", "import uvloop as runner"])
async def test_the_process_dies_with_its_parent(how, tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(
        f"{how}\nimport asyncio\nfrom rtvoice.speech.phonemes import Phonemizer\n"
        "async def main():\n"
        "    async with Phonemizer() as phonemizer:\n"
        "        await phonemizer.ready()\n"
        "        print(phonemizer.pid, flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "runner.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, str(script), stdout=asyncio.subprocess.PIPE, env=with_package()
    )
    pid = int(await parent.stdout.readline())
    assert not ended(pid)
    parent.kill()
    await parent.wait()
    assert await until(lambda: ended(pid))


async def test_the_process_starts_in_any_folder(tmp_path, monkeypatch):
    (tmp_path / "spacy.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    async with Phonemizer(preload=()) as phonemizer:
        assert texts(await phonemizer.phonemise("Hello", "en-us")) == ["həlˈO"]


def test_a_closed_pipe_ends_the_process():
    done = subprocess.run(
        [sys.executable, "-m", "rtvoice.speech.g2p"],
        input=b"",
        capture_output=True,
        timeout=30,
        check=True,
        env=with_package(),
    )
    assert done.stdout.endswith(b'{"ready":true}')


def test_without_espeak_the_process_spells(tmp_path):
    (tmp_path / "espeakng_loader.py").write_text("raise ImportError('not installed')")
    assert asyncio.run(read_with_path(tmp_path, "Grzyk")) == ["ʤˈi ˈɑɹ zˈi wˈI kˈA"]


def test_without_misaki_an_error_says_what_to_run(tmp_path):
    (tmp_path / "misaki").mkdir()
    (tmp_path / "misaki" / "__init__.py").write_text("raise ImportError('no misaki')")
    with pytest.raises(SetupError, match=r"no misaki.*pip install"):
        asyncio.run(read_with_path(tmp_path, "Hello"))


async def read_with_path(folder, text):
    """Read a text in a process that finds the modules of a folder first."""
    command = ("env", f"PYTHONPATH={folder}{os.pathsep}{with_package()['PYTHONPATH']}", sys.executable, "-m")
    async with Phonemizer(command=(*command, "rtvoice.speech.g2p")) as phonemizer:
        return texts(await phonemizer.phonemise(text, "en-us"))


def with_package():
    root = Path(__file__).parents[2]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))}


# --- With the double: what the client does when the process misbehaves ---


@pytest.mark.parametrize("text", ["die once", "hang once", "half", "nonsense", "endless"])
async def test_a_request_is_repeated_in_another_process(double, log, text):
    async with double(deadline_s=2.0) as phonemizer:
        assert texts(await phonemizer.phonemise(text, "en-us")) == [text]
    assert log.read_text().split("\n") == ["start", text, "start", text, ""]


@pytest.mark.parametrize("text", ["die", "hang"])
async def test_a_request_that_ends_every_process_fails_alone(double, log, text):
    async with double(deadline_s=0.3) as phonemizer:
        before, poison, after = await asyncio.gather(
            *(phonemizer.phonemise(each, "en-us") for each in ("before", text, "after")), return_exceptions=True
        )
        assert texts(before) == ["before"]
        assert isinstance(poison, SynthesisFailed)
        assert "3 attempts" in str(poison)
        assert texts(after) == ["after"]
    assert log.read_text().count(f"{text}\n") == 3


async def test_an_error_of_one_text_costs_no_process(double, log):
    async with double() as phonemizer:
        with pytest.raises(SynthesisFailed, match=r"KeyError at en.py:1"):
            await phonemizer.phonemise("error", "en-us")
        assert texts(await phonemizer.phonemise("next", "en-us")) == ["next"]
    assert started(log) == 1


async def test_many_requests_are_answered_in_order(double, log):
    async with double() as phonemizer:
        answers = []

        async def ask(number):
            answers.append(texts(await phonemizer.phonemise(f"text {number}", "en-us")))

        await asyncio.gather(*(ask(number) for number in range(200)))
    assert answers == [[f"text {number}"] for number in range(200)]
    assert log.read_text().split("\n")[1:-1] == [f"text {number}" for number in range(200)]


async def test_a_cancelled_request_is_passed_over(double, log):
    async with double() as phonemizer:
        slow = asyncio.create_task(phonemizer.phonemise("slow", "en-us"))
        waiting = asyncio.create_task(phonemizer.phonemise("given up", "en-us"))
        assert await until(lambda: log.exists() and "slow" in log.read_text())
        waiting.cancel()
        slow.cancel()
        assert texts(await phonemizer.phonemise("next", "en-us")) == ["next"]
    assert log.read_text().split("\n") == ["start", "slow", "next", ""]


async def test_an_idle_process_that_dies_is_replaced_at_once(double, log):
    async with double() as phonemizer:
        await phonemizer.ready()
        first = phonemizer.pid
        os.kill(first, signal.SIGKILL)
        assert await until(lambda: started(log) == 2)
        assert texts(await phonemizer.phonemise("next", "en-us")) == ["next"]


async def test_who_asks_is_told_that_a_process_was_replaced(double, log):
    told = []
    async with double(deadline_s=2.0, replaced=told.append) as phonemizer:
        await phonemizer.ready()
        assert told == []
        await phonemizer.phonemise("die once", "en-us")
        assert len(told) == 1
        os.kill(phonemizer.pid, signal.SIGKILL)
        assert await until(lambda: told[1:] == [-signal.SIGKILL])
    assert len(told) == started(log) - 1


async def test_a_process_stopped_by_a_signal_is_replaced(double):
    async with double(deadline_s=0.3) as phonemizer:
        await phonemizer.ready()
        os.kill(phonemizer.pid, signal.SIGSTOP)
        assert texts(await phonemizer.phonemise("next", "en-us")) == ["next"]


async def test_a_process_that_never_starts(double, log):
    async with double("stillborn") as phonemizer:
        with pytest.raises(SetupError, match=r"rtvoice doctor"):
            await phonemizer.ready()
        with pytest.raises(SynthesisFailed, match=r"died \(status 3\)"):
            await phonemizer.phonemise("next", "en-us")
    assert started(log) <= 7  # no storm: at entering, and three for each request


async def test_a_program_that_is_not_there():
    async with Phonemizer(command=("/nonexistent/python",)) as phonemizer:
        with pytest.raises(SetupError, match=r"could not be started"):
            await phonemizer.ready()


async def test_what_is_missing_is_told(double):
    async with double("missing") as phonemizer:
        with pytest.raises(SetupError, match=r"No module named 'misaki'.*pip install"):
            await phonemizer.ready()


async def test_leaving_fails_what_waits(double):
    async with double() as phonemizer:
        await phonemizer.ready()
        waiting = [asyncio.create_task(phonemizer.phonemise("slow", "en-us")) for _ in range(100)]
        await asyncio.sleep(0.05)
        pid = phonemizer.pid
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(result, SynthesisFailed) for result in results)
    assert ended(pid)
    assert phonemizer.pid is None
    with pytest.raises(SynthesisFailed, match="not running"):
        await phonemizer.phonemise("late", "en-us")


async def test_leaving_at_once_leaves_no_process(double, log):
    async with double():
        pass
    await asyncio.sleep(0.2)
    assert started(log) <= 1


@pytest.mark.parametrize("language", ["", "en", "de-de", "EN-US"])
async def test_an_unknown_language_is_refused(double, language):
    async with double() as phonemizer:
        with pytest.raises(InvalidInput) as refused:
            await phonemizer.phonemise("text", language)
    assert refused.value.field == "language"
    assert refused.value.allowed == LANGUAGES


@pytest.mark.parametrize(
    "ranges", [[(0, 0)], [(2, 1)], [(0, 9)], [(-1, 2)], [(0, 2), (1, 3)], [(3, 4), (0, 2)], [(4, 5)]]
)
async def test_ranges_that_are_none_are_refused(double, ranges):
    async with double() as phonemizer:
        with pytest.raises(ValueError, match="given phonemes"):
            await phonemizer.phonemise("word word"[:8], "en-us", [(at, to, "a") for at, to in ranges])
