"""Optimisation of prompts on questions whose answers are known."""
