"""Opens the models in the settings, and turns their errors into errors of localrag.

A setting names an installed model (``qwen3-8b``), or a runtime and the model of its server
(``ollama:qwen3:8b``). Without a setting, the only installed embedder searches by meaning.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from localrag.corpus.config import (
    ChatConfig,
    Config,
    EmbeddingConfig,
    HasModels,
    embedder_name,
)
from localrag.errors import BusyError, LocalragError, ModelUnusable, StorageError
from localrag.language import N_, _
from localrag.text.facts import FactKind
from localrag_models.errors import (
    BackendMissing,
    Cure,
    ModelError,
    ModelMissing,
    StorageFailed,
    StoreBusy,
    WrongKind,
)
from localrag_models.runtimes import BY_FORMAT, ModelSpec, Runtime, named_runtime

if TYPE_CHECKING:
    from localrag_models.chat import ChatModel
    from localrag_models.embedding import Embedder, Reranker
    from localrag_models.store import InstalledModel


SETTINGS = {"chat": "chat.model", "embedder": "embedding.model", "reranker": "reranking.model"}
"""The setting for a model of each kind."""


def overlook(model: str, done: int, total: int) -> None:
    """Ignores the progress of loading."""
    del model, done, total


def open_chat(
    workspace: HasModels, config: Config, on_load: Callable[[str, int, int], None] = overlook
) -> "ChatModel | None":
    """Open the model for writing answers; None without one in the settings.

    `on_load` gets the name, the bytes loaded, and the bytes in all (0 for a server). Its error ends
    the loading.
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


def models_in_use(workspace: HasModels, config: Config) -> dict[str, str]:
    """The settings of the models in use, by the name of the model."""
    named = {
        config.reranking.model: SETTINGS["reranker"],
        embedder_name(workspace, config): SETTINGS["embedder"],
        config.chat.model: SETTINGS["chat"],
    }
    return {model: setting for model, setting in named.items() if model}


def open_embedder(workspace: HasModels, config: Config) -> "Embedder | None":
    """Open the model for search by meaning, if there is one (see `embedder_name`)."""
    chosen = embedder_name(workspace, config)
    if not chosen:
        return None
    with named():
        runtime, spec = _embedder(workspace, config, chosen)
        return runtime.open_embedder(spec)


def embedder_id(workspace: HasModels, config: Config) -> str:
    """The id of the model for search by meaning, without loading it; "" for none."""
    chosen = embedder_name(workspace, config)
    if not chosen:
        return ""
    with named():
        runtime, spec = _embedder(workspace, config, chosen)
        return spec.id or runtime.embedder_id(spec)


def open_reranker(workspace: HasModels, config: Config) -> "Reranker | None":
    """Open the model for reranking the best hits; None without one in the settings."""
    if not config.reranking.model:
        return None
    with named():
        runtime, spec = _reranker(workspace, config)
        return runtime.open_reranker(spec)


def check_models(workspace: HasModels, config: Config) -> Iterator[tuple[str, str, str, str]]:
    """Check the models in use without loading any; of a server, whether it has the model.

    Yields the setting, the model, and cause and cure of a problem, both "" without one.
    """
    meaning = embedder_name(workspace, config)
    checks: tuple[tuple[str, str, Callable[[], object]], ...] = (
        (SETTINGS["chat"], config.chat.model, lambda: _check_chat(workspace, config)),
        (SETTINGS["embedder"], meaning, lambda: embedder_id(workspace, config)),
        (SETTINGS["reranker"], config.reranking.model, lambda: _check_reranker(workspace, config)),
    )
    for setting, model, check in checks:
        if model:
            try:
                with named():
                    check()
                yield setting, model, "", ""
            except ModelUnusable as problem:
                yield setting, model, problem.cause, problem.cure


def specs_in_use(
    workspace: HasModels, config: Config
) -> Iterator[tuple[str, str, Runtime, ModelSpec]]:
    """Setting, name, runtime and specification of each usable model in use."""
    meaning = embedder_name(workspace, config)
    found: tuple[tuple[str, str, Callable[[], tuple[Runtime, ModelSpec]]], ...] = (
        ("chat", config.chat.model, lambda: _chat(workspace, config)),
        ("embedder", meaning, lambda: _embedder(workspace, config, meaning)),
        ("reranker", config.reranking.model, lambda: _reranker(workspace, config)),
    )
    for kind, model, find in found:
        if model:
            try:
                runtime, spec = find()
            except ModelError:
                continue
            yield SETTINGS[kind], model, runtime, spec


