"""Opening the models that the settings name.

A model is named by what it is installed as (``qwen3-8b``), or, where a server runs it, by
``ollama:NAME`` or ``openai:NAME``. Where none is named for search by meaning, the installed
embedder takes part, if there is exactly one.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from localrag.config import ChatConfig, Config, EmbeddingConfig
from localrag.errors import ModelUnusable
from localrag.inference.failures import named
from localrag_models.errors import BackendMissing, ModelMissing, WrongKind

if TYPE_CHECKING:
    from localrag_models.chat import ChatModel
    from localrag_models.embedding import Embedder
    from localrag_models.reranking import Reranker
    from localrag_models.store import InstalledModel

_RUNTIMES = {
    "gguf": ("llama_cpp", "llama-cpp"),
    "sentence-transformers": ("sentence_transformers", "sentence-transformers"),
}
"""For each format of an installed model, the package that runs it and the extra that brings it."""
OLLAMA = "ollama"
OPENAI = "openai"
OFF = "off"
"""``embedding.model`` of who wants no search by meaning, whatever is installed."""


class HasModels(Protocol):
    """What of a workspace is needed here."""

    @property
    def models(self) -> Path:
        """Folder of the models."""


def overlook(model: str, done: int, total: int) -> None:
    """Take how much of a model is loaded, and do nothing with it."""
    del model, done, total


def open_chat(
    workspace: HasModels, config: Config, on_load: Callable[[str, int, int], None] = overlook
) -> "ChatModel | None":
    """Open the model that writes answers; None where the settings name none.

    Args:
        workspace: where models are installed.
        config: the settings.
        on_load: told before and, of a model in this process, while it is loaded: its name, bytes
            that are loaded, bytes in all (0 for a model of a server). What it raises ends the
            loading and passes through.

    Raises:
        ModelUnusable: it cannot be used; the cure is named.
    """
    settings = config.chat
    if not settings.model:
        return None
    on_load(settings.model, 0, 0)
    with named():
        runtime, name = _split(settings.model)
        if runtime == OLLAMA:
            from localrag_models.backends import ollama

            return ollama.OllamaChat(
                name,
                server=settings.server or ollama.ADDRESS,
                context=settings.context,
                timeout=settings.timeout,
                parallel=settings.parallel,
            )
        if runtime == OPENAI:
            from localrag_models.backends.openai import OpenAIChat

            return OpenAIChat(
                name,
                server=_named_server("chat", settings),
                context=settings.context,
                timeout=settings.timeout,
                parallel=settings.parallel,
            )
        from localrag_models.backends.llama_cpp.chat import LlamaCppChat

        model = _installed(workspace, name, "chat", "chat.model")
        size = model.path.stat().st_size
        return LlamaCppChat(
            model.path,
            id=model.id,
            context=settings.context,
            threads=config.runtime.threads,
            gpu_layers=config.runtime.gpu_layers,
            on_load=lambda share: on_load(settings.model, round(share * size), size),
        )


def embedder_name(workspace: HasModels, config: Config) -> str:
    """The model behind search by meaning, as settings name it; "" where there is none.

    Unset, it is the one installed embedder whose runtime is installed too. Of several none is
    preferred: a choice that changes when a model is installed would put every index out of date.
    """
    if config.embedding.model:
        return "" if config.embedding.model == OFF else config.embedding.model
    if not workspace.models.is_dir():
        return ""
    from localrag_models.store import ModelStore

    usable = [
        model.name
        for model in ModelStore(workspace.models).installed()
        if model.kind == "embedder" and find_spec(_RUNTIMES[model.format][0])
    ]
    return usable[0] if len(usable) == 1 else ""


def models_in_use(workspace: HasModels, config: Config) -> dict[str, str]:
    """The setting that a model takes part by, by the name of the model."""
    named = {
        config.reranking.model: "reranking.model",
        embedder_name(workspace, config): "embedding.model",
        config.chat.model: "chat.model",
    }
    return {model: setting for model, setting in named.items() if model}


def open_embedder(workspace: HasModels, config: Config) -> "Embedder | None":
    """Open the model behind search by meaning; None where there is none (see `embedder_name`).

    Raises:
        ModelUnusable: it cannot be used; the cure is named.
    """
    settings = config.embedding
    chosen = embedder_name(workspace, config)
    if not chosen:
        return None
    with named():
        runtime, name = _split(chosen)
        if runtime == OLLAMA:
            from localrag_models.backends import ollama

            return ollama.OllamaEmbedder(name, server=settings.server or ollama.ADDRESS)
        if runtime == OPENAI:
            from localrag_models.backends.openai import OpenAIEmbedder

            return OpenAIEmbedder(name, server=_named_server("embedding", settings))
        model = _installed(workspace, chosen, "embedder", "embedding.model")
        if model.format == "gguf":
            from localrag_models.backends.llama_cpp.embedder import LlamaCppEmbedder

            return LlamaCppEmbedder(
                model.path,
                id=model.id,
                prefixes=model.prefixes,
                threads=config.runtime.threads,
                gpu_layers=config.runtime.gpu_layers,
            )
        from localrag_models.backends.sentence_transformers.embedder import (
            SentenceTransformersEmbedder,
        )

        return SentenceTransformersEmbedder(
            model.path,
            id=model.id,
            prefixes=model.prefixes,
            device=_device(config),
            threads=config.runtime.threads,
        )


def embedder_id(workspace: HasModels, config: Config) -> str:
    """The id of the model behind search by meaning, without loading it; "" where there is none.

    Raises:
        ModelUnusable: no such model is installed.
    """
    chosen = embedder_name(workspace, config)
    if not chosen:
        return ""
    with named():
        runtime, name = _split(chosen)
        if runtime == OLLAMA:
            from localrag_models.backends import ollama

            return ollama.embedder_id(name, config.embedding.server or ollama.ADDRESS)
        if runtime == OPENAI:
            from localrag_models.backends import openai

            return openai.embedder_id(name, _named_server("embedding", config.embedding))
        return _installed(workspace, chosen, "embedder", "embedding.model").id


def open_reranker(workspace: HasModels, config: Config) -> "Reranker | None":
    """Open the model that rereads the best hits; None where the settings name none.

    Raises:
        ModelUnusable: it cannot be used; the cure is named.
    """
    if not config.reranking.model:
        return None
    with named():
        model = _reranker(workspace, config)
        if model.format == "gguf":
            from localrag_models.backends.llama_cpp.reranker import LlamaCppReranker

            return LlamaCppReranker(
                model.path,
                id=model.id,
                threads=config.runtime.threads,
                gpu_layers=config.runtime.gpu_layers,
            )
        from localrag_models.backends.sentence_transformers.reranker import CrossEncoderReranker

        return CrossEncoderReranker(
            model.path, id=model.id, device=_device(config), threads=config.runtime.threads
        )


def check_models(workspace: HasModels, config: Config) -> Iterator[tuple[str, str, str, str]]:
    """Look whether the models that take part can be had, without loading any.

    Of a model behind a server: whether the server answers and has it.

    Yields:
        The setting, the model, and cause and cure of what is wrong; both "" if nothing.
    """
    meaning = embedder_name(workspace, config)
    checks: tuple[tuple[str, str, Callable[[], object]], ...] = (
        ("chat.model", config.chat.model, lambda: _check_chat(workspace, config)),
        ("embedding.model", meaning, lambda: embedder_id(workspace, config)),
        ("reranking.model", config.reranking.model, lambda: _reranker(workspace, config)),
    )
    for setting, model, check in checks:
        if model:
            try:
                with named():
                    check()
                yield setting, model, "", ""
            except ModelUnusable as problem:
                yield setting, model, problem.cause, problem.cure


def _named_server(section: str, settings: ChatConfig | EmbeddingConfig) -> str:
    if not settings.server:
        raise ModelMissing(
            f"The settings name the model {settings.model!r}, but no server.",
            f"Set {section}.server to the address of the server, "
            "for example http://127.0.0.1:8080/v1.",
        )
    return settings.server


def _check_chat(workspace: HasModels, config: Config) -> None:
    if _split(config.chat.model)[0]:
        model = open_chat(workspace, config)
        assert model is not None
        model.close()
    else:
        _installed(workspace, config.chat.model, "chat", "chat.model")


def _reranker(workspace: HasModels, config: Config) -> "InstalledModel":
    return _installed(workspace, config.reranking.model, "reranker", "reranking.model")


def _device(config: Config) -> str:
    """Where PyTorch runs: on a GPU if there is one, unless no layer shall."""
    return "auto" if config.runtime.gpu_layers else "cpu"


def _split(model: str) -> tuple[str, str]:
    """The runtime a model is named for, and its name there; no runtime for an installed one."""
    runtime, colon, name = model.partition(":")
    if not colon or runtime not in (OLLAMA, OPENAI):
        return "", model
    if not name:
        raise ModelMissing(
            f"The settings name the model {model!r}, with no name after the colon.",
            f"Write it as {runtime}:NAME.",
        )
    return runtime, name


def _installed(workspace: HasModels, name: str, kind: str, setting: str) -> "InstalledModel":
    # Imported only here: what works without a model starts without the store of models.
    from localrag_models.store import ModelStore

    if name.partition(":")[0] in (OLLAMA, OPENAI):
        raise WrongKind(
            f"{setting} = {name!r} names a model of a server that cannot do this here.",
            "Name an installed one: localrag models list",
        )
    model = ModelStore(workspace.models).find(name)
    if model.kind != kind:
        raise WrongKind(
            f"{setting} = {name!r} names a model of kind {model.kind}, not {kind}.",
            "See what is installed: localrag models list",
        )
    package, extra = _RUNTIMES[model.format]
    if find_spec(package) is None:
        raise BackendMissing(
            f"The model {name!r} needs {package}, which is not installed.",
            f"pip install 'localrag[{extra}]'",
        )
    return model
