"""Shared parts of all screens: bars, help, palette, forms, lists, keys, themes."""
