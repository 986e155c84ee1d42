"""Optimisation of prompts on questions with known answers."""
