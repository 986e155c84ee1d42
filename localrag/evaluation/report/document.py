"""A report as values: sections of text, lists and tables, and their Markdown."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from localrag.evaluation.statistics import Estimate
from localrag.text import harmless

if TYPE_CHECKING:
    from jinja2 import Template

# An underscore or tilde inside a word is not markup, and common in names.
_MARKUP = re.compile(r"[\\`*\[\]<>|~&$]|(?<![^\W_])_|_(?![^\W_])")
# XML forbids these too.
_NO_XML = re.compile(r"[\ufffe\uffff]")

DASH = "–"
"""Replaces a missing figure."""


class Emphasised(str):
    """Emphasised text."""


class Markdown(str):
    """Text already in Markdown."""


@dataclass(frozen=True, slots=True)
class ReportText:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class ReportItems:
    """A list of sentences."""

    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; cells from column `left` on are numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in a file beside the report."""

    file: str
    about: str


Block = ReportText | ReportItems | Table | Picture


@dataclass(frozen=True, slots=True)
class ReportSection:
    """Blocks under a heading."""

    title: str
    blocks: Sequence[Block]
    level: int = 2  # of the heading, from 1


def markdown(sections: Iterable[ReportSection]) -> str:
    """Sections as Markdown."""
    return _template().render(sections=list(sections))


@cache
def _template() -> "Template":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    # `plain` escapes by the rules of Markdown.
    environment = Environment(  # noqa: S701
        loader=PackageLoader("localrag.evaluation", "report"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["plain"] = plain
    environment.filters["kind"] = _kind
    return environment.get_template("report.md.jinja")


def _kind(block: Block) -> str:
    return type(block).__name__


def plain(text: str) -> str:
    """Text on one line, Markdown escaped for a cell; in a line, put a word before it."""
    if isinstance(text, Markdown):
        return text
    escaped = _MARKUP.sub(r"\\\g<0>", one_line(text))
    return f"*{escaped}*" if isinstance(text, Emphasised) else escaped


def one_line(text: str) -> str:
    """Text without line breaks and control characters."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", harmless.one_line(" ".join(text.split())))


def value(found: object) -> str:
    """A setting as text."""
    if found in (None, ""):
        return DASH
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, default=str)


def percent(share: float) -> str:
    """A share in per cent."""
    return f"{100 * share:.1f} %"


def estimate(found: Estimate | None) -> str:
    """A score with its interval, ``60.0 % [50.2, 69.1]``; without one if it does not vary."""
    if not found:
        return DASH
    if found.low == found.high:
        return percent(found.value)
    return Markdown(f"{percent(found.value)} [{100 * found.low:.1f}, {100 * found.high:.1f}]")


def points(found: Estimate | None) -> str:
    """A difference of scores in percentage points, ``+7.5 [−2.0, +17.0]``."""
    if not found:
        return DASH
    middle, low, high = (_signed(100 * limit) for limit in (found.value, found.low, found.high))
    return middle if found.low == found.high else Markdown(f"{middle} [{low}, {high}]")


def p_value(p: float | None) -> str:
    """A p-value with three decimals."""
    if p is None:
        return DASH
    return Markdown("< 0.001") if p < 0.001 else f"{p:.3f}"


def _signed(number: float) -> str:
    return f"{round(number, 1) + 0.0:+.1f}".replace("-", "\N{MINUS SIGN}")
