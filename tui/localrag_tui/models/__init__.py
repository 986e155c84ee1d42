"""Models, memory, and what the doctor finds."""
