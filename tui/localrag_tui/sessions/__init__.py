"""Conversations kept: the list, search, rename, delete, export."""
