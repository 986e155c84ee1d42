"""``localrag models``: the models of the workspace, and how they come into it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localrag.doors.cli.main import group, verb
from localrag.doors.cli.options import Json
from localrag.doors.cli.terminal import Meter, emit, say, tell
from localrag.doors.session import Session
from localrag.errors import LocalragError, UsageError
from localrag.language import N_, _
from localrag.text.progress import BYTES, Phase, Stopwatch

if TYPE_CHECKING:
    from localrag_models.files import Progress
    from localrag_models.runtimes import Runtime
    from localrag_models.store import ModelStore

_LISTED = "ollama"
"""The runtime whose servers say what they have."""
_CODES = (0, 2, 5, 6, 7, 8, 130)
_LONGEST_TOKEN = 1_000

app = group(
    "models",
    examples=(
        "localrag models list",
        "localrag models pull qwen3-8b",
        "localrag models add ~/Downloads/model.gguf",
    ),
    exit_codes=_CODES,
)


Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of an installed model.", show_default=False)
]
NewName = Annotated[
    str,
    typer.Option(
        "--name", help="Name of the model; without it, the name of the file.", metavar="NAME"
    ),
]
Server = Annotated[
    str, typer.Option("--server", help="Address of the Ollama server.", metavar="ADDRESS")
]


@contextmanager
def _work(session: Session) -> "Iterator[tuple[ModelStore, Progress]]":
    """Open the store, with a meter for large files."""
    from localrag.corpus.inference.opening import named
    from localrag_models.store import ModelStore

    with named(), Meter() as meter:
        watch = Stopwatch(meter.update)
        yield (
            ModelStore(session.workspace.require().models),
            lambda step, about, done, total: watch(Phase(step, BYTES, about), done, total),
        )


@verb(
    app,
    "list",
    examples=("localrag models list", "localrag models list --ollama"),
    exit_codes=_CODES,
)
def list_(
    context: typer.Context,
    ollama: Annotated[
        bool, typer.Option("--ollama", help="List the models of an Ollama server.")
    ] = False,
    server: Server = "",
    as_json: Json = False,
) -> None:
    """List the installed models, the catalogue, and the places of the models in use.

    Only an Ollama server of the settings is asked, or one with --ollama.
    """
    from localrag.corpus.inference.opening import named
    from localrag.doors.cli import render_models

    session: Session = context.obj
    if ollama:
        from localrag_models.runtimes import BY_NAME

        runtime = BY_NAME[_LISTED]
        with named():
            found = runtime.list_models(_address(session, server, runtime))
        render_models.print_served(_LISTED, found, as_json=as_json)
        return
    with _work(session) as (store, _on_progress):
        hardware = render_models.Hardware.of(session.workspace, session.config())
        overview = render_models.Overview.of(store, _used(session), hardware)
    if as_json:
        emit(overview.as_json())
    else:
        overview.print()


@verb(
    app,
    "pull",
    examples=(
        "localrag models pull qwen3-8b",
        "localrag models pull multilingual-e5-small",
        "localrag models pull Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf",
        "localrag models pull ollama:qwen3:8b",
    ),
    exit_codes=_CODES,
)
def pull(
    context: typer.Context,
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="Name of the catalogue, OWNER/REPOSITORY/FILE.gguf, OWNER/REPOSITORY (a folder of "
            "sentence-transformers), or ollama:NAME.",
            show_default=False,
        ),
    ],
    name: NewName = "",
    revision: Annotated[
        str, typer.Option(help="Branch, tag or commit of the repository.", metavar="REVISION")
    ] = "main",
    endpoint: Annotated[
        str,
        typer.Option(
            help="Address of the hub; without it, huggingface.co.",
            envvar="HF_ENDPOINT",
            metavar="ADDRESS",
        ),
    ] = "",
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with a token for gated models; else HF_TOKEN.", metavar="FILE"),
    ] = None,
    server: Server = "",
    as_json: Json = False,
) -> None:
    """Fetch a model over the network, check its hashes and install it.

    An interrupted pull continues. The model is installed only when it is complete and correct. This
    verb alone connects to a hub; elsewhere use export and import.
    """
    from localrag.doors.cli.render_models import print_installed
    from localrag_models.runtimes import named_runtime

    session: Session = context.obj
    if served := named_runtime(model):
        _pull_with_server(session, model, *served, server, as_json=as_json)
        return
    with _work(session) as (store, on_progress):
        from localrag_models.hub import PUBLIC_HUB, Hub
        from localrag_models.hub import pull as fetch

        before = store.installed()
        installed = fetch(
            store,
            model,
            Hub(endpoint or PUBLIC_HUB, _token(token_file)),
            name=name,
            revision=revision,
            on_progress=on_progress,
        )
    if installed in before:
        tell(_("{name} is installed already.").format(name=installed.name))
    print_installed(installed, _used(session), as_json=as_json)


@verb(
    app,
    "add",
    examples=(
        "localrag models add model.gguf --name mine",
        "localrag models add folder/ --query-prefix 'query: ' --passage-prefix 'passage: '",
    ),
    exit_codes=_CODES,
)
def add(
    context: typer.Context,
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="A .gguf file, or a folder of sentence-transformers.",
            show_default=False,
        ),
    ],
    name: NewName = "",
    query_prefix: Annotated[
        str | None, typer.Option(help="Prefix of an embedder for queries.", metavar="TEXT")
    ] = None,
    passage_prefix: Annotated[
        str | None, typer.Option(help="Prefix of an embedder for passages.", metavar="TEXT")
    ] = None,
    licence: Annotated[str, typer.Option(help="Licence of the model.", metavar="TEXT")] = "",
    link: Annotated[
        bool, typer.Option("--link", help="Hard-link the files instead of copying them.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Install a model from a local file or folder.

    Its kind is read from it. The prefixes of an embedder come from its folder, and are known for
    the E5 family; check them in the output.
    """
    from localrag.doors.cli.render_models import print_installed
    from localrag_models.embedding import Prefixes

    session: Session = context.obj
    given = (query_prefix, passage_prefix)
    with _work(session) as (store, on_progress):
        installed = store.add(
            path,
            name=name,
            prefixes=None if given == (None, None) else Prefixes(*(text or "" for text in given)),
            licence=licence,
            link=link,
            on_progress=on_progress,
        )
    print_installed(installed, _used(session), as_json=as_json)


