"""Preparation: what is made of the sentences of a corpus once, so that questions find more."""
