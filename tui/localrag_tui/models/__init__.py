"""Models, memory, and the doctor."""
