"""espeak-ng, through its C library: words to IPA in a hundred languages.

Called directly rather than through phonemizer, which needs thirty packages more, a quarter of a second to import,
and one object a language. espeak-ng is GPL-3 and global to its process; use one object, from one thread.
"""

from __future__ import annotations

import ctypes
import re

from rtvoice.speech.g2p.notation import TIE

# From espeak-ng's speak_lib.h, version 1.52.
_AUDIO_OUTPUT_SYNCHRONOUS = 2
_INITIALIZE_DONT_EXIT = 0x8000
_CHARS_UTF8 = 1
_PHONEMES_IPA, _PHONEMES_TIE = 0x02, 0x80
_PHONEME_MODE = _PHONEMES_IPA | _PHONEMES_TIE | ord(TIE) << 8

# "(hi)" where a word is read by the rules of another language. Our texts hold no parentheses.
_LANGUAGE_SWITCH = re.compile(r"\([^)]*\)")


class Espeak:
    """espeak-ng, initialised.

    Raises:
        ImportError: espeakng-loader is not installed.
        OSError: the library cannot be loaded, or its data is damaged.
    """

    def __init__(self) -> None:
        import espeakng_loader  # type: ignore[import-untyped]  # optional

        self._library = ctypes.CDLL(espeakng_loader.get_library_path())
        self._library.espeak_TextToPhonemes.restype = ctypes.c_char_p
        self._library.espeak_TextToPhonemes.argtypes = (ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int)
        data = espeakng_loader.get_data_path().encode()
        if self._library.espeak_Initialize(_AUDIO_OUTPUT_SYNCHRONOUS, 0, data, _INITIALIZE_DONT_EXIT) < 0:
            raise OSError(f"espeak-ng found no data in {data.decode()}")
        self._voice: str | None = None

    def ipa(self, text: str, voice: str) -> str:
        """Read a text by a language's rules.

        Args:
            text: without parentheses, brackets and NUL.
            voice: an espeak-ng language: `en-us`, `ru`, `cmn`.

        Returns:
            IPA with stress marks before vowels and ties; words parted by spaces; empty if there is nothing to say.

        Raises:
            ValueError: there is no such voice.
        """
        if voice != self._voice:
            if self._library.espeak_SetVoiceByName(voice.encode()):
                raise ValueError(f"espeak-ng has no voice {voice}")
            self._voice = voice
        rest = ctypes.c_char_p(text.encode())
        clauses = []
        while rest.value:  # one clause a call; the pointer moves on, and is NULL at the end
            clause = self._library.espeak_TextToPhonemes(ctypes.byref(rest), _CHARS_UTF8, _PHONEME_MODE)
            clauses.append(clause.decode() if clause else "")
        return " ".join(_LANGUAGE_SWITCH.sub("", " ".join(clauses)).split())
