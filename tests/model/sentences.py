"""What is spoken for the checks by ear: ten sentences of everyday speech, in three voices."""

SENTENCES = (
    "I read it yesterday, and I will read it again tomorrow.",
    "The quick brown fox jumps over the lazy dog.",
    "Could you please close the window before the rain comes in?",
    "Our train leaves the station early in the morning, so do not be late.",
    "She sells fresh bread, butter, and cheese at the market.",
    "What a wonderful surprise to see all of you here tonight!",
    "The doctor said that a little exercise every day is good for the heart.",
    "They couldn't find the key, because it was under the kitchen table.",
    "Scientists have discovered a new planet far away from our sun.",
    "Turn left at the church, walk across the bridge, and then ask for the library.",
)

VOICES = ("af_heart", "am_michael", "bf_emma")
"""Two American voices, a woman's and a man's, and a British one."""
