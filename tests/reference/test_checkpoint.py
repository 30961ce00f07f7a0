"""Upstream's checkpoint gives the same arrays as the packaged weights, and whatever else it is, is refused."""

from __future__ import annotations

import hashlib
import http.server
import threading
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.baselines.upstream import write_checkpoint
from rtvoice.errors import SetupError
from rtvoice.speech import hub
from rtvoice.speech.checkpoint import load_checkpoint, locate_checkpoint
from rtvoice.speech.voice_sources import from_hub
from rtvoice.speech.weights import load_weights

pytestmark = pytest.mark.reference


@pytest.fixture(scope="module")
def default():
    return load_weights()


@pytest.fixture(scope="module")
def written(default, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("checkpoint") / "kokoro-v1_0.pth"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's, about how upstream is written
        write_checkpoint(default, path)
    return path


def rewritten(written: Path, path: Path, change) -> Path:
    """The checkpoint with something changed in it."""
    parts = torch.load(written, weights_only=True)
    change(parts)
    torch.save(parts, path)
    return path


class TestCheckpoint:
    def test_it_gives_the_arrays_it_was_written_from(self, default, written):
        loaded = load_checkpoint(written)
        assert list(loaded) == list(default)
        for name, array in default.items():
            assert loaded[name].dtype == np.float32
            assert loaded[name].flags.c_contiguous
            np.testing.assert_allclose(loaded[name], array, rtol=1e-5, err_msg=name)

    def test_filters_of_zeros_stay_zeros(self, default, written, tmp_path):
        """The packaged weights have 52 of them here. With the direction 0 as well, torch makes them 0 / 0."""
        name = "predictor.F0.2.conv1.weight"
        zeros = ~default[name].any(axis=(1, 2))
        assert zeros.sum() == 52

        def flatten(parts):
            parts["predictor"]["module.F0.2.conv1.weight_v"][torch.from_numpy(zeros)] = 0

        for checkpoint in (written, rewritten(written, tmp_path / "flat.pth", flatten)):
            assert not load_checkpoint(checkpoint)[name][zeros].any()

    def test_a_checkpoint_without_the_prefix_and_with_all_keys_is_read(self, default, written, tmp_path):
        def strip(parts):
            for part, tensors in parts.items():
                parts[part] = {key.removeprefix("module."): tensor for key, tensor in tensors.items()}

        loaded = load_checkpoint(rewritten(written, tmp_path / "plain.pth", strip))
        np.testing.assert_allclose(loaded["bert_encoder.weight"], default["bert_encoder.weight"])

    def test_instance_norms_and_the_pooler_may_be_left_out(self, default, written, tmp_path):
        def leave_out(parts):
            for tensors in parts.values():
                for key in [key for key in tensors if ".norm." in key or "pooler" in key]:
                    del tensors[key]

        assert list(load_checkpoint(rewritten(written, tmp_path / "lean.pth", leave_out))) == list(default)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda parts: parts["decoder"].pop("module.F0_conv.bias"), "lacks decoder.F0_conv.bias"),
            (lambda parts: parts.pop("predictor"), "lacks predictor"),
            (lambda parts: parts["bert"].update({"module.extra": torch.ones(3)}), "bert.extra is no part of it"),
            (lambda parts: parts.update(vocoder={"w": torch.ones(3)}), "no checkpoint of Kokoro-82M: vocoder"),
            (
                lambda parts: parts["bert_encoder"].update({"module.weight": torch.ones(512, 700)}),
                "no checkpoint of Kokoro-82M: .*",
            ),
            (lambda parts: parts["decoder"]["module.F0_conv.bias"].fill_(torch.nan), "not finite, in decoder.F0_conv"),
            (
                lambda parts: parts["decoder"]["module.encode.norm1.norm.weight"].fill_(2),
                r"scales the instance norms \(decoder.encode.norm1.norm.weight\)",
            ),
        ],
        ids=["lacking", "part lacking", "unknown", "unknown part", "other shape", "nan", "affine"],
    )
    def test_another_network_is_refused(self, written, tmp_path, change, said):
        with pytest.raises(SetupError, match=said):
            load_checkpoint(rewritten(written, tmp_path / "other.pth", change))

    def test_a_list_is_no_checkpoint(self, tmp_path):
        torch.save([torch.ones(3)], tmp_path / "list.pth")
        with pytest.raises(SetupError, match="its parts are missing"):
            load_checkpoint(tmp_path / "list.pth")

    def test_a_pickle_that_would_run_something_is_refused(self, tmp_path):
        class Trap:
            def __reduce__(self):
                return (Path.touch, (tmp_path / "ran",))

        torch.save({"bert": {"w": Trap()}}, tmp_path / "trap.pth")
        with pytest.raises(SetupError, match="no file of tensors that can be read safely"):
            load_checkpoint(tmp_path / "trap.pth")
        assert not (tmp_path / "ran").exists()

    @pytest.mark.parametrize("length", [0, 1000, 10_000_000])
    def test_a_file_that_was_cut_off_is_refused(self, written, tmp_path, length):
        cut = tmp_path / "cut.pth"
        with written.open("rb") as whole:
            cut.write_bytes(whole.read(length))
        with pytest.raises(SetupError, match="no file of tensors"):
            load_checkpoint(cut)

    def test_its_identity_is_its_contents(self, written):
        file, identity = locate_checkpoint(str(written))
        assert file == written
        assert identity == hashlib.sha256(written.read_bytes()).hexdigest()[:16]

    def test_a_file_that_is_not_there_says_what_could_be(self):
        with pytest.raises(SetupError, match=r"no checkpoint nowhere\.pth: it is a file, or hexgrad/Kokoro-82M"):
            locate_checkpoint("nowhere.pth")


