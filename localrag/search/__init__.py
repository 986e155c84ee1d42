"""From a question to ranked passages, stage by stage, each stage recorded."""
