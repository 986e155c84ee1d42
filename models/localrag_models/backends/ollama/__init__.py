"""Models that an Ollama server runs."""

from localrag_models.backends.ollama.chat import OllamaChat
from localrag_models.backends.ollama.embedder import OllamaEmbedder, embedder_id
from localrag_models.backends.ollama.models import OllamaModel, list_models, pull_model
from localrag_models.runtimes import ModelSpec

__all__ = [
    "OllamaChat",
    "OllamaEmbedder",
    "OllamaModel",
    "embedder_id",
    "list_models",
    "open_chat",
    "open_embedder",
    "pull_model",
]


def open_chat(spec: ModelSpec) -> OllamaChat:
    """Ask the server for a chat model."""
    return OllamaChat(
        spec.name,
        server=spec.server,
        context=spec.context,
        timeout=spec.timeout,
        parallel=spec.parallel,
    )


def open_embedder(spec: ModelSpec) -> OllamaEmbedder:
    """Ask the server for an embedder."""
    return OllamaEmbedder(spec.name, server=spec.server, prefixes=spec.prefixes, id=spec.id)
