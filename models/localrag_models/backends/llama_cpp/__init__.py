"""Models in GGUF files, run in this process by llama.cpp."""

from typing import TYPE_CHECKING

from localrag_models.embedding import E5
from localrag_models.runtimes import ModelSpec

if TYPE_CHECKING:
    from localrag_models.backends.llama_cpp.chat import LlamaCppChat
    from localrag_models.backends.llama_cpp.encoder import LlamaCppEmbedder, LlamaCppReranker


def open_chat(spec: ModelSpec) -> "LlamaCppChat":
    """Load a chat model."""
    from localrag_models.backends.llama_cpp.chat import LlamaCppChat

    return LlamaCppChat(
        spec.path,
        id=spec.id,
        context=spec.context,
        threads=spec.threads,
        gpu_layers=spec.gpu_layers,
        thinking=spec.thinking,
        effort=spec.effort,
        on_load=spec.on_load,
    )


def open_embedder(spec: ModelSpec) -> "LlamaCppEmbedder":
    """Load an embedder."""
    from localrag_models.backends.llama_cpp.encoder import LlamaCppEmbedder

    return LlamaCppEmbedder(
        spec.path,
        id=spec.id,
        prefixes=E5 if spec.prefixes is None else spec.prefixes,
        threads=spec.threads,
        gpu_layers=spec.gpu_layers,
    )


def open_reranker(spec: ModelSpec) -> "LlamaCppReranker":
    """Load a reranker."""
    from localrag_models.backends.llama_cpp.encoder import LlamaCppReranker

    return LlamaCppReranker(spec.path, id=spec.id, threads=spec.threads, gpu_layers=spec.gpu_layers)
