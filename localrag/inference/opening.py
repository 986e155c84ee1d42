"""Opening the models that the settings name.

A model is named by what it is installed as (``qwen3-8b``), or, where a server runs it, by the
runtime and its name there (``ollama:qwen3:8b``). Where none is named for search by meaning, the
installed embedder takes part, if there is exactly one.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from localrag.config import ChatConfig, Config, EmbeddingConfig
from localrag.errors import ModelUnusable
from localrag.inference.failures import named
from localrag.language import N_
from localrag_models.errors import BackendMissing, Cure, ModelMissing, WrongKind
from localrag_models.runtimes import BY_FORMAT, ModelSpec, Runtime, named_runtime

if TYPE_CHECKING:
    from localrag_models.chat import ChatModel
    from localrag_models.embedding import Embedder
    from localrag_models.reranking import Reranker
    from localrag_models.store import InstalledModel

OFF = "off"
"""``embedding.model`` of who wants no search by meaning, whatever is installed."""

_SETTINGS = {"chat": "chat.model", "embedder": "embedding.model", "reranker": "reranking.model"}
"""The setting that names the model of each kind."""


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
    name = config.chat.model
    if not name:
        return None
    on_load(name, 0, 0)
    with named():
        runtime, spec = _chat(workspace, config)
        size = spec.path.stat().st_size if spec.path.is_file() else 0
        return runtime.open_chat(
            replace(spec, on_load=lambda share: on_load(name, round(share * size), size))
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
        if model.kind == "embedder" and BY_FORMAT[model.format].installed
    ]
    return usable[0] if len(usable) == 1 else ""


def models_in_use(workspace: HasModels, config: Config) -> dict[str, str]:
    """The setting that a model takes part by, by the name of the model."""
    named = {
        config.reranking.model: _SETTINGS["reranker"],
        embedder_name(workspace, config): _SETTINGS["embedder"],
        config.chat.model: _SETTINGS["chat"],
    }
    return {model: setting for model, setting in named.items() if model}


def open_embedder(workspace: HasModels, config: Config) -> "Embedder | None":
    """Open the model behind search by meaning; None where there is none (see `embedder_name`).

    Raises:
        ModelUnusable: it cannot be used; the cure is named.
    """
    chosen = embedder_name(workspace, config)
    if not chosen:
        return None
    with named():
        runtime, spec = _embedder(workspace, config, chosen)
        return runtime.open_embedder(spec)


def embedder_id(workspace: HasModels, config: Config) -> str:
    """The id of the model behind search by meaning, without loading it; "" where there is none.

    Raises:
        ModelUnusable: no such model is installed.
    """
    chosen = embedder_name(workspace, config)
    if not chosen:
        return ""
    with named():
        runtime, spec = _embedder(workspace, config, chosen)
        return spec.id or runtime.embedder_id(spec)


def open_reranker(workspace: HasModels, config: Config) -> "Reranker | None":
    """Open the model that rereads the best hits; None where the settings name none.

    Raises:
        ModelUnusable: it cannot be used; the cure is named.
    """
    if not config.reranking.model:
        return None
    with named():
        runtime, spec = _reranker(workspace, config)
        return runtime.open_reranker(spec)


def check_models(workspace: HasModels, config: Config) -> Iterator[tuple[str, str, str, str]]:
    """Look whether the models that take part can be had, without loading any.

    Of a model behind a server: whether the server answers and has it.

    Yields:
        The setting, the model, and cause and cure of what is wrong; both "" if nothing.
    """
    meaning = embedder_name(workspace, config)
    checks: tuple[tuple[str, str, Callable[[], object]], ...] = (
        (_SETTINGS["chat"], config.chat.model, lambda: _check_chat(workspace, config)),
        (_SETTINGS["embedder"], meaning, lambda: embedder_id(workspace, config)),
        (_SETTINGS["reranker"], config.reranking.model, lambda: _reranker(workspace, config)),
    )
    for setting, model, check in checks:
        if model:
            try:
                with named():
                    check()
                yield setting, model, "", ""
            except ModelUnusable as problem:
                yield setting, model, problem.cause, problem.cure


def server_of(section: str, settings: ChatConfig | EmbeddingConfig) -> dict[str, object]:
    """The address of the server as ``<section>.server``; nothing for an installed model.

    Another server may run other weights under the same name.
    """
    found = named_runtime(settings.model)
    if found is None or (usual := found[0].address) is None:
        return {}
    return {f"{section}.server": (settings.server or usual).rstrip("/")}


def _chat(workspace: HasModels, config: Config) -> tuple[Runtime, ModelSpec]:
    settings = config.chat
    runtime, spec = _found(workspace, config, settings.model, "chat", settings.server)
    return runtime, replace(
        spec, context=settings.context, timeout=settings.timeout, parallel=settings.parallel
    )


def _embedder(workspace: HasModels, config: Config, name: str) -> tuple[Runtime, ModelSpec]:
    return _found(workspace, config, name, "embedder", config.embedding.server)


def _reranker(workspace: HasModels, config: Config) -> tuple[Runtime, ModelSpec]:
    return _found(workspace, config, config.reranking.model, "reranker", "")


def _check_chat(workspace: HasModels, config: Config) -> None:
    runtime, spec = _chat(workspace, config)
    if not spec.id:
        runtime.open_chat(spec).close()


def _found(
    workspace: HasModels, config: Config, name: str, kind: str, server: str
) -> tuple[Runtime, ModelSpec]:
    """The runtime of a model of some kind, and all that it has to know; nothing is loaded."""
    setting = _SETTINGS[kind]
    threads, gpu_layers = config.runtime.threads, config.runtime.gpu_layers
    if found := named_runtime(name):
        runtime, in_runtime = found
        if not in_runtime:
            raise ModelMissing(
                N_("The settings name the model {name!r}, with no name after the colon."),
                N_("Write it as {name}NAME."),
                name=name,
            )
        runtime.demand(kind)
        if runtime.address is not None:
            server = server or runtime.address
            if not server:
                raise ModelMissing(
                    N_("The settings name the model {name!r}, but no server."),
                    N_(
                        "Set {section}.server to the address of the server, for example "
                        "http://127.0.0.1:8080/v1."
                    ),
                    name=name,
                    section=setting.partition(".")[0],
                )
        return runtime, ModelSpec(
            name=in_runtime, server=server, threads=threads, gpu_layers=gpu_layers
        )
    model = _installed(workspace, name, kind, setting)
    return BY_FORMAT[model.format], ModelSpec(
        name=model.name,
        path=model.path,
        id=model.id,
        prefixes=model.prefixes,
        threads=threads,
        gpu_layers=gpu_layers,
    )


def _installed(workspace: HasModels, name: str, kind: str, setting: str) -> "InstalledModel":
    # Imported only here: what works without a model starts without the store of models.
    from localrag_models.store import ModelStore

    model = ModelStore(workspace.models).find(name)
    if model.kind != kind:
        raise WrongKind(
            N_("{setting} = {name!r} names a model of kind {found}, not {wanted}."),
            Cure.SEE_INSTALLED,
            setting=setting,
            name=name,
            found=model.kind,
            wanted=kind,
        )
    runtime = BY_FORMAT[model.format]
    if not runtime.installed:
        raise BackendMissing(
            N_("The model {name!r} needs {package}, which is not installed."),
            Cure.INSTALL_PACKAGE,
            name=name,
            package=runtime.package,
        )
    return model