@verb(
    app,
    "verify",
    examples=("localrag models verify", "localrag models verify qwen3-8b"),
    exit_codes=_CODES,
)
def verify(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Name of a model; without any, all models."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Read installed models and compare every file with its hash.

    A damaged or missing model does not stop the check of the others.
    """
    from localrag.corpus.inference.opening import as_ours
    from localrag.doors.cli.render_models import print_verified
    from localrag_models.errors import ModelError
    from localrag_models.store import InstalledModel

    found: dict[str, InstalledModel | LocalragError] = {}
    with _work(context.obj) as (store, on_progress):
        for name in names or store.names():
            try:
                found[name] = store.verify(name, on_progress)
            except ModelError as problem:
                found[name] = as_ours(problem)
    print_verified(found, as_json=as_json)
    if any(isinstance(model, LocalragError) for model in found.values()):
        raise typer.Exit(8)


@verb(app, "remove", examples=("localrag models remove qwen3-8b",), exit_codes=_CODES)
def remove(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """Remove a model, or the remains of an interrupted pull.

    The name is that file or folder in the folder of the models.
    """
    with _work(context.obj) as (store, _on_progress):
        store.remove(name)
    if as_json:
        emit({"removed": name})
    else:
        say(_("model {name} removed").format(name=name))


@verb(app, "export", examples=("localrag models export qwen3-8b /media/stick",), exit_codes=_CODES)
def export(
    context: typer.Context,
    name: Name,
    archive: Annotated[
        Path,
        typer.Argument(
            metavar="ARCHIVE", help="File to write, or a folder to write NAME.tar into."
        ),
    ],
    as_json: Json = False,
) -> None:
    """Write a model to one file, to carry it to a machine without a network.

    The file is a plain tar archive with the model, its licence and the hash of every file.
    """
    from localrag_models.files import writing

    with _work(context.obj) as (store, on_progress):
        with writing(archive):
            there = archive.parent.is_dir()
        if not there:
            raise UsageError(
                N_("There is no folder {path}."), N_("Make it first."), path=archive.parent
            )
        written = store.export(name, archive, on_progress)
    if as_json:
        emit({"name": name, "archive": str(written), "bytes": written.stat().st_size})
    else:
        say(_("model {name} written to ").format(name=name), (str(written), "bold"))
        say(_("Next, on the other machine: "), (f"localrag models import {written.name}", "bold"))


@verb(
    app, "import", examples=("localrag models import /media/stick/qwen3-8b.tar",), exit_codes=_CODES
)
def import_(
    context: typer.Context,
    archive: Annotated[Path, typer.Argument(metavar="ARCHIVE", help="File of export.")],
    name: Annotated[
        str,
        typer.Option(
            "--name", help="Name of the model; without it, its earlier name.", metavar="NAME"
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Install a model from a file of export, checking every hash."""
    from localrag.doors.cli.render_models import print_installed

    session: Session = context.obj
    with _work(session) as (store, on_progress):
        installed = store.import_(archive, name=name, on_progress=on_progress)
    print_installed(installed, _used(session), as_json=as_json)


def _pull_with_server(
    session: Session, model: str, runtime: "Runtime", name: str, server: str, *, as_json: bool
) -> None:
    from localrag.corpus.inference.opening import named

    with named(), Meter() as meter:
        watch = Stopwatch(meter.update)
        runtime.pull_model(
            name,
            _address(session, server, runtime),
            lambda step, about, done, total: watch(Phase(step, BYTES, about), done, total),
        )
    if as_json:
        emit({"name": model})
    else:
        told = _("{runtime} has the model {name}; the settings call it ")
        say(told.format(runtime=runtime.name, name=name), (model, "bold"))


def _used(session: Session) -> dict[str, str]:
    from localrag.corpus.inference.opening import models_in_use

    return models_in_use(session.workspace.require(), session.config())


def _address(session: Session, server: str, runtime: "Runtime") -> str:
    """The named server, else the one of the settings if its kind fits, else ""."""
    from localrag_models.runtimes import named_runtime

    chat = session.config().chat
    of_settings = named_runtime(chat.model)
    ours = of_settings is not None and of_settings[0] is runtime
    return server or (chat.servers[0] if ours and chat.servers else "")


def _token(file: Path | None) -> str:
    if file is None:
        return os.environ.get("HF_TOKEN", "").strip()
    try:
        with file.open(encoding="ascii") as opened:
            return opened.read(_LONGEST_TOKEN).strip()
    except (OSError, ValueError) as error:
        raise UsageError(
            N_("{path} holds no token that can be read."),
            N_("Write the token alone into a text file."),
            path=file,
        ) from error
