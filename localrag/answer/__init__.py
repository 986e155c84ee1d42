"""From evidence to an answer: extraction, and verification of every quote by code."""
