from __future__ import annotations

import importlib.util
import warnings
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import openvino as ov
    from kokoro import KModel

    from benchmarks.baselines.own import Own
    from tests.reference.recording import Recording

HERE = importlib.util.find_spec("kokoro") is not None

# The serving environment has no torch, and must not: there these files cannot even be imported.
collect_ignore_glob = [] if HERE else ["test_*.py"]

SENTENCES = {
    "short": "θˈæŋks!",
    "middle": "ˌI hæv nˈɛvəɹ sˈin ðə ɹˈɪvəɹ æz hˈI æz ɪt wʌz ðˌɪs spɹˈɪŋ.",
    "long": (
        "tˈAk ðə blˈu fˈOldəɹ fɹʌm ðə sˈɛkənd ʃˈɛlf, kˈɑpi ðə pˈAʤᵻz ðæt ɑɹ mˈɑɹkt wɪð ɐ jˈɛlO nˈOt, "
        "ænd bɹˈɪŋ ðˌɛm tə ði ˈɔfəs bəfˈɔɹ nˈun."
    ),
}
VOICES = ("af_heart", "bm_george")


@pytest.fixture(scope="session")
def networks() -> dict[str, ov.CompiledModel]:
    """The four networks of the exact form, compiled as the pool compiles them."""
    import openvino as ov

    from rtvoice.speech.network import build_networks
    from rtvoice.speech.weights import load_weights

    core, drawn = ov.Core(), build_networks(load_weights())
    return {
        name: core.compile_model(drawn[name], "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        for name in ("text", "prosody", "decoder", "generator")
    }


@pytest.fixture(scope="session")
def kernels() -> dict[str, ov.Tensor]:
    """The generator's kernels, which are inputs of it."""
    from rtvoice.speech.network import generator_kernels
    from rtvoice.speech.weights import load_weights

    return generator_kernels(load_weights())


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Own:
    """rtvoice's engine behind the phonemes, built and loaded."""
    from benchmarks.baselines.own import Own

    engine = Own(tmp_path_factory.mktemp("engine"), threads=1, sliced=False)
    engine.prepare()
    return engine


@pytest.fixture(scope="session")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> KModel:
    """Upstream's model with the default weights, read from a checkpoint file as upstream reads its own."""
    from benchmarks.baselines.upstream import load_model, write_checkpoint
    from rtvoice.speech.weights import load_weights

    path = tmp_path_factory.mktemp("upstream") / "kokoro.pth"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's, about how upstream is written
        write_checkpoint(load_weights(), path)
        return load_model(path)


@pytest.fixture(scope="session", params=[(v, s) for v in VOICES for s in SENTENCES], ids="-".join)
def recording(request: pytest.FixtureRequest, upstream: KModel, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """What upstream computes for one sentence in one voice, stage by stage."""
    from benchmarks.baselines.own import SEED
    from rtvoice.speech.voices import VoiceStore
    from tests.reference.recording import record

    voice, sentence = request.param
    phonemes = SENTENCES[sentence]
    style = VoiceStore(tmp_path_factory.getbasetemp()).style(voice, len(phonemes))
    return record(upstream, phonemes, style, seed=SEED)
