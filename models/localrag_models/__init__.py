"""Runs open models on the user's machine: chat, embedding and reranking back ends.

The package is the room for everything that loads or calls a model. It imports nothing of
localrag, so it can be used alone. Release 0.1 answers without any model; the back ends come
with the next release.
"""
