"""Where a model runs: another server may run other weights under the same name."""

from localrag.config import ChatConfig, EmbeddingConfig
from localrag.inference.opening import OLLAMA, OPENAI


def server_of(section: str, settings: ChatConfig | EmbeddingConfig) -> dict[str, object]:
    """The address of the server as ``<section>.server``; nothing for an installed model."""
    if settings.model.startswith(f"{OLLAMA}:"):
        from localrag_models.backends.ollama import ADDRESS

        return {f"{section}.server": (settings.server or ADDRESS).rstrip("/")}
    if settings.model.startswith(f"{OPENAI}:"):
        return {f"{section}.server": settings.server.rstrip("/")}
    return {}
