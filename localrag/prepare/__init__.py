"""Preparation: texts made once from the sentences of a corpus, so that questions find more."""
