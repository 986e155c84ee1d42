"""Asking: conversations, answers with their citations, and the evidence beside them."""
