"""One run of upstream's model with every stage's inputs and outputs kept, in the layouts of rtvoice's networks."""

from __future__ import annotations

import copy
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import torch

if TYPE_CHECKING:
    from kokoro import KModel
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Recording:
    """Shapes as in `rtvoice.speech.network`: T phonemes and two zeros, F frames."""

    phonemes: str
    style: Floats  # [1, 256]
    durations: Floats  # [T]
    d: Floats  # [T, 640]
    t_en: Floats  # [T, 512]
    en: Floats  # [F, 640]
    asr: Floats  # [F, 512]
    f0: Floats  # [2F]
    energy: Floats  # [2F]
    x: Floats  # [2F, 512]
    noise: Floats  # [600F], standard normal: what the harmonics add up to, see `drawing_noise`
    source: Floats  # [600F], phases summed in float32 as upstream does
    exact_source: Floats  # [600F], the same module in float64
    har: Floats  # [120F + 1, 22]
    post: Floats  # [120F + 1, 22]
    audio: Floats  # [600F]


def record(model: KModel, phonemes: str, style: Floats, *, seed: int) -> Recording:
    """Run upstream's model once and keep what passes between its parts.

    Its noise is what rtvoice draws from numpy's Philox with this seed.
    """
    seen: dict[str, Any] = {}

    def keep_input(name: str):
        return lambda module, inputs: seen.__setitem__(name, inputs)

    def keep_output(name: str):
        return lambda module, inputs, output: seen.__setitem__(name, output)

    generator = model.decoder.generator
    mix = generator.m_source.l_linear.weight.detach().numpy()
    hooks = [
        model.predictor.text_encoder.register_forward_hook(keep_output("d")),
        model.text_encoder.register_forward_hook(keep_output("t_en")),
        model.predictor.shared.register_forward_pre_hook(keep_input("en")),
        model.decoder.register_forward_pre_hook(keep_input("decoder")),
        generator.register_forward_pre_hook(keep_input("generator")),
        generator.m_source.register_forward_pre_hook(keep_input("pitch")),
        generator.m_source.register_forward_hook(keep_output("source")),
        generator.conv_post.register_forward_hook(keep_output("post")),
    ]
    with torch.no_grad():
        with drawing_noise(seed, mix):
            output = model(phonemes, torch.tensor(style), 1.0, return_output=True)
        asr, f0, energy, _ = seen["decoder"]
        x = seen["generator"][0]
        source = seen["source"][0]
        har = torch.cat(generator.stft.transform(source.transpose(1, 2).squeeze(1)), dim=1)
        exact = copy.deepcopy(generator.m_source).double()
        with drawing_noise(seed, mix):
            exact_source = exact(seen["pitch"][0].double())[0]
    for hook in hooks:
        hook.remove()

    def rows(tensor: torch.Tensor) -> Floats:
        """[1, C, T] -> [T, C]."""
        return np.ascontiguousarray(tensor[0].T.float().numpy())

    return Recording(
        phonemes=phonemes,
        style=style,
        durations=output.pred_dur.float().numpy(),
        d=seen["d"][0].numpy(),
        t_en=rows(seen["t_en"]),
        en=seen["en"][0][0].numpy(),
        asr=rows(asr),
        f0=f0[0].numpy(),
        energy=energy[0].numpy(),
        x=rows(x),
        noise=np.random.Generator(np.random.Philox(seed)).standard_normal(source.shape[1], np.float32),
        source=source[0, :, 0].numpy(),
        exact_source=exact_source[0, :, 0].float().numpy(),
        har=rows(har),
        post=rows(seen["post"]),
        audio=output.audio.numpy(),
    )


@contextmanager
def drawing_noise(seed: int, mix: Floats):
    """Have upstream's harmonic source draw its noise from numpy. (It draws once more, for a source it does not use.)

    Upstream adds noise to each harmonic and then weighs them; rtvoice adds one noise to their sum. Each harmonic is
    given its weight's share of that, so that the sums are equal.

    Args:
        seed: of numpy's Philox.
        mix: weights of the harmonics, [1, 9].
    """
    generator = np.random.Generator(np.random.Philox(seed))
    share = mix[0] / np.linalg.norm(mix)

    def randn_like(tensor: torch.Tensor) -> torch.Tensor:
        drawn = generator.standard_normal(tensor.shape[:-1], np.float32)[..., None]
        return torch.from_numpy(drawn * share[: tensor.shape[-1]]).to(tensor.dtype)

    with mock.patch.object(torch, "randn_like", randn_like):
        yield
