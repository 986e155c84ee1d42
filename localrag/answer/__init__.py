"""From evidence to an answer: quotations, claims, and their verification by code."""
