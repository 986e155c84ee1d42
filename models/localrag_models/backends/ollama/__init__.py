"""Models that an Ollama server runs."""

from localrag_models.backends.ollama.chat import OllamaChat
from localrag_models.backends.ollama.embedder import OllamaEmbedder, embedder_id
from localrag_models.backends.ollama.models import (
    OllamaModel,
    PullProgress,
    ollama_models,
    ollama_pull,
)
from localrag_models.backends.ollama.server import ADDRESS

__all__ = [
    "ADDRESS",
    "OllamaChat",
    "OllamaEmbedder",
    "OllamaModel",
    "PullProgress",
    "embedder_id",
    "ollama_models",
    "ollama_pull",
]
