"""Models in GGUF files, run in this process by llama.cpp."""
