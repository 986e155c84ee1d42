"""The report of an evaluation: Markdown, JSON with the same figures, and a plot."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from localrag.corpus.durable import make_folder, replace_text, storing
from localrag.errors import InputError, NotFoundError, WorkspaceError, to_install
from localrag.evaluation.report.document import Block, Picture, ReportSection, ReportText, markdown
from localrag.evaluation.report.figures import Figures, figures
from localrag.evaluation.report.measured import answers_of
from localrag.evaluation.report.sections import all_sections
from localrag.evaluation.types import Evaluation
from localrag.language import N_, _

JSON = "report.json"
MARKDOWN = "report.md"
PLOT = "report.svg"

_FORMAT = 1
_AGAIN = N_("Restore it from a copy, or give the command of the evaluation again.")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Stored:
    """The part of report.json read every time; figures follow from it."""

    format: int
    evaluation: Evaluation


@dataclass(frozen=True, slots=True)
class Report:
    """Content of report.json."""

    format: int
    figures: Figures
    evaluation: Evaluation

    def sections(self, plot: Sequence[Block] = ()) -> list[ReportSection]:
        """All sections in the language in use."""
        found = all_sections(self.evaluation, self.figures, plot)
        return [section for section in found if section.blocks]


_Read = TypeVar("_Read", _Stored, Report)

_stored = TypeAdapter(_Stored)
_report = TypeAdapter(Report)


def write(evaluation: Evaluation, folder: Path) -> None:
    """Write report.md, report.svg and finally report.json into a folder.

    An equal report is left unchanged. Without matplotlib there is no plot; log and report say so.
    Raises `UsageError` if scipy is missing.
    """
    report = Report(_FORMAT, figures(evaluation), evaluation)
    try:
        written = _report.dump_json(report, indent=1)
    except PydanticSerializationError as error:
        raise InputError(
            N_("The evaluation holds text that is not valid Unicode ({problem})."),
            N_("Mend the questions, or the names in the settings."),
            problem=error,
        ) from error
    if _is_there(folder, written):
        return
    plot, drawn = "", list[Block]()
    try:
        from localrag.evaluation.report.plot import plotted

        plot = plotted(report.figures)
        drawn = [Picture(PLOT, _("Scores with their 95 % intervals"))]
    except ImportError as error:
        without = _("The plot was left out ({problem}). {cure}").format(
            problem=error, cure=to_install("eval")
        )
        drawn = [ReportText(without)]
        _log.warning(without)
    text = markdown(report.sections(drawn))
    again = N_("Free some space, and give the command again: answers that are there are kept.")
    with storing(folder, again):
        make_folder(folder)
        if plot:
            replace_text(folder / PLOT, plot, private=True)
        replace_text(folder / MARKDOWN, text, private=True)
        replace_text(folder / JSON, written.decode(), private=True)


def _is_there(folder: Path, written: bytes) -> bool:
    # Drawing takes seconds. The JSON is written last; without the plot it may be time to draw it.
    if not ((folder / MARKDOWN).is_file() and (folder / PLOT).is_file()):
        return False
    try:
        return (folder / JSON).read_bytes() == written
    except OSError:
        return False


def load(folder: Path) -> Evaluation:
    """Read the evaluation behind the report in this folder."""
    return _checked(folder, _stored.validate_json).evaluation


def read(folder: Path) -> Report:
    """Read the report in this folder; figures of earlier versions are computed again."""

    def understood(content: bytes) -> Report:
        try:
            return _report.validate_json(content)
        except ValidationError:
            stored = _stored.validate_json(content)
            return Report(stored.format, figures(stored.evaluation), stored.evaluation)

    return _checked(folder, understood)


def _checked(folder: Path, understand: Callable[[bytes], _Read]) -> _Read:
    path = folder / JSON
    try:
        found = understand(path.read_bytes())
    except FileNotFoundError as error:
        raise NotFoundError(
            N_("{folder} holds no report."),
            N_("Name the folder of a finished evaluation."),
            folder=folder,
        ) from error
    except (OSError, ValidationError) as error:
        raise WorkspaceError(N_("The report {path} cannot be read."), _AGAIN, path=path) from error
    if found.format != _FORMAT:
        raise WorkspaceError(
            N_("The report {path} was written by another version."), _AGAIN, path=path
        )
    answers_of(found.evaluation)
    return found
