"""Voices: packing, the store, and fetching them from npm and from a hub."""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import shutil
import stat
import subprocess
import sys
import tarfile
from importlib import resources

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtvoice.errors import InvalidInput, SetupError
from rtvoice.speech import voice_sources
from rtvoice.speech.statistics import INPUTS, OUTPUTS, BlendedMap
from rtvoice.speech.voice_sources import catalogue, from_npm, hashes_of
from rtvoice.speech.voices import LANGUAGES, VoiceStore, describe, pack, packaged_names, unpack


def smooth_voice(seed: int = 0) -> np.ndarray:
    steps = np.random.default_rng(seed).normal(0, 0.003, (510, 256))
    return np.cumsum(steps, axis=0, dtype=np.float32)


class TestPacking:
    @settings(max_examples=25, deadline=None)  # packing takes its time, on purpose
    @given(st.binary(min_size=512, max_size=512), st.integers(0, 509))
    def test_any_finite_float16_comes_back_bit_for_bit(self, bits, at):
        row = np.frombuffer(bits, "<f2")
        voice = np.zeros((510, 256), np.float32)
        voice[at] = np.where(np.isfinite(row), row, -0.0)
        unpacked = unpack(pack(voice))
        assert unpacked.shape == (510, 256)
        assert unpacked.tobytes() == voice.astype(np.float16).tobytes()  # -0.0 stays -0.0

    def test_the_packaged_voices_are_as_compact_as_float16_allows(self):
        sizes = [len(file.read_bytes()) for file in (resources.files("rtvoice.speech") / "data/voices").iterdir()]
        assert max(sizes) < 40_000
        assert sum(sizes) < 170_000

    @pytest.mark.parametrize("bad", [np.nan, np.inf, 70_000.0])
    def test_what_float16_cannot_hold_is_refused(self, bad):
        voice = smooth_voice()
        voice[17, 3] = bad
        with np.errstate(over="ignore"), pytest.raises(ValueError, match="finite"):
            pack(voice)

    def test_another_shape_is_refused(self):
        with pytest.raises(ValueError, match=r"\(510, 256\), not \(511, 256\)"):
            pack(np.zeros((511, 256), np.float32))

    def test_a_flipped_bit_is_found(self):
        packed = bytearray(pack(smooth_voice()))
        packed[len(packed) // 2] ^= 4
        with pytest.raises(ValueError, match=r"[Cc]orrupt"):
            unpack(bytes(packed))

    @pytest.mark.parametrize("data", [b"", b"no xz", pack(smooth_voice())[:-100], lzma.compress(b"xz of no voice")])
    def test_other_bytes_are_refused(self, data):
        with pytest.raises(ValueError):  # noqa: PT011 - each of them is told in its own words
            unpack(data)


class TestNames:
    def test_a_name_says_language_and_gender(self):
        info = describe("bm_george")
        assert (info.name, info.language, info.gender) == ("bm_george", "en-gb", "male")

    @pytest.mark.parametrize("name", ["", "heart", "../af_heart", "af_heart.xz", "AF_heart", "ax_heart", "af_"])
    def test_other_names_are_no_voices(self, name):
        with pytest.raises(ValueError, match="not the name of a voice"):
            describe(name)

    def test_every_voice_of_the_catalogue_can_be_described(self):
        assert len(catalogue()) == 54
        assert {describe(name).language for name in catalogue()} == set(LANGUAGES.values())


class TestStore:
    def test_six_voices_are_packaged_the_default_first(self, tmp_path):
        assert VoiceStore(tmp_path).names == (
            "af_heart",
            "af_bella",
            "am_fenrir",
            "am_michael",
            "bf_emma",
            "bm_george",
        )

    def test_voices_may_be_chosen_and_ordered(self, tmp_path):
        store = VoiceStore(tmp_path, ("bm_george", "af_bella", "bm_george"))
        assert store.names == ("bm_george", "af_bella")
        with pytest.raises(InvalidInput, match="af_heart") as caught:
            store.style("af_heart", 1)
        assert caught.value.allowed == ("bm_george", "af_bella")

    def test_a_voice_that_is_not_there_cannot_be_offered(self, tmp_path):
        with pytest.raises(InvalidInput, match="af_sky") as caught:
            VoiceStore(tmp_path, ["af_heart", "af_sky"])
        assert len(caught.value.allowed) == 6
        with pytest.raises(InvalidInput, match=r"no voice named 'af_heart\+af_bella'"):
            VoiceStore(tmp_path, ["af_heart", "af_heart+af_bella"])

    def test_a_style_is_the_row_of_its_length(self, tmp_path):
        store = VoiceStore(tmp_path)
        voice = smooth_voice()
        store.add("af_sky", voice)
        store = VoiceStore(tmp_path)
        for phonemes in (1, 2, 99, 510):
            style = store.style("af_sky", phonemes)
            assert style.shape == (1, 256)
            assert style.dtype == np.float32
            np.testing.assert_array_equal(style[0], voice[phonemes - 1].astype(np.float16))

    def test_a_style_belongs_to_the_caller(self, tmp_path):
        store = VoiceStore(tmp_path)
        first = store.style("af_heart", 20)
        first[:] = 0
        assert store.style("af_heart", 20).any()

    @pytest.mark.parametrize("phonemes", [0, 511, -1])
    def test_lengths_out_of_range_are_refused(self, tmp_path, phonemes):
        with pytest.raises(ValueError, match=r"not in 1\.\.510"):
            VoiceStore(tmp_path).style("af_heart", phonemes)

    def test_an_unknown_voice_names_the_field_and_the_voices(self, tmp_path):
        store = VoiceStore(tmp_path)
        with pytest.raises(InvalidInput, match="af_hart") as caught:
            store.style("af_hart", 1)
        assert caught.value.field == "voice"
        assert caught.value.allowed == store.names

    def test_the_style_of_a_blend_is_the_mean_of_its_voices(self, tmp_path):
        store = VoiceStore(tmp_path)
        heart, emma = store.style("af_heart", 77), store.style("bf_emma", 77)
        blended = store.style("bf_emma(3)+af_heart(1)", 77)
        assert blended.shape == (1, 256)
        assert blended.dtype == np.float32
        np.testing.assert_allclose(blended, 0.25 * heart + 0.75 * emma, rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(store.style("bf_emma(3)", 77), emma)

    def test_a_blend_has_its_first_voices_language(self, tmp_path):
        store = VoiceStore(tmp_path)
        info = store.info("bm_george+af_heart(9)")
        assert (info.name, info.language, info.gender) == ("bm_george+af_heart(9)", "en-gb", "male")

    def test_blends_are_of_voices_on_offer_only(self, tmp_path):
        store = VoiceStore(tmp_path, ("bm_george", "af_bella"))
        assert store.style("af_bella+bm_george", 9).any()
        with pytest.raises(InvalidInput, match="af_heart") as caught:
            store.style("af_heart+bm_george", 9)
        assert caught.value.allowed == ("bm_george", "af_bella")

    def test_added_voices_come_and_go(self, tmp_path):
        VoiceStore(tmp_path).add("jf_alpha", smooth_voice())
        store = VoiceStore(tmp_path)
        assert store.info("jf_alpha").language == "ja"
        assert store.is_added("jf_alpha")
        assert not store.is_added("af_heart")
        store.remove("jf_alpha")
        assert "jf_alpha" not in VoiceStore(tmp_path).names

    def test_a_packaged_voice_cannot_be_removed(self, tmp_path):
        with pytest.raises(InvalidInput, match="af_heart"):
            VoiceStore(tmp_path).remove("af_heart")
        assert "af_heart" in VoiceStore(tmp_path).names

    def test_a_name_cannot_leave_the_folder(self, tmp_path):
        with pytest.raises(ValueError, match="not the name"):
            VoiceStore(tmp_path).add("../../af_evil", smooth_voice())
        assert not list(tmp_path.iterdir())

    def test_strange_files_are_left_alone(self, tmp_path):
        folder = tmp_path / "voices"
        folder.mkdir()
        (folder / "notes.xz").write_bytes(b"")
        (folder / ".af_sky.xz-x8s7").write_bytes(b"half a voice")
        assert len(VoiceStore(tmp_path).names) == 6

    def test_a_damaged_voice_says_what_to_run(self, tmp_path):
        VoiceStore(tmp_path).add("af_sky", smooth_voice())
        file = tmp_path / "voices" / "af_sky.xz"
        file.write_bytes(file.read_bytes()[:-20])
        with pytest.raises(SetupError, match="run: rtvoice voices add af_sky"):
            VoiceStore(tmp_path).style("af_sky", 1)

    def test_a_pickle_under_a_voices_name_is_not_run(self, tmp_path):
        (tmp_path / "voices").mkdir()
        trap = f"cposix\nsystem\n(Vtouch {tmp_path}/ran\ntR.".encode()
        (tmp_path / "voices" / "af_sky.xz").write_bytes(trap)
        with pytest.raises(SetupError):
            VoiceStore(tmp_path).style("af_sky", 1)
        assert not (tmp_path / "ran").exists()

    def test_adding_leaves_no_half_written_file(self, tmp_path, monkeypatch):
        def full(_number: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(SetupError, match="no space left"):
            VoiceStore(tmp_path).add("af_sky", smooth_voice())
        assert not list((tmp_path / "voices").iterdir())

    def test_a_folder_that_cannot_be_made_is_one_sentence(self, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(SetupError, match="cannot be written"):
            VoiceStore(tmp_path / "file").add("af_sky", smooth_voice())

    def test_packaged_voices_are_close_to_upstreams(self, tmp_path):
        """Their spread, acoustic and prosodic half, as computed from the npm package's float32."""
        style = VoiceStore(tmp_path).style("af_heart", 100).astype(np.float64)
        assert style[0, :128].std() == pytest.approx(0.139968, rel=1e-3)
        assert style[0, 128:].std() == pytest.approx(0.144415, rel=1e-3)


@pytest.fixture
def npm(tmp_path, monkeypatch):
    """A stand-in for the npm client: packs what the test asks it to, or fails as told."""

    def make(voices: dict[str, bytes], *, fail: str = "") -> None:
        archive = tmp_path / "made.tgz"
        with tarfile.open(archive, "w:gz") as files:
            for path, data in voices.items():
                member = tarfile.TarInfo(path)
                member.size = len(data)
                files.addfile(member, io.BytesIO(data))
        client = tmp_path / "bin" / "npm"
        client.parent.mkdir(exist_ok=True)
        last = f"echo {fail!r} >&2; exit 1" if fail else f'cp {archive} "$last/kokoro-js-1.2.1.tgz"'
        client.write_text(f"#!/bin/sh\nfor last; do :; done\n{last}\n")
        client.chmod(client.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{client.parent}:{os.environ['PATH']}")

    return make


class TestNpm:
    def test_a_voice_with_the_right_hash_is_taken(self, npm):
        data = smooth_voice().tobytes()
        npm({"package/voices/af_sky.bin": data})
        ((name, styles),) = from_npm({"af_sky": hashlib.sha256(data).hexdigest()})
        assert name == "af_sky"
        np.testing.assert_array_equal(styles, smooth_voice())

    def test_a_voice_with_another_hash_is_refused(self, npm):
        npm({"package/voices/af_sky.bin": smooth_voice().tobytes()})
        with pytest.raises(SetupError, match="af_sky is not the one expected"):
            list(from_npm(hashes_of(["af_sky"], "npm")))

    def test_a_package_without_the_voice_is_named(self, npm):
        npm({"package/README.md": b""})
        with pytest.raises(SetupError, match=r"no package/voices/af_sky\.bin"):
            list(from_npm(hashes_of(["af_sky"], "npm")))

    def test_a_voice_of_another_size_is_refused(self, npm):
        npm({"package/voices/af_sky.bin": b"1234"})
        with pytest.raises(SetupError, match="1 numbers instead of 130560"):
            list(from_npm({"af_sky": hashlib.sha256(b"1234").hexdigest()}))

    def test_what_npm_says_is_passed_on(self, npm):
        npm({}, fail="npm error network request failed")
        with pytest.raises(SetupError, match=r"kokoro-js@1\.2\.1: npm error network request failed"):
            list(from_npm(hashes_of(["af_sky"], "npm")))

    def test_without_npm_the_other_way_is_named(self, monkeypatch):
        monkeypatch.setenv("PATH", "/nonexistent")
        with pytest.raises(SetupError, match=r"install npm.*--from hub"):
            list(from_npm(hashes_of(["af_sky"], "npm")))

    def test_a_client_that_hangs_is_given_up(self, npm, monkeypatch, tmp_path):
        npm({})
        (tmp_path / "bin" / "npm").write_text("#!/bin/sh\nexec sleep 60\n")
        monkeypatch.setattr(voice_sources, "NPM_TIMEOUT_S", 0.2)
        with pytest.raises(SetupError, match="did not deliver"):
            list(from_npm(hashes_of(["af_sky"], "npm")))

    @pytest.mark.skipif(shutil.which("npm") is None and "CI" not in os.environ, reason="needs npm: make test brings it")
    def test_the_real_package_holds_all_voices_and_ours_are_made_from_it(self, tmp_path):
        store = VoiceStore(tmp_path)
        found = {}
        for name, styles in from_npm(hashes_of(["all"], "npm")):
            found[name] = styles.shape
            if name in store.names:
                style = store.style(name, 510)
                np.testing.assert_array_equal(style[0], styles[509].astype(np.float16))
        assert found == dict.fromkeys(catalogue(), (510, 256))

    def test_a_voice_kokoro_does_not_have_is_refused_before_anything_is_fetched(self):
        with pytest.raises(InvalidInput, match="zz_top") as caught:
            hashes_of(["af_sky", "zz_top"], "npm")
        assert "af_sky" in caught.value.allowed

    def test_all_means_every_voice(self):
        assert hashes_of(["all"], "hub").keys() == catalogue().keys()


def test_the_store_loads_neither_torch_nor_a_hub_client():
    code = (
        "import sys, pathlib; from rtvoice.speech.voices import VoiceStore, packaged_names;"
        "VoiceStore(pathlib.Path('/nonexistent')).style('af_heart', 9);"
        "assert not {'torch', 'pickle', 'huggingface_hub', 'openvino'} & (set(sys.modules) - before)"
    )
    code = "import sys, numpy; before = set(sys.modules); " + code
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_damaged_map_says_what_to_run_and_spoils_no_other_voice(tmp_path):
    store = VoiceStore(tmp_path)
    styles = np.concatenate([store.style("af_heart", length) for length in range(1, 511)])
    store.add("af_sky", styles)
    (tmp_path / "voices" / "af_sky.npz").write_bytes(b"PK\x03\x04 nonsense")
    again = VoiceStore(tmp_path)
    with pytest.raises(SetupError, match=r"The map of the voice af_sky .* run: rtvoice voices fit af_sky"):
        again.statistics("af_sky")
    assert again.statistics("af_heart") is not None


class TestFittedBlends:
    FORMULA = "af_heart(2)+bf_emma(1)"

    def fit(self, store, formula=FORMULA):
        maps, parts = store.blended(formula)
        return BlendedMap(maps, parts, np.full(OUTPUTS, 0.25, np.float16))

    def test_a_blend_has_none_until_it_is_fitted_and_then_however_it_is_written(self, tmp_path):
        store = VoiceStore(tmp_path)
        assert store.statistics(self.FORMULA) is None
        store.keep_statistics(self.FORMULA, self.fit(store))
        row = np.zeros(INPUTS, np.float32)
        expected = self.fit(store).predict(row).flat()
        store = VoiceStore(tmp_path)
        assert store.fitted_blends == ["af_heart(0.6667)+bf_emma(0.3333)"]
        for formula in (self.FORMULA, "bf_emma(2) + af_heart(4)"):
            np.testing.assert_allclose(store.statistics(formula).predict(row).flat(), expected, atol=1e-3)
        assert store.statistics("af_heart+bf_emma") is None

    def test_it_goes_with_its_voice(self, tmp_path):
        store = VoiceStore(tmp_path)
        store.add("af_sky", smooth_voice())
        store = VoiceStore(tmp_path)
        with pytest.raises(InvalidInput, match="run: rtvoice voices fit af_sky"):
            store.blended("af_sky+af_heart")
        store.keep_statistics("af_sky", store.statistics("af_bella"))
        store = VoiceStore(tmp_path)
        for formula in ("af_sky+af_heart", self.FORMULA):
            store.keep_statistics(formula, self.fit(store, formula))
        assert VoiceStore(tmp_path).statistics("af_sky+af_heart") is not None
        store.remove("af_sky")
        assert VoiceStore(tmp_path).fitted_blends == ["af_heart(0.6667)+bf_emma(0.3333)"]

    def test_a_blend_whose_voice_has_another_map_is_not_fitted(self, tmp_path):
        store = VoiceStore(tmp_path)
        store.add("af_sky", smooth_voice())
        store = VoiceStore(tmp_path)
        store.keep_statistics("af_sky", store.statistics("af_bella"))
        store = VoiceStore(tmp_path)
        store.keep_statistics("af_sky+af_heart", self.fit(store, "af_sky+af_heart"))
        store.keep_statistics("af_sky", store.statistics("bf_emma"))
        assert VoiceStore(tmp_path).statistics("af_sky+af_heart") is None

    def test_a_damaged_one_says_what_to_run(self, tmp_path):
        store = VoiceStore(tmp_path)
        store.keep_statistics(self.FORMULA, self.fit(store))
        (file,) = (tmp_path / "voices").glob("*.npz")
        file.write_bytes(file.read_bytes()[:-30])
        store = VoiceStore(tmp_path)
        for _ in range(2):
            with pytest.raises(SetupError, match=r"run: rtvoice voices fit 'af_heart\(0\.6667\)"):
                store.statistics(self.FORMULA)


@pytest.mark.parametrize("name", packaged_names())
def test_every_packaged_voice_has_a_map(tmp_path, name):
    assert VoiceStore(tmp_path).statistics(name).support.shape[0] >= 128


class TestUnfittedVoicesThatAreNotOnOffer:
    def test_packaged_voices_are_spoken(self, tmp_path):
        store = VoiceStore(tmp_path, unfitted=False)
        assert store.names == VoiceStore(tmp_path).names
        store.check("af_heart")
        assert store.statistics("af_heart") is not None

    @pytest.mark.parametrize("formula", ["af_heart(2)+bf_emma(1)", "bf_emma + af_heart"])
    def test_a_blend_is_refused_until_it_is_fitted(self, formula, tmp_path):
        store = VoiceStore(tmp_path, unfitted=False)
        for refuses in (store.check, store.statistics, store.prepare):
            with pytest.raises(InvalidInput, match=r"may run: rtvoice voices fit '.*af_heart.*'") as refused:
                refuses(formula)
            assert refused.value.field == "voice"
            assert "af_heart" in refused.value.allowed
        store.keep_statistics(formula, TestFittedBlends().fit(store, formula))
        store = VoiceStore(tmp_path, unfitted=False)
        for _ in range(2):  # before it is read, and after
            store.check(formula)
            assert store.info(formula).name == formula
            assert store.statistics(formula) is not None

    def test_a_refusal_names_the_blends_that_are_spoken(self, tmp_path):
        first, other, later = (
            "af_heart(0.5000)+bf_emma(0.5000)",
            "af_bella(0.5000)+af_heart(0.5000)",
            "af_heart+bf_emma(2)",
        )
        store = VoiceStore(tmp_path)
        for formula in (first, other):
            store.keep_statistics(formula, TestFittedBlends().fit(store, formula))
        store = VoiceStore(tmp_path, ["af_heart", "bf_emma"], unfitted=False)
        store.keep_statistics(later, TestFittedBlends().fit(store, later))  # from the next start on
        with pytest.raises(InvalidInput) as refused:
            store.check("af_heart(3)+bf_emma")
        assert refused.value.allowed == ("af_heart", "bf_emma", first)

    def test_an_added_voice_is_not_offered_until_it_is_fitted(self, tmp_path):
        VoiceStore(tmp_path).add("af_sky", smooth_voice())
        store = VoiceStore(tmp_path, unfitted=False)
        assert "af_sky" not in store.names
        for refuses in (store.check, lambda name: VoiceStore(tmp_path, [name], unfitted=False)):
            with pytest.raises(InvalidInput, match="may run: rtvoice voices fit af_sky"):
                refuses("af_sky")
        with pytest.raises(InvalidInput, match="may run: rtvoice voices fit af_sky,"):
            store.check("af_heart+af_sky(2)")
        with pytest.raises(InvalidInput, match="no voice named 'af_nobody'"):
            store.check("af_nobody")
        VoiceStore(tmp_path).keep_statistics("af_sky", store.statistics("af_bella"))
        store = VoiceStore(tmp_path, ["af_heart", "af_sky"], unfitted=False)
        store.check("af_sky")
        assert store.names == ("af_heart", "af_sky")
        with pytest.raises(InvalidInput, match="no voice named 'bf_emma'"):  # it has a map, and is not offered
            store.check("bf_emma")
