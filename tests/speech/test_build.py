"""The built model: complete or absent, built once, mended when damaged, explained when impossible."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset16 as op

from rtvoice.config import Paths
from rtvoice.errors import SetupError
from rtvoice.speech import build
from rtvoice.speech.build import BuiltModel, ensure_model, is_complete, model_folder, remove_others

ROOT = Path(__file__).parents[2]


@pytest.fixture
def paths(tmp_path):
    return Paths(cache=tmp_path / "cache", data=tmp_path / "data")


@pytest.fixture
def small(monkeypatch):
    """Draws one small network from one array, so that most of these tests take no time."""

    def build_networks(weights, precision):
        x = op.parameter([1, -1], np.float32, name="x")
        return {"text": ov.Model([op.matmul(x, op.constant(weights["w"]), False, False)], [x], "text")}

    monkeypatch.setattr("rtvoice.speech.network.build_networks", build_networks)
    weights = {"w": np.arange(6000, dtype=np.float32).reshape(60, 100)}
    monkeypatch.setattr("rtvoice.speech.weights.load_weights", lambda: weights)
    return weights


def speak(model: BuiltModel) -> np.ndarray:
    core = ov.Core()
    core.set_property({"CACHE_DIR": str(model.compiled)})
    compiled = core.compile_model(model.folder / "text.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return compiled(np.ones((1, 60), np.float32))[0]


def built(paths: Paths, **options) -> tuple[BuiltModel, list[str]]:
    steps: list[str] = []
    return ensure_model(paths, progress=lambda _done, what: steps.append(what), **options), steps


class TestBuilding:
    def test_a_model_is_built_once(self, paths, small):
        model, steps = built(paths)
        assert steps == ["reading the weights", "drawing the networks", "writing text", "built"]
        np.testing.assert_allclose(speak(model), small["w"].sum(axis=0, keepdims=True), rtol=1e-6)
        again, steps = built(paths)
        assert again == model
        assert steps == []

    def test_progress_rises_from_nothing_to_all(self, paths, small):
        seen: list[float] = []
        ensure_model(paths, progress=lambda done, _what: seen.append(done))
        assert seen == sorted(seen)
        assert (seen[0], seen[-1]) == (0.0, 1.0)

    def test_force_builds_again(self, paths, small):
        model, _ = built(paths)
        (model.compiled / "old.blob").touch()
        again, steps = built(paths, force=True)
        assert again == model
        assert steps[-1] == "built"
        assert not list(model.compiled.iterdir())

    def test_nothing_but_the_model_and_the_lock_remains(self, paths, small):
        model, _ = built(paths)
        assert {file.name for file in model.folder.parent.iterdir()} == {model.folder.name, f"{model.folder.name}.lock"}

    def test_another_openvino_gets_another_model(self, paths, small, monkeypatch):
        here = model_folder(paths)
        monkeypatch.setattr("importlib.metadata.version", lambda _name: "2031.1.0")
        assert model_folder(paths) != here

    def test_other_drawing_code_gets_another_model(self, paths, monkeypatch):
        here = model_folder(paths)
        monkeypatch.setattr(build, "_network_code", lambda: b"changed")
        assert model_folder(paths) != here

    def test_other_weights_get_another_model(self, paths):
        assert model_folder(paths, "a checkpoint") != model_folder(paths)

    def test_another_precision_is_another_model(self, paths):
        assert model_folder(paths, precision="bf16") != model_folder(paths, precision="f32")

    def test_others_are_removed_on_request_only(self, paths, small):
        model, _ = built(paths)
        other = model.folder.parent / "0123456789abcdef"
        shutil.copytree(model.folder, other)
        built(paths)
        assert other.is_dir()
        assert remove_others(model.folder) > 24_000
        assert not other.exists()
        assert is_complete(model.folder)


class TestCheckpoint:
    def test_it_is_built_from_its_own_weights_and_then_found_without_them(self, paths, small):
        weights = {"w": np.ones((60, 100), np.float32)}
        model, _ = built(paths, checkpoint="abc", read_weights=lambda: weights)
        assert (speak(model) == 60).all()
        again, steps = built(paths, checkpoint="abc")
        assert again == model
        assert steps == []

    def test_one_that_was_never_built_says_what_to_run(self, paths):
        with pytest.raises(SetupError, match=r"run: rtvoice build --checkpoint"):
            ensure_model(paths, "abc")


class TestDamage:
    @pytest.mark.parametrize("name", ["text.xml", "text.bin", "manifest.json"])
    @pytest.mark.parametrize("damage", ["gone", "short", "flipped"])
    def test_a_damaged_model_is_built_again(self, paths, small, name, damage):
        model, _ = built(paths)
        file = model.folder / name
        data = bytearray(file.read_bytes())
        if damage == "gone":
            file.unlink()
        elif damage == "short":
            file.write_bytes(data[: len(data) // 2])
        else:
            data[len(data) // 2] ^= 0xFF
            file.write_bytes(data)
            os.utime(file, (1, 1))
        _, steps = built(paths)
        assert steps[-1] == "built"
        np.testing.assert_allclose(speak(model), small["w"].sum(axis=0, keepdims=True), rtol=1e-6)

    @pytest.mark.parametrize("manifest", ["[]", "{}", '{"text.xml": 3}', '{"text.xml": {}}', "\xff"])
    def test_a_manifest_of_nonsense_is_no_model(self, paths, small, manifest):
        model, _ = built(paths)
        (model.folder / "manifest.json").write_text(manifest, "utf-8")
        assert not is_complete(model.folder)

    def test_a_copy_with_other_times_is_still_the_model(self, paths, small):
        model, _ = built(paths)
        for file in model.folder.iterdir():
            os.utime(file, (1_000_000_000, 1_000_000_000))
        _, steps = built(paths)
        assert steps == []

    def test_a_thorough_look_finds_what_size_and_time_hide(self, paths, small):
        model, _ = built(paths)
        file = model.folder / "text.bin"
        times = (file.stat().st_atime_ns, file.stat().st_mtime_ns)
        data = bytearray(file.read_bytes())
        data[500] ^= 1
        file.write_bytes(data)
        os.utime(file, ns=times)
        assert is_complete(model.folder)
        assert not is_complete(model.folder, thorough=True)

    def test_an_altered_blob_is_not_used(self, paths, small):
        """OpenVINO itself would load it and compute with the altered weights."""
        model, _ = built(paths)
        right = speak(model)
        (blob,) = model.compiled.glob("*.blob")
        ensure_model(paths)  # seals
        data = blob.read_bytes()
        at = data.index(small["w"].tobytes()[4000:4100])
        blob.write_bytes(data[:at] + b"\x42" * 100 + data[at + 100 :])
        assert not np.array_equal(speak(model), right)
        ensure_model(paths)
        assert not blob.exists()
        np.testing.assert_array_equal(speak(model), right)
        ensure_model(paths)
        assert blob.exists()

    def test_a_sealed_blob_stays(self, paths, small):
        model, _ = built(paths)
        speak(model)
        for _ in range(3):
            ensure_model(paths)
            assert all(blob.stat().st_mode & 0o777 == 0o644 for blob in model.compiled.glob("*.blob"))
        assert list(json.loads((model.compiled / "sealed.json").read_text())) == [
            blob.name for blob in model.compiled.glob("*.blob")
        ]


class TestRefusals:
    def test_too_little_room_is_said_before_anything_is_written(self, paths, small, monkeypatch):
        monkeypatch.setattr(shutil, "disk_usage", lambda _folder: shutil._ntuple_diskusage(10**9, 10**9, 100))
        with pytest.raises(SetupError, match=r"takes 0 MB in .*, where 0 MB are free.*--cache-dir"):
            ensure_model(paths)
        assert not [file for file in (paths.cache / "models").iterdir() if file.suffix != ".lock"]

    def test_a_cache_that_is_a_file_is_one_sentence(self, paths, small):
        paths.cache.touch()
        with pytest.raises(SetupError, match="cannot be written to"):
            ensure_model(paths)

    def test_a_build_that_fails_leaves_nothing(self, paths, small, monkeypatch):
        def broken(*_args, **_options):
            raise RuntimeError("basic_ios::clear: iostream error")

        monkeypatch.setattr(ov, "save_model", broken)
        with pytest.raises(SetupError, match="iostream error"):
            ensure_model(paths)
        assert not [file for file in (paths.cache / "models").iterdir() if file.suffix != ".lock"]

    def test_an_interrupted_build_leaves_nothing(self, paths, small, monkeypatch):
        def interrupted(*_args, **_options):
            raise KeyboardInterrupt

        monkeypatch.setattr(ov, "save_model", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ensure_model(paths)
        assert not [file for file in (paths.cache / "models").iterdir() if file.suffix != ".lock"]


def start(code: str, cache: Path, prefix: list[str] | None = None) -> subprocess.Popen[str]:
    """A process of its own that has `paths` and `ensure_model`."""
    before = f"""
    import sys, time
    from pathlib import Path
    from rtvoice.config import Paths
    from rtvoice.errors import SetupError
    from rtvoice.speech.build import ensure_model
    paths = Paths(cache=Path({str(cache)!r}), data=Path("/nonexistent"))
    """
    code = textwrap.dedent(before) + textwrap.dedent(code)
    command = [*(prefix or []), sys.executable, "-c", code]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(process: subprocess.Popen[str]) -> str:
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return out


class TestProcesses:
    """With the real weights, in real processes."""

    BUILD = (
        'print("built" if (steps := []) is None else "", end=""); ensure_model(paths, progress=lambda d, w: print(w))'
    )

    def test_two_at_once_build_one_model(self, paths):
        both = [start(self.BUILD, paths.cache) for _ in range(2)]
        outputs = [end(process) for process in both]
        assert sorted(output.count("built") for output in outputs) == [0, 1]
        folder = model_folder(paths)
        assert is_complete(folder, thorough=True)
        assert {file.stem for file in folder.glob("*.xml")} >= {"text", "prosody", "decoder"}

    def test_after_a_kill_in_the_middle_the_next_one_builds(self, paths):
        hang = """
        def progress(done, what):
            print(what, flush=True)
            if what == "writing decoder":
                time.sleep(600)
        ensure_model(paths, progress=progress)
        """
        victim = start(hang, paths.cache)
        for line in victim.stdout:
            if line == "writing decoder\n":
                break
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
        left = list((paths.cache / "models").glob("*.part"))
        assert len(left) == 1
        assert not is_complete(model_folder(paths))
        assert "built" in end(start(self.BUILD, paths.cache))
        assert not left[0].exists()
        assert is_complete(model_folder(paths), thorough=True)

    @pytest.mark.parametrize("limit", [40, 70])
    def test_a_disk_that_fills_up_is_one_sentence(self, paths, limit):
        """Files may grow to so many MB here; then numpy's write fails, or OpenVINO's, as on a full disk."""
        code = f"""
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, ({limit} << 20, {limit} << 20))
        try:
            ensure_model(paths)
        except SetupError as error:
            print(error)
        """
        said = end(start(code, paths.cache))
        assert f"{paths.cache}/models" in said
        assert "cannot be written" in said
        assert said.count("\n") == 1
        assert not list((paths.cache / "models").glob("*.part"))


@pytest.fixture
def read_only(paths):
    """Closes the cache to writers, to root as well, and opens it again."""

    def close() -> list[str]:
        for path in (paths.cache, *paths.cache.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        # Root writes anywhere by this capability; without it, modes count.
        return ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"] if os.geteuid() == 0 else []

    yield close
    for path in (paths.cache, *paths.cache.rglob("*")):
        path.chmod(0o755)


class TestReadOnly:
    @pytest.mark.parametrize("compiled", [True, False])
    def test_a_cache_that_is_complete_is_enough(self, paths, small, read_only, compiled):
        model, _ = built(paths)
        if compiled:
            speak(model)
            ensure_model(paths)
        code = """
        import openvino as ov
        model = ensure_model(paths)
        try:
            (model.compiled / "probe").touch()
            sys.exit("this cache can be written to")
        except PermissionError:
            pass
        core = ov.Core()
        core.set_property({"CACHE_DIR": str(model.compiled)})
        network = core.compile_model(model.folder / "text.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        print(network.get_property("LOADED_FROM_CACHE"))
        """
        assert end(start(code, paths.cache, prefix=read_only())) == f"{compiled}\n"

    def test_one_that_was_built_for_another_machine_is_enough(self, paths, small, read_only):
        for built_for in ("f32", "bf16"):
            model = ensure_model(paths, precision=built_for)
            code = "print(ensure_model(paths).precision)"
            assert end(start(code, paths.cache, prefix=read_only())) == f"{built_for}\n"
            shutil.rmtree(model.folder)

    def test_one_that_is_not_is_one_sentence(self, paths, read_only):
        (paths.cache / "models").mkdir(parents=True)
        code = """
        try:
            ensure_model(paths)
        except SetupError as error:
            print(error)
        """
        said = end(start(code, paths.cache, prefix=read_only()))
        assert said == f"{paths.cache}/models cannot be written to; allow it, or choose another folder.\n"
