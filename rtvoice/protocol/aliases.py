"""Names of voices that programs written for other services ask for, and which of ours stands in for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtvoice.blends import read_blend
from rtvoice.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtvoice.protocol.messages import Voice

ALIASES = {
    # ElevenLabs: the ids of its old default voices, which tutorials and plugins name, and their names
    "21m00Tcm4TlvDq8ikWAM": "af_heart",
    "rachel": "af_heart",
    "EXAVITQu4vr4xnSDxMaL": "af_bella",
    "sarah": "af_bella",
    "AZnzlk1XvdvUeBnXmlld": "af_nicole",
    "MF3mGyEYCl7XYWbV9V6O": "af_sarah",
    "ErXwobaYiN019PkySvjV": "am_michael",
    "TxGEqnHWrfWFTfGW9XjX": "am_fenrir",
    "VR6AewLTigWG4xSOukaG": "am_onyx",
    "pNInz6obpgDQGcFmaJgB": "am_adam",
    "adam": "am_adam",
    "yoZ06aMxZJJ28mfd3POQ": "am_puck",
    "bIHbv24MWmeRgasZH58o": "am_puck",
    "JBFqnCBsd6RMkjVDRZzb": "bm_george",
    "george": "bm_george",
    "onwK4e9ZLuTAKqWW03F9": "bm_daniel",
    "XB0fDUnXU5powFXDhCwa": "bf_emma",
    # Deepgram Aura, without the ending that names the language
    "aura-asteria": "af_heart",
    "aura-luna": "af_sky",
    "aura-stella": "af_bella",
    "aura-athena": "bf_emma",
    "aura-hera": "af_nicole",
    "aura-orion": "am_michael",
    "aura-arcas": "am_puck",
    "aura-perseus": "am_fenrir",
    "aura-angus": "bm_lewis",
    "aura-orpheus": "am_adam",
    "aura-helios": "bm_george",
    "aura-zeus": "am_onyx",
    "aura-2-thalia": "af_heart",
    "aura-2-andromeda": "af_bella",
    "aura-2-helena": "af_nicole",
    "aura-2-apollo": "am_michael",
    "aura-2-arcas": "am_puck",
    "aura-2-aries": "am_fenrir",
    "aura-2-draco": "bm_george",
    "aura-2-pandora": "bf_emma",
    # OpenAI
    "alloy": "af_alloy",
    "ash": "am_michael",
    "ballad": "bm_fable",
    "cedar": "am_fenrir",
    "coral": "af_bella",
    "echo": "am_echo",
    "fable": "bm_fable",
    "marin": "af_sarah",
    "nova": "af_nova",
    "onyx": "am_onyx",
    "sage": "af_sky",
    "shimmer": "af_nicole",
    "verse": "am_puck",
}
"""A name of theirs to the name of ours that is most like it."""


def find_voice(name: str, voices: Sequence[Voice], field: str = "voice") -> str:
    """The voice that a name means: one of ours, a blend of ours, or the one that stands in for theirs.

    Args:
        name: as the peer wrote it.
        voices: that are offered, the default first.
        field: where the peer wrote it.

    Returns:
        The name of a voice that is offered, or the formula of a blend of such. Where the one that stands in is not
        offered, it is the first of the same gender.

    Raises:
        InvalidInput: nobody has this name, or the formula is none.
    """
    offered = {voice.name: voice for voice in voices}
    if name in offered:
        return name
    if "+" in name or "(" in name:
        read_blend(name, offered, field)
        return name
    alias = ALIASES.get(name) or ALIASES.get(name.lower().removesuffix("-en"))
    if alias is None:
        raise InvalidInput(f"There is no voice {name[:64]!r}.", field=field, allowed=tuple(offered))
    if alias in offered:
        return alias
    gender = {"f": "female", "m": "male"}[alias[1]]
    return next((voice.name for voice in voices if voice.gender == gender), voices[0].name)
