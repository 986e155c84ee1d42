"""Models behind a server that speaks OpenAI's protocol: llama-server, vLLM, LM Studio."""

from localrag_models.backends.openai.chat import OpenAIChat

__all__ = ["OpenAIChat"]
