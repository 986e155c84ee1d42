"""Models behind a server that speaks OpenAI's protocol: llama-server, vLLM, LM Studio."""

from localrag_models.backends.openai.chat import OpenAIChat
from localrag_models.backends.openai.embedder import OpenAIEmbedder
from localrag_models.runtimes import ModelSpec

__all__ = ["OpenAIChat", "OpenAIEmbedder", "embedder_id", "open_chat", "open_embedder"]


def open_chat(spec: ModelSpec) -> OpenAIChat:
    """Ask the server for a chat model."""
    return OpenAIChat(
        spec.name,
        server=spec.server,
        context=spec.context,
        timeout=spec.timeout,
        parallel=spec.parallel,
    )


def open_embedder(spec: ModelSpec) -> OpenAIEmbedder:
    """Ask the server for an embedder."""
    return OpenAIEmbedder(spec.name, server=spec.server, prefixes=spec.prefixes, id=spec.id)


def embedder_id(spec: ModelSpec) -> str:
    """Names an embedder and its weights: "multilingual-e5-small@79076464 (Model server)"."""
    with open_embedder(spec) as embedder:
        return embedder.id
