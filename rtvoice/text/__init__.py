"""What to say: streaming segmenter, markup, normaliser, lexicon. Sans-I/O; needs nothing of the engine."""
