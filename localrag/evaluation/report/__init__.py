"""The report of an evaluation: Markdown for people, JSON with the same figures, and a plot."""

import logging
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from localrag.durable import replace_text
from localrag.errors import InputError, NotFoundError, StorageError, WorkspaceError
from localrag.evaluation.report.figures import Figures, figures
from localrag.evaluation.report.measured import answers_of
from localrag.evaluation.types import Evaluation

JSON = "report.json"
MARKDOWN = "report.md"
PLOT = "report.svg"

_FORMAT = 1

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Stored:
    """What is read back; the figures beside it follow from it."""

    format: int
    evaluation: Evaluation


@dataclass(frozen=True, slots=True)
class _Written:
    """What report.json holds."""

    format: int
    figures: Figures
    evaluation: Evaluation


def write(evaluation: Evaluation, folder: Path) -> None:
    """Write report.md, report.svg and, once they are there, report.json into a folder.

    Where a report of the same evaluation with the same figures is there already, it stays.

    Where matplotlib is missing the plot is left out; the log and the report say so.

    Raises:
        InputError: the results of an entry are not complete, or hold text that is not Unicode.
        UsageError: scipy is not installed.
        StorageError: the folder cannot be written; each file is there as a whole or not at all.
    """
    from localrag.evaluation.report.markdown import markdown

    computed = figures(evaluation)
    try:
        written = TypeAdapter(_Written).dump_json(_Written(_FORMAT, computed, evaluation), indent=1)
    except PydanticSerializationError as error:
        raise InputError(
            f"The evaluation holds what is no valid Unicode text ({error}).",
            "Mend the questions, or the names in the settings.",
        ) from error
    if _is_there(folder, written):
        return
    plot, without = "", ""
    try:
        from localrag.evaluation.report.plot import plotted

        plot = plotted(computed)
    except ImportError as error:
        without = f"The plot was left out ({error}). Add it: pip install 'localrag[eval]'"
        _log.warning(without)
    text = markdown(evaluation, computed, plot=PLOT if plot else "", without=without)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if plot:
            replace_text(folder / PLOT, plot)
        replace_text(folder / MARKDOWN, text)
        replace_text(folder / JSON, written.decode())
    except OSError as error:
        raise StorageError(
            f"The report in {folder} cannot be written ({error.strerror}).",
            "Free space on the disk, or mend the permissions of the folder; then give the command "
            "again: answers that are there are kept.",
        ) from error


def _is_there(folder: Path, written: bytes) -> bool:
    # Drawing takes seconds. The JSON is written last; without the plot it may be time to draw it.
    if not ((folder / MARKDOWN).is_file() and (folder / PLOT).is_file()):
        return False
    try:
        return (folder / JSON).read_bytes() == written
    except OSError:
        return False


def load(folder: Path) -> Evaluation:
    """Read back the evaluation that a report in this folder was written from.

    Raises:
        NotFoundError: the folder holds no report.
        WorkspaceError: it is damaged, or was written by another version.
        InputError: the results of an entry are not complete.
    """
    path = folder / JSON
    again = "Restore it from a copy, or give the command of the evaluation again."
    try:
        stored = TypeAdapter(_Stored).validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise NotFoundError(
            f"{folder} holds no report.", "Name the folder of a finished evaluation."
        ) from error
    except (OSError, ValidationError) as error:
        raise WorkspaceError(f"The report {path} cannot be read.", again) from error
    if stored.format != _FORMAT:
        raise WorkspaceError(f"The report {path} was written by another version.", again)
    answers_of(stored.evaluation)
    return stored.evaluation
