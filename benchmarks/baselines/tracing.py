"""Upstream's model as four modules without data-dependent shapes, and their conversion to OpenVINO. Needs torch.

::

    text      ids [1, T], style [1, 256], speed [1] -> d [1, T, 640], t_en [1, T, 512], durations [1, T]
    prosody   en [1, F, 640], style                 -> f0 [1, 2F], energy [1, 2F]
    decoder   asr [1, 512, F], f0, energy, style    -> x [1, 512, 2F]
    generator x, har [1, 22, 120F + 1], style       -> log magnitude and phase [1, 22, 120F + 1]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import openvino as ov
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import remove_weight_norm

from benchmarks.baselines.upstream import load_model

if TYPE_CHECKING:
    from pathlib import Path

_ACOUSTIC = 128
"""Values of a style that say how the voice sounds; those behind say how it speaks."""


class _Part(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """A part of upstream's model."""

    def __init__(self, model: Any) -> None:  # noqa: ANN401 - upstream has no types
        super().__init__()
        self.model = model


class Text(_Part):
    """Phonemes to what is known of each of them, and for how many frames it lasts."""

    def forward(self, ids: Tensor, style: Tensor, speed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """See the module."""
        predictor, encoder = self.model.predictor, self.model.text_encoder
        prosodic = style[:, _ACOUSTIC:]
        everywhere = prosodic[:, None].expand(-1, ids.shape[1], -1)
        hidden = self.model.bert_encoder(self.model.bert(ids, attention_mask=torch.ones_like(ids)))
        d = torch.cat([hidden, everywhere], -1)
        for layer in predictor.text_encoder.lstms:
            if isinstance(layer, nn.LSTM):
                d = layer(d)[0]
                continue
            scale, shift = layer.fc(prosodic)[:, None].chunk(2, -1)
            normal = functional.layer_norm(d, d.shape[-1:], eps=layer.eps)
            d = torch.cat([(1 + scale) * normal + shift, everywhere], -1)
        spans = torch.sigmoid(predictor.duration_proj(predictor.lstm(d)[0])).sum(-1) / speed
        t_en = encoder.embedding(ids).transpose(1, 2)
        for layer in encoder.cnn:
            t_en = layer(t_en)
        return d, encoder.lstm(t_en.transpose(1, 2))[0], spans.round().clamp(min=1)


class Prosody(_Part):
    """Pitch and energy of each half frame."""

    def forward(self, en: Tensor, style: Tensor) -> tuple[Tensor, Tensor]:
        """See the module."""
        predictor, prosodic = self.model.predictor, style[:, _ACOUSTIC:]
        shared = predictor.shared(en)[0].transpose(1, 2)
        curves = []
        for blocks, project in ((predictor.F0, predictor.F0_proj), (predictor.N, predictor.N_proj)):
            curve = shared
            for block in blocks:
                curve = block(curve, prosodic)
            curves.append(project(curve)[:, 0])
        return curves[0], curves[1]


class Decoder(_Part):
    """The features that the generator makes sound of."""

    def forward(self, asr: Tensor, f0: Tensor, energy: Tensor, style: Tensor) -> Tensor:
        """See the module."""
        decoder, acoustic = self.model.decoder, style[:, :_ACOUSTIC]
        curves = [decoder.F0_conv(f0[:, None]), decoder.N_conv(energy[:, None])]
        x: Tensor = decoder.encode(torch.cat([asr, *curves], 1), acoustic)
        spoken = decoder.asr_res(asr)
        for block in decoder.decode:
            x = block(torch.cat([x, spoken, *curves], 1), acoustic)
        return x


class Generator(_Part):
    """Spectra of the sound."""

    def forward(self, x: Tensor, har: Tensor, style: Tensor) -> Tensor:
        """See the module."""
        generator, acoustic = self.model.decoder.generator, style[:, :_ACOUSTIC]
        for stage in range(generator.num_upsamples):
            source = generator.noise_res[stage](generator.noise_convs[stage](har), acoustic)
            x = generator.ups[stage](functional.leaky_relu(x, 0.1))
            if stage == generator.num_upsamples - 1:
                x = generator.reflection_pad(x)
            x = x + source
            first = stage * generator.num_kernels
            blocks = [generator.resblocks[first + j](x, acoustic) for j in range(generator.num_kernels)]
            x = torch.stack(blocks).sum(0) / len(blocks)
        spectra: Tensor = generator.conv_post(functional.leaky_relu(x))
        return spectra


def convert(checkpoint: Path, folder: Path) -> None:
    """Trace the four parts and write each as OpenVINO's IR.

    Args:
        checkpoint: upstream's weights.
        folder: gets `text.xml`, `text.bin`, and so on.
    """
    model = load_model(checkpoint, disable_complex=True)
    for module in model.modules():
        if hasattr(module, "weight_g"):  # most have no such norm
            remove_weight_norm(module)
    phonemes, frames = 24, 60
    style, curve = torch.zeros(1, 2 * _ACOUSTIC), torch.zeros(1, 2 * frames)
    examples: dict[str, tuple[nn.Module, tuple[Tensor, ...]]] = {
        "text": (Text(model), (torch.ones(1, phonemes, dtype=torch.int64), style, torch.ones(1))),
        "prosody": (Prosody(model), (torch.zeros(1, frames, 640), style)),
        "decoder": (Decoder(model), (torch.zeros(1, 512, frames), curve, curve, style)),
        "generator": (
            Generator(model),
            (torch.zeros(1, 512, 2 * frames), torch.zeros(1, 22, 120 * frames + 1), style),
        ),
    }
    for name, (part, inputs) in examples.items():
        with torch.no_grad():
            converted = ov.convert_model(part.eval(), example_input=inputs)
        ov.save_model(converted, folder / f"{name}.xml", compress_to_fp16=False)
