"""Answers computed, not guessed: dates, quantities, places and sets, compared by code."""
