"""Graphemes to phonemes (G2P) for English. All of it runs in a process of its own, `python -m rtvoice.speech.g2p`.

spaCy and espeak-ng weigh 80 MB, hold the GIL, are global to their process, and espeak-ng is GPL-3: they are kept
away from the server, which talks to this process through `rtvoice.speech.phonemes`. ::

    __main__    the process: requests in, replies out, gone with its parent
    frames      how the two sides frame their messages
    readable    any Unicode text -> the text the tagger reads, each character's origin kept
    tagger      spaCy, as little of it as will do
    dictionary  misaki's dictionaries, as files that are mapped
    english     that text -> words with phonemes: misaki, and what it gets wrong
    unknown     words no lexicon has: espeak-ng, or letter by letter
    espeak      espeak-ng itself
    notation    IPA -> the model's alphabet
"""
