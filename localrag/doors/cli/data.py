"""``localrag data``: datasets to evaluate with, and how they come into the workspace."""

from pathlib import Path
from typing import Annotated

import typer

from localrag.doors.cli.main import group, verb
from localrag.doors.cli.options import Json
from localrag.doors.cli.terminal import Meter
from localrag.doors.session import Session
from localrag.language import N_
from localrag.text.progress import BYTES, Phase, Stopwatch

_CODES = (0, 2, 3, 4, 5, 6, 7, 130)

app = group(
    "data",
    examples=("localrag data list", "localrag data add lawqa /media/stick"),
    exit_codes=_CODES,
)

Name = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="Name of a dataset, or path of a declaration (.toml).",
        show_default=False,
    ),
]


@verb(app, "list", examples=("localrag data list",), exit_codes=_CODES)
def list_(context: typer.Context, as_json: Json = False) -> None:
    """List the datasets: the files on this machine, the source, the licence.

    Nothing is asked of a network. A wrong declaration is named, and left out.
    """
    from localrag.doors.cli.render_data import print_list
    from localrag.doors.cli.terminal import tell_lines
    from localrag.evaluation.datasets.loading import damaged, find, known
    from localrag.language import _

    session: Session = context.obj
    workspace = session.workspace.require()
    for problem in damaged(workspace):
        tell_lines((_("note: "), "yellow"), str(problem))
    print_list([find(workspace, dataset.name) for dataset in known(workspace)], as_json=as_json)


@verb(app, "show", examples=("localrag data show lawqa",), exit_codes=_CODES)
def show(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show a dataset: its splits with their questions and hashes, its licence, published figures.

    Others measured the published figures, under the conditions shown beside them.
    """
    from localrag.doors.cli.render_data import print_dataset
    from localrag.evaluation.datasets.loading import find

    session: Session = context.obj
    workspace = session.workspace.require()
    print_dataset(workspace, find(workspace, name), as_json=as_json)


@verb(
    app,
    "add",
    examples=("localrag data add lawqa /media/stick", "localrag data add mine.toml folder/"),
    exit_codes=_CODES,
)
def add(
    context: typer.Context,
    name: Name,
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="Folder in the layout of the declaration; parts may be missing.",
            show_default=False,
        ),
    ],
    as_json: Json = False,
) -> None:
    """Bring in a dataset from a folder: its questions and its corpus.

    The questions are copied into the workspace and their hashes checked. The files of the corpus
    are added to a corpus with the name of the dataset, and indexed. A dataset without a corpus is
    evaluated on the usual one, or on --corpus. For lawqa, FOLDER holds lawqa/train.jsonl (or
    lawqa/selection.json as published) and the laws as egov/xml/*.xml.

    Declare a dataset of your own in a .toml file. A file of questions alone (.jsonl, .json) needs
    no declaration and is not brought in: localrag eval FILE. docs/datasets.md shows both.

    Stopping loses nothing: run it again and it continues.
    """
    from localrag.doors.cli.render_data import print_brought
    from localrag.doors.cli.render_ingest import shown_events
    from localrag.evaluation.datasets.acquiring import add as bring
    from localrag.evaluation.datasets.loading import corpus_name, find

    session: Session = context.obj
    workspace = session.workspace.require()
    config = session.config(corpus_name(find(workspace, name).dataset))
    with shown_events() as listener:
        brought = bring(workspace, name, folder, config, on_event=listener)
    print_brought(brought, as_json=as_json)
    if brought.failed:
        raise typer.Exit(4)


@verb(app, "download", examples=("localrag data download lawqa",), exit_codes=_CODES)
def download(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """Fetch the questions of a dataset over the network, from its declared addresses.

    Files without an address are named, with the next step. Laws are not fetched: localrag laws
    download gets them.
    """
    from localrag.doors.cli.render_data import print_brought
    from localrag.evaluation.datasets.acquiring import download as fetch

    session: Session = context.obj
    with Meter() as meter:
        watch = Stopwatch(meter.update)
        brought = fetch(
            session.workspace.require(),
            name,
            on_progress=lambda file, done, total: watch(
                Phase(N_("fetching"), BYTES, file), done, total
            ),
        )
    print_brought(brought, as_json=as_json)
