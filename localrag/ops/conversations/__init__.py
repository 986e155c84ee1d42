"""Keeps questions and answers of conversations in the workspace."""