def server_of(section: str, settings: ChatConfig | EmbeddingConfig) -> dict[str, object]:
    """The server's address as ``<section>.server``, because weights differ; {} if installed."""
    found = named_runtime(settings.model)
    if found is None or (usual := found[0].address) is None:
        return {}
    return {f"{section}.server": (settings.server or usual).rstrip("/")}


def _chat(workspace: HasModels, config: Config) -> tuple[Runtime, ModelSpec]:
    settings = config.chat
    first, *others = settings.servers or ("",)
    runtime, spec = _found(workspace, config, settings.model, "chat", first)
    return runtime, replace(
        spec,
        servers=settings.servers if others and runtime.address is not None else (),
        context=settings.context,
        timeout=settings.timeout,
        parallel=settings.parallel,
        thinking=settings.thinking,
        effort=settings.effort,
        remembered=workspace.servers,
    )


def _embedder(workspace: HasModels, config: Config, name: str) -> tuple[Runtime, ModelSpec]:
    return _found(workspace, config, name, "embedder", config.embedding.server)


def _reranker(workspace: HasModels, config: Config) -> tuple[Runtime, ModelSpec]:
    name, server = config.reranking.model, config.reranking.server
    return _found(workspace, config, name, "reranker", server)


def _check_chat(workspace: HasModels, config: Config) -> None:
    runtime, spec = _chat(workspace, config)
    if not spec.id:
        runtime.open_chat(spec).close()


def _check_reranker(workspace: HasModels, config: Config) -> None:
    runtime, spec = _reranker(workspace, config)
    if not spec.id:
        runtime.open_reranker(spec).close()


def _found(
    workspace: HasModels, config: Config, name: str, kind: str, server: str
) -> tuple[Runtime, ModelSpec]:
    """The runtime of a model, and its specification; nothing is loaded."""
    # Imported only here, because work without a model needs no catalogue.
    from localrag_models.catalogue import OWN, own_entry

    setting = SETTINGS[kind]
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
        own = own_entry(in_runtime, workspace.models.parent / OWN) if kind == "embedder" else None
        return runtime, ModelSpec(
            name=in_runtime,
            prefixes=own.prefixes if own else None,
            server=server,
            threads=threads,
            gpu_layers=gpu_layers,
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
    # Imported only here, because work without a model needs no store of models.
    from localrag_models.store import ModelStore

    model = ModelStore(workspace.models).find(name)
    if model.kind != kind and (kind, model.kind) != ("reranker", "chat"):
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
            N_("The model {name!r} needs {package}; it is not installed."),
            Cure.INSTALL_PACKAGE,
            name=name,
            package=runtime.package,
        )
    return model


_EXTRAS = {
    "hnswlib": "dense",
    "numpy": "dense",
    "huggingface-hub": "hub",
    "llama-cpp-python": "llama-cpp",
    "llama_cpp": "llama-cpp",
    "sentence-transformers": "sentence-transformers",
    "sentence_transformers": "sentence-transformers",
}
"""The extra that installs a package."""

