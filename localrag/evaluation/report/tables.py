"""Markdown: tables, numbers as a reader wants them, and text that stays text."""

import json
import re
from collections.abc import Iterable, Sequence

from localrag.evaluation.statistics import Estimate

# An underscore or tilde inside a word is no markup, and names are full of them.
_MARKUP = re.compile(r"[\\`*\[\]<>|~&$]|(?<![^\W_])_|_(?![^\W_])")
# C0, DEL and C1 speak to a terminal; the bidirectional controls reorder what a reader sees; a lone
# surrogate cannot be encoded, and XML forbids the last two.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")

DASH = "–"
"""In the place of a figure that there is none of."""


def plain(text: object) -> str:
    """A value as text that Markdown takes literally, on one line, inside a line or a cell.

    At the beginning of a line it could still be a list or a heading: put a word before it.
    """
    words = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, default=str)
    return _MARKUP.sub(r"\\\g<0>", one_line(words))


def one_line(text: str) -> str:
    """Text without line breaks and without characters that act instead of being shown."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A table of cells that are Markdown already; from column `left` on they are numbers."""
    lines = [header, ["---" if n < left else "---:" for n in range(len(header))], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def listed(items: Iterable[str]) -> str:
    """A list of items that are Markdown already."""
    return "\n".join(f"- {item}" for item in items)


def counted(count: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is one."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def percent(value: float) -> str:
    """A share of one, in per cent."""
    return f"{100 * value:.1f} %"


def estimate(found: Estimate | None) -> str:
    """A score with its interval, ``60.0 % [50.2, 69.1]``; without one where nothing varies."""
    if not found:
        return DASH
    if found.low == found.high:
        return percent(found.value)
    return f"{percent(found.value)} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def points(found: Estimate | None) -> str:
    """A difference of two scores in percentage points, ``+7.5 [−2.0, +17.0]``."""
    if not found:
        return DASH
    value, low, high = (_signed(100 * limit) for limit in (found.value, found.low, found.high))
    return value if found.low == found.high else f"{value} [{low}, {high}]"


def p_value(p: float | None) -> str:
    """A p-value to three places."""
    if p is None:
        return DASH
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _signed(value: float) -> str:
    return f"{round(value, 1) + 0.0:+.1f}".replace("-", "\N{MINUS SIGN}")
