"""Model servers on loopback that answer with tiny models, and misbehave on demand."""

from tiny_models.servers.http import Answer, Double, End
from tiny_models.servers.ollama import OllamaDouble
from tiny_models.servers.openai import OpenAIDouble, llama_cpp_server
from tiny_models.servers.rerank import RerankDouble

__all__ = [
    "Answer",
    "Double",
    "End",
    "OllamaDouble",
    "OpenAIDouble",
    "RerankDouble",
    "llama_cpp_server",
]