CURES: dict[Cure, str] = {
    Cure.ACCEPT_TERMS: N_(
        "Accept them at {page}, make a token that may read it, and pass it in HF_TOKEN or with "
        "--token-file."
    ),
    Cure.ADD_FILE: N_(
        "Install it (localrag models add {file}), then remove the file "
        "(localrag models remove {name})."
    ),
    Cure.ANOTHER_HUB: N_("Try again later, or from another --endpoint."),
    Cure.CARRY: N_(
        "Check the network and try again: received parts are kept. Without a network, pull it "
        "on another machine and carry it: localrag models export, localrag models import."
    ),
    Cure.CHECK_FILES: N_("Check its files: localrag models verify"),
    Cure.CHECK_REPOSITORY: N_(
        "Check the name; if it is gated, accept its terms at {page} and pass a token in HF_TOKEN "
        "or with --token-file."
    ),
    Cure.CONTEXT_OF_SERVER: N_(
        "Give the server a larger context, or set chat.context to the real number of tokens."
    ),
    Cure.COPY: N_("Leave out --link: the file is copied then."),
    Cure.EXPORT: N_("On the other machine: localrag models export NAME FILE"),
    Cure.FREE_SPACE: N_("Free some space, or choose another workspace with --home."),
    Cure.GET: N_("Get it: localrag models pull {name}"),
    Cure.GET_AGAIN: N_("Get it again: localrag models pull NAME"),
    Cure.HUB_ADDRESS: N_("Check the address given with --endpoint."),
    Cure.INSTALL_PACKAGE: FactKind.TO_INSTALL.value,
    Cure.KNOWN_NAME: N_(
        "Set chat.model, embedding.model or reranking.model to openai:NAME with a name the server "
        "knows."
    ),
    Cure.LESS_MEMORY: N_("Use a smaller model, or a smaller chat.context."),
    Cure.LESS_THOUGHT: N_(
        "Set chat.thinking to off, lower chat.effort, or raise chat.max_tokens and chat.context."
    ),
    Cure.LESS_TEXT: N_(
        "Use fewer or shorter passages, a smaller chat.max_tokens, or a larger chat.context."
    ),
    Cure.MORE_TIME: N_("Raise chat.timeout, or check the server's load."),
    Cure.NAME_FOR_NEW: N_(
        "Give the new one another name with --name, or first: localrag models remove {name}"
    ),
    Cure.NAME_LETTERS: N_(
        "Choose one with --name: up to 64 letters and digits, with '.', '-' and '_' inside."
    ),
    Cure.NEAREST: N_("Did you mean {near}? List all: localrag models list"),
    Cure.NEAREST_TO_PULL: N_(
        "Did you mean {near}? localrag models list shows the catalogue; "
        "OWNER/REPOSITORY/FILE.gguf names any other."
    ),
    Cure.ONLINE: N_("Take it out of the environment, or use: localrag models import FILE"),
    Cure.OTHERS_TO_PULL: N_(
        "localrag models list shows the catalogue; OWNER/REPOSITORY/FILE.gguf names any other."
    ),
    Cure.PULL_AGAIN: N_("Try again: localrag models pull {runtime}:{model}"),
    Cure.REMOVE: N_("If it is not needed, remove it: localrag models remove {name}"),
    Cure.REPLACE: N_(
        "Remove it (localrag models remove {name}), then pull, add or import it again."
    ),
    Cure.SEE_INSTALLED: N_("List all: localrag models list"),
    Cure.SERVED_NAME: N_("Set chat.model, embedding.model or reranking.model to openai:{first}."),
    Cure.SERVER_ADDRESS: N_(
        "Set chat.server, embedding.server or reranking.server to http://HOST:PORT."
    ),
    Cure.SMALLER_CONTEXT: N_("Set chat.context to {available} or less, or to 0."),
    Cure.START_SERVER: N_(
        "Start the server, or change chat.server, embedding.server or reranking.server."
    ),
    Cure.ENTER_AGAIN: N_("Copy it once more into HF_TOKEN or the file given with --token-file."),
}
"""The words for the cures of model errors."""


@contextmanager
def named() -> Iterator[None]:
    """Turn every `ModelError` into an error of localrag; see `as_ours`."""
    try:
        yield
    except ModelError as error:
        raise as_ours(error) from error


def as_ours(error: ModelError) -> LocalragError:
    """A model's error as ours: `BusyError`, `StorageError` for files, else `ModelUnusable`."""
    cause, cure = error.args
    fields = dict(error.fields)
    if isinstance(error, BackendMissing) and "package" in fields:
        fields["extra"] = _EXTRAS[str(fields["package"])]
    cure = CURES.get(cure, cure)
    if isinstance(error, StoreBusy):
        return BusyError(cause, cure, **fields)
    if isinstance(error, StorageFailed):
        return StorageError(cause, cure, **fields)
    return ModelUnusable(
        cause, cure, kind=type(error).__name__, transient=error.transient, **fields
    )


def noted(record: logging.LogRecord) -> str:
    """A log record of our packages, in the current language."""
    from localrag_models.backends.servers.http import Retry

    match record.args:
        case (Retry(error=ModelError() as error) as retry,):
            words = _("{problem} Attempt {n} follows in {seconds:.1f} s.")
            return words.format(
                problem=as_ours(error).cause, n=retry.attempt + 1, seconds=retry.wait
            )
        case (str(address), ModelError() as error):
            return _(str(record.msg)) % (address, as_ours(error).cause)
    words = _(str(record.msg))
    return words % record.args if record.args else words