@contextmanager
def stand_in(files: dict[str, bytes]):
    """A hub with these files in upstream's repository, as far as huggingface_hub asks."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.answer(send=False)

        def do_GET(self):
            self.answer(send=True)

        def answer(self, *, send: bool):
            asked.append(self.path)
            data = files.get(self.path.removeprefix(f"/{hub.REPOSITORY}/resolve/{hub.REVISION}/"))
            self.send_response(200 if data is not None else 404)
            if data is None:
                self.send_header("X-Error-Code", "EntryNotFound")
            else:
                self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
                self.send_header("X-Repo-Commit", hub.REVISION)
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            if send and data:
                self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def hub_cache(tmp_path, monkeypatch):
    """Keeps huggingface_hub's cache out of the home folder; it reads the setting once, when it is imported."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.file_download.constants.HF_HUB_CACHE", str(tmp_path / "hub"))


class TestHub:
    @pytest.fixture
    def voice(self, tmp_path) -> tuple[np.ndarray, bytes]:
        styles = np.random.default_rng(3).normal(0, 0.3, (510, 1, 256)).astype(np.float32)
        torch.save(torch.from_numpy(styles), tmp_path / "af_sky.pt")
        return styles.reshape(510, 256), (tmp_path / "af_sky.pt").read_bytes()

    def test_a_voice_is_fetched_at_the_pinned_revision_and_checked(self, voice):
        styles, file = voice
        with stand_in({"voices/af_sky.pt": file}) as (endpoint, asked):
            ((name, fetched),) = from_hub({"af_sky": hashlib.sha256(file).hexdigest()}, endpoint)
        assert name == "af_sky"
        np.testing.assert_array_equal(fetched, styles)
        assert {path for path in asked if "/resolve/" in path} == {
            f"/hexgrad/Kokoro-82M/resolve/{hub.REVISION}/voices/af_sky.pt"
        }

    def test_a_voice_with_another_hash_is_refused_and_forgotten(self, voice):
        with stand_in({"voices/af_sky.pt": voice[1]}) as (endpoint, _):
            for _attempt in range(2):
                with pytest.raises(SetupError, match="not the file expected"):
                    list(from_hub({"af_sky": "0" * 64}, endpoint))
            ((_, fetched),) = from_hub({"af_sky": hashlib.sha256(voice[1]).hexdigest()}, endpoint)
        np.testing.assert_array_equal(fetched, voice[0])

    def test_a_pickle_that_would_run_something_is_refused(self, tmp_path):
        class Trap:
            def __reduce__(self):
                return (Path.touch, (tmp_path / "ran",))

        torch.save(Trap(), tmp_path / "trap.pt")
        file = (tmp_path / "trap.pt").read_bytes()
        with (
            stand_in({"voices/af_sky.pt": file}) as (endpoint, _),
            pytest.raises(SetupError, match="read safely"),
        ):
            list(from_hub({"af_sky": hashlib.sha256(file).hexdigest()}, endpoint))
        assert not (tmp_path / "ran").exists()

    def test_a_file_the_hub_does_not_have_is_one_sentence(self):
        with (
            stand_in({}) as (endpoint, _),
            pytest.raises(SetupError, match=r"The hub did not deliver voices/af_sky\.pt: .*\S"),
        ):
            list(from_hub({"af_sky": "0" * 64}, endpoint))

    def test_a_hub_that_is_not_there_is_one_sentence(self):
        with pytest.raises(SetupError, match="The hub did not deliver"):
            list(from_hub({"af_sky": "0" * 64}, "http://127.0.0.1:9"))

    def test_upstreams_checkpoint_must_be_upstreams(self, written):
        with (
            stand_in({hub.CHECKPOINT: written.read_bytes()}) as (endpoint, _),
            pytest.raises(SetupError, match=r"kokoro-v1_0\.pth from the hub is not the file expected"),
        ):
            locate_checkpoint(hub.REPOSITORY, endpoint)

    def test_the_right_checkpoint_is_taken(self, written, monkeypatch):
        identity = hashlib.sha256(written.read_bytes()).hexdigest()
        monkeypatch.setattr(hub, "CHECKPOINT_SHA256", identity)
        with stand_in({hub.CHECKPOINT: written.read_bytes()}) as (endpoint, _):
            file, found = locate_checkpoint(hub.REPOSITORY, endpoint)
        assert found == identity[:16]
        assert file.stat().st_size == written.stat().st_size
