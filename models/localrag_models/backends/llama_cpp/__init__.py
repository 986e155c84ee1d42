"""Models in GGUF files, run in this process by llama.cpp."""

from dataclasses import replace
from typing import TYPE_CHECKING

from localrag_models.embedding import E5
from localrag_models.gguf import read_header
from localrag_models.hardware import Placement, in_process, llama_cpp_build
from localrag_models.runtimes import ModelSpec

if TYPE_CHECKING:
    from localrag_models.backends.llama_cpp.chat import LlamaCppChat
    from localrag_models.backends.llama_cpp.encoder import LlamaCppEmbedder
    from localrag_models.embedding import Reranker


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


def open_reranker(spec: ModelSpec) -> "Reranker":
    """Load a cross-encoder, or a chat model as a reranker."""
    header = read_header(spec.path)
    if header.kind == "chat":
        from localrag_models.backends.chat_reranker import CONTEXT, ChatReranker

        context = min(CONTEXT, header.context or CONTEXT)
        return ChatReranker(open_chat(replace(spec, context=context)), spec.id)
    from localrag_models.backends.llama_cpp.encoder import LlamaCppReranker

    return LlamaCppReranker(spec.path, id=spec.id, threads=spec.threads, gpu_layers=spec.gpu_layers)


def placement(spec: ModelSpec) -> Placement:
    """The place of the layers of a model."""
    return in_process(
        llama_cpp_build(), spec.gpu_layers, read_header(spec.path).number("block_count")
    )
