"""Asking: conversations, the answer with its citations, the evidence beside it."""
