"""Conversations: questions and their answers, kept in the workspace."""
