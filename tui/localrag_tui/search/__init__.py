"""Search while typing, without asking; the ranking of each stage side by side."""
