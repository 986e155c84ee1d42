"""The model and the corpus of an optimisation."""

from dataclasses import dataclass
from threading import RLock
from typing import Self

from localrag.config import ChatConfig, Config
from localrag.methods.answering import MethodResources
from localrag.prompts.optimised import OptimisedPrompt
from localrag.retrieval.pipeline import Retriever
from localrag.workspace import Workspace
from localrag_models.chat import ChatModel
from localrag_models.runtimes import named_runtime
from localrag_models.store import ModelStore


@dataclass
class Shared:
    """Fulfils `localrag.methods.toolkit.Resources` with what is open already."""

    settings: ChatConfig
    retriever: Retriever
    model: ChatModel
    reading: RLock
    query_prompt: OptimisedPrompt | None = None

    @classmethod
    def of(cls, resources: MethodResources, retriever: Retriever) -> Self:
        """The model of `resources`, beside a corpus."""
        return cls(resources.settings, retriever, resources.model, resources.reading)


def with_model(config: Config, model: str) -> Config:
    """The settings with another chat model."""
    return config.model_copy(update={"chat": config.chat.model_copy(update={"model": model})})


def weight(workspace: Workspace, *models: str) -> int:
    """Bytes of the weights that are loaded for these models; a server has its own memory."""
    store = ModelStore(workspace.models)
    installed = [name for name in models if not named_runtime(name)]
    return sum(store.find(name).size for name in installed)
