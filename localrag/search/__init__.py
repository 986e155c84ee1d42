"""From a question to ranked passages, in recorded steps."""

MAX_CHARACTERS = 10_000
"""Maximum length of a question with its options, in characters."""
