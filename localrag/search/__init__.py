"""From a question to ranked passages, in recorded steps."""
