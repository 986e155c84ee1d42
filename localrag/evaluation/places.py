"""Folders and files of evaluations in a workspace.

::

    runs/answers/<dataset>/<fingerprint>/order-<n>.jsonl    shared by all runs
    runs/answers/<dataset>/ratings-<fingerprint>.jsonl      shared by all runs
    runs/eval/<dataset>/<run>/run.json, report.md …
"""

import re
from pathlib import Path

from localrag.corpus.durable import make_folder
from localrag.corpus.workspace import Workspace
from localrag.errors import StorageError, UsageError
from localrag.language import N_

# A plain name on every system: never hidden, `..`, an option or a path.
_DATASET = N_("{name!r} cannot be the name of a dataset.")
_RUN = N_("{name!r} cannot be the name of a run.")
_NAME = re.compile(r"\w[\w.-]{0,63}(?<!\.)")


def answers(workspace: Workspace, dataset: str, fingerprint: str) -> Path:
    """Folder of answers made with the same settings. It may be missing."""
    return workspace.runs / "answers" / _plain(dataset, _DATASET) / fingerprint


def ratings(workspace: Workspace, dataset: str, fingerprint: str) -> Path:
    """File of a judge's ratings, shared by all runs. It may be missing."""
    return answers(workspace, dataset, f"ratings-{fingerprint}.jsonl")


def order_file(folder: Path, order: int) -> Path:
    """File of the answers in one order of options."""
    return folder / f"order-{order}.jsonl"


def run(workspace: Workspace, dataset: str, name: str) -> Path:
    """Folder of a run. It may be missing."""
    return runs(workspace) / _plain(dataset, _DATASET) / _plain(name, _RUN)


def runs(workspace: Workspace) -> Path:
    """Folder of all runs, with one folder for each dataset."""
    return workspace.runs / "eval"


def make(folder: Path) -> None:
    """Make a folder and its parents. Raises `StorageError` if it cannot be made."""
    try:
        make_folder(folder)
    except OSError as error:
        raise StorageError(
            N_("The folder {folder} cannot be made ({problem})."),
            N_("Free space on the disk, or mend the permissions of the workspace."),
            folder=folder,
            problem=error,
        ) from error


def _plain(name: str, refused: str) -> str:
    if not _NAME.fullmatch(name):
        raise UsageError(
            refused,
            N_("Use up to 64 letters, digits, '_', '-' and '.', beginning with a letter or digit."),
            name=name,
        )
    return name
