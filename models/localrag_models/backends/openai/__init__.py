"""Models behind a server that speaks OpenAI's protocol: llama-server, vLLM, LM Studio."""

from localrag_models.backends.openai.chat import OpenAIChat
from localrag_models.backends.openai.embedder import OpenAIEmbedder, embedder_id

__all__ = ["OpenAIChat", "OpenAIEmbedder", "embedder_id"]
