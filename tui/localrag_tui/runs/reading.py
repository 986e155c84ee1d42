"""A written report, read back to be shown: its sections, and the scores that are drawn.

What stands in the Markdown was made for people and is shown as it is; of the JSON only the figures
are read, which come before the answers and are a small part of it.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.errors import WorkspaceError
from localrag.language import N_, _
from localrag_tui.runs.plot import Bar

if TYPE_CHECKING:
    from markdown_it.token import Token

Row = tuple[str, ...]

HEADINGS = (
    N_("Scores"),
    N_("Differences"),
    N_("Not measured"),
    N_("Measures"),
    N_("Verdicts"),
    N_("Order of the options"),
    N_("Retrieval"),
    N_("Cost"),
    N_("Costs"),
    N_("Failures"),
    N_("Causes"),
    N_("entry"),
    N_("questions"),
    N_("score"),
    N_("failed"),
    N_("published, other conditions"),
    N_("notes"),
    N_("pair"),
    N_("points"),
    N_("stage"),
    N_("answers"),
    N_("calls"),
    N_("retries"),
    N_("prompt tokens"),
    N_("completion tokens"),
)
"""Headings of a report that are translated; the others stand as they were written."""


@dataclass(frozen=True, slots=True)
class Heading:
    """Begins a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph, or an item of a list."""

    text: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A table."""

    header: Row
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What is shown of an evaluation.

    Attributes:
        files: where it is written.
        bars: its scores.
        blocks: its Markdown, in order.
    """

    files: tuple[Path, ...]
    bars: tuple[Bar, ...]
    blocks: tuple[Heading | Words | Grid, ...]


def read(folder: Path) -> Report:
    """Read the report of a finished evaluation.

    Raises:
        WorkspaceError: it cannot be read.
    """
    from localrag.evaluation import report

    files = tuple(folder / name for name in (report.MARKDOWN, report.JSON, report.PLOT))
    try:
        bars = _bars(files[1].read_text(encoding="utf-8"))
        blocks = tuple(_blocks(files[0].read_text(encoding="utf-8")))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise WorkspaceError(
            _("The report in {folder} cannot be read ({reason}).").format(
                folder=folder, reason=error
            ),
            _("Start the evaluation again: its answers are kept, and the report is written anew."),
        ) from error
    return Report(tuple(filter(Path.exists, files)), bars, blocks)


def _bars(text: str) -> tuple[Bar, ...]:
    from pydantic import TypeAdapter

    name = '"figures":'
    start = text.index(name) + len(name)
    start += len(text[start : start + 99]) - len(text[start : start + 99].lstrip())
    figures, _end = json.JSONDecoder().raw_decode(text, start)
    return TypeAdapter(tuple[Bar, ...]).validate_python(figures["entries"])


def _blocks(text: str) -> Iterator[Heading | Words | Grid]:
    from markdown_it import MarkdownIt

    tokens = iter(MarkdownIt("commonmark").enable("table").parse(text))
    in_heading = False
    for token in tokens:
        match token.type:
            case "heading_open":
                in_heading = True
            case "heading_close":
                in_heading = False
            case "table_open":
                yield _grid(tokens)
            case "inline" if words := _plain(token):
                yield Heading(words) if in_heading else Words(words)
            case "fence" | "code_block":
                yield Words(token.content)


def _grid(tokens: "Iterator[Token]") -> Grid:
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_plain(token))
    header, *others = map(tuple, rows)
    return Grid(header, tuple(others))


def _plain(token: "Token") -> str:
    children: Sequence[Token] = token.children or ()
    # A picture is drawn here, not named.
    return "".join(
        " " if child.type in ("softbreak", "hardbreak") else child.content
        for child in children
        if child.type != "image"
    )
