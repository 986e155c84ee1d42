"""Runs open models on this machine, or on a server the user names: chat, embedding, reranking."""
