"""Models in the sentence-transformers format, run in this process by PyTorch."""
