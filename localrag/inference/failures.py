"""What a model fails with, told as an error of localrag, with its commands and settings."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from localrag.errors import BusyError, LocalragError, ModelUnusable, StorageError
from localrag.language import N_, _
from localrag_models.errors import BackendMissing, Cure, ModelError, StorageFailed, StoreBusy

_EXTRAS = {
    "hnswlib": "dense",
    "numpy": "dense",
    "huggingface-hub": "hub",
    "llama-cpp-python": "llama-cpp",
    "llama_cpp": "llama-cpp",
    "sentence-transformers": "sentence-transformers",
    "sentence_transformers": "sentence-transformers",
}
"""The extra that brings a package."""

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
        "Check the network and try again: what has come is kept. Without a network, pull it on "
        "another machine and carry it: localrag models export, localrag models import."
    ),
    Cure.CHECK_FILES: N_("Check its files: localrag models verify"),
    Cure.CHECK_REPOSITORY: N_(
        "Check the name; if it is gated, accept its terms at {page} and pass a token in HF_TOKEN "
        "or with --token-file."
    ),
    Cure.CONTEXT_OF_SERVER: N_(
        "Give the server a larger context, or set chat.context to what it really has."
    ),
    Cure.COPY: N_("Leave out --link: the file is copied then."),
    Cure.EXPORT: N_("On the other machine: localrag models export NAME FILE"),
    Cure.FREE_SPACE: N_("Free some space, or choose another workspace with --home."),
    Cure.GET: N_("Get it: localrag models pull {name}"),
    Cure.GET_AGAIN: N_("Get it again: localrag models pull NAME"),
    Cure.HUB_ADDRESS: N_("Check the address given with --endpoint."),
    Cure.INSTALL_PACKAGE: N_("Install it: pip install 'localrag[{extra}]'"),
    Cure.KNOWN_NAME: N_(
        "Set chat.model (or embedding.model) to openai:NAME with a name the server knows."
    ),
    Cure.LESS_MEMORY: N_("Use a smaller model, or a smaller chat.context."),
    Cure.LESS_TEXT: N_(
        "Use fewer or shorter passages, a smaller chat.max_tokens, or a larger chat.context."
    ),
    Cure.MORE_TIME: N_("Raise chat.timeout, or see what the server is busy with."),
    Cure.NAME_FOR_NEW: N_(
        "Give the new one another name with --name, or first: localrag models remove {name}"
    ),
    Cure.NAME_LETTERS: N_(
        "Choose one with --name: up to 64 letters and digits, with '.', '-' and '_' inside."
    ),
    Cure.NEAREST: N_("Did you mean {near}? See what is there: localrag models list"),
    Cure.NEAREST_TO_PULL: N_(
        "Did you mean {near}? localrag models list shows what it has; OWNER/REPOSITORY/FILE.gguf "
        "names any other."
    ),
    Cure.ONLINE: N_("Take it out of the environment, or use: localrag models import FILE"),
    Cure.OTHERS_TO_PULL: N_(
        "localrag models list shows what it has; OWNER/REPOSITORY/FILE.gguf names any other."
    ),
    Cure.PULL_AGAIN: N_("Try again: localrag models pull {runtime}:{model}"),
    Cure.REMOVE: N_("If it is not needed, remove it: localrag models remove {name}"),
    Cure.REPLACE: N_(
        "Remove it (localrag models remove {name}), then pull, add or import it again."
    ),
    Cure.SEE_INSTALLED: N_("See what is there: localrag models list"),
    Cure.SERVED_NAME: N_("Set chat.model (or embedding.model) to openai:{first}."),
    Cure.SERVER_ADDRESS: N_("Set chat.server (or embedding.server) to http://HOST:PORT."),
    Cure.SMALLER_CONTEXT: N_("Set chat.context to {available} or less, or to 0."),
    Cure.START_SERVER: N_("Start the server, or change chat.server (or embedding.server)."),
    Cure.ENTER_AGAIN: N_("Copy it once more into HF_TOKEN or the file given with --token-file."),
}
"""What localrag has for the cures that a model's error names."""


@contextmanager
def named() -> Iterator[None]:
    """Turn every `ModelError` into an error of localrag; see `as_ours`."""
    try:
        yield
    except ModelError as error:
        raise as_ours(error) from error


def as_ours(error: ModelError) -> LocalragError:
    """What a model fails with, as an error of localrag.

    Returns:
        A `BusyError` where another process is installing or removing the same model, a
        `StorageError` where the disk is full or a file or folder cannot be written, a
        `ModelUnusable` for everything else.
    """
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
    """What one of our packages wrote to the log, in the language in use."""
    from localrag_models.backends.servers.http import Retry

    match record.args:
        case (Retry(error=ModelError() as error) as retry,):
            words = _("{problem} Attempt {n} follows in {seconds:.1f} s.")
            return words.format(
                problem=as_ours(error).cause, n=retry.attempt + 1, seconds=retry.wait
            )
    words = _(str(record.msg))
    return words % record.args if record.args else words
