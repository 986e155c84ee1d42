"""A screen as text that can be read and compared, and what is wrong with it whatever it shows."""

import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from textual.app import App
from textual.color import Color, ColorParseError
from textual.geometry import Region
from textual.screen import ModalScreen, Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Tooltip
from textual.widgets._toast import ToastRack

from localrag_tui.shell.bars import TopBar

LEAST_CONTRAST = 4.5
"""Of text against its ground, as WCAG 2 (AA) asks for it."""

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZαβγδεζηθικλμνξοπρστυφχψω"
# Colours that a theme names, those first that several names stand for.
_FIRST = (
    "foreground",
    "foreground-muted",
    "background",
    "surface",
    "panel",
    "primary",
    "accent",
    "success",
    "error",
)
_EFFECTS = ("bold", "dim", "italic", "underline", "strike", "reverse")


class Run(NamedTuple):
    """Cells of one row that look alike."""

    column: int
    text: str
    style: str


@dataclass(frozen=True)
class Dump:
    """What a screen shows.

    Attributes:
        text: its characters, row by row.
        faults: rows that are too wide or too narrow, characters that act, text without contrast.
    """

    text: str
    faults: tuple[str, ...]


def dump(app: App[Any]) -> Dump:
    """Look at the screen of a running application."""
    rows = [list(_runs(strip)) for strip in _strips(app)]
    text = _text(rows)
    faults = [fault for y, row in enumerate(rows) for fault in _faults(app, y, row)]
    return Dump(text, tuple(faults))


def look(app: App[Any], of: str = "") -> str:
    """How a part of the screen looks, independent of the theme.

    Args:
        app: the running application.
        of: the selector of widgets; without one it is the dialogue in front, else the screen
            below the bar that all screens have in common.

    Returns:
        The characters, row by row, then the style of every cell by a letter, then what the
        letters mean.
    """
    part = _around(list(app.screen.query(of)), app.screen) if of else _subject(app)
    assert part, f"nothing is shown of {of or 'it'}"
    strips = _strips(app)[part.y : part.bottom]
    rows = [list(_runs(strip.crop(part.x, part.right))) for strip in strips]
    return f"{_text(rows)}\n\n{_styles(rows, _names(app))}\n"


def _subject(app: App[Any]) -> Region:
    screen = app.screen
    if isinstance(screen, ModalScreen):
        parts = [child for child in screen.children if not isinstance(child, Tooltip | ToastRack)]
        return _around(parts, screen)
    bar = sum(bar.region.height for bar in screen.query(TopBar))
    return screen.region.shrink((bar, 0, 0, 0))


def _around(parts: list[Widget], screen: Screen[Any]) -> Region:
    shown = [part.region for part in parts if part.display]
    return Region.from_union(shown).intersection(screen.region)


def _strips(app: App[Any]) -> list[Strip]:
    behind = app._background_screens
    update = app.screen._compositor.render_update(full=True, screen_stack=behind)
    return [Strip.join(row) for row in update.strips]


def _text(rows: list[list[Run]]) -> str:
    return "\n".join("".join(run.text for run in row).rstrip() for row in rows)


def _runs(strip: Strip) -> Iterator[Run]:
    """The runs of a row; empty segments are left out."""
    column = 0
    segments = (segment for segment in strip if segment.text)
    for style, alike in groupby(segments, key=lambda segment: _described(segment.style)):
        text = "".join(segment.text for segment in alike)
        yield Run(column, text, style)
        column += cell_len(text)


@lru_cache(10_000)
def _described(style: Style | None) -> str:
    if style is None:
        return "none"
    effects = "".join(f" {effect}" for effect in _EFFECTS if getattr(style, effect))
    return f"{_hex(style.color)} on {_hex(style.bgcolor)}{effects}"


def _hex(color: Any) -> str:
    return Color.from_rich_color(color).hex6.lower() if color is not None else "none"


def _names(app: App[Any]) -> list[tuple[Color, str]]:
    """The colours of the theme in use, and what it calls them."""
    variables = app.theme_variables
    named = []
    for name in (*_FIRST, *sorted(variables.keys() - set(_FIRST))):
        with suppress(ColorParseError):
            named.append((Color.parse(variables[name]), name))
    return named


def _named(style: str, names: list[tuple[Color, str]]) -> str:
    """A style by the names of its colours; one that is mixed has none."""
    return " ".join(
        next((name for color, name in names if _is_near(color, Color.parse(word))), word)
        if word.startswith("#")
        else word
        for word in style.split(" ")
    )


def _is_near(one: Color, other: Color) -> bool:
    """Whether two colours are the same but for the rounding where one is laid over another."""
    return all(abs(a - b) <= 1 for a, b in zip(one.rgb, other.rgb, strict=True))


def _styles(rows: list[list[Run]], names: list[tuple[Color, str]]) -> str:
    letters: dict[str, str] = {}
    lines = []
    for row in rows:
        marks = []
        for style, alike in groupby(row, key=lambda run: _named(run.style, names)):
            letter = letters.setdefault(style, _LETTERS[len(letters)])
            marks.append(f"{letter}{sum(cell_len(run.text) for run in alike)}")
        lines.append(" ".join(marks))
    counted = [(line, len(list(alike))) for line, alike in groupby(lines)]
    maps = [f"{line}  x{count}" if count > 1 else line for line, count in counted]
    return "\n".join([*maps, "", *(f"{letter}  {style}" for style, letter in letters.items())])


def _faults(app: App[Any], y: int, row: list[Run]) -> Iterator[str]:
    width = sum(cell_len(run.text) for run in row)
    if width != app.size.width:
        yield f"row {y} is {width} cells wide, not {app.size.width}"
    for run in row:
        acting = sorted({ascii(c) for c in run.text if _acts(c)})
        if acting:
            yield f"row {y} holds {acting}"
        found = _contrast(run.style)
        if found < LEAST_CONTRAST and any(map(_is_text, run.text)):
            column = run.column + len(run.text) - len(run.text.lstrip())
            if not _is_out_of_use(app, column, y):
                said = run.text.strip()[:40]
                yield f"row {y}: {said!r} ({run.style}) has a contrast of {found:.2f}"


def _acts(character: str) -> bool:
    """Whether a terminal does something at it in the place of showing it."""
    return (
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or "\u202a" <= character <= "\u202e"
        or "\u2066" <= character <= "\u2069"
    )


def _is_text(character: str) -> bool:
    """Whether it is read: lines, blocks and blanks are not."""
    return not character.isspace() and not "\u2500" <= character <= "\u259f"


@lru_cache(10_000)
def _contrast(style: str) -> float:
    ink, _, ground = style.split(" ")[:3]
    if "none" in (ink, ground):
        return 0.0
    return contrast(Color.parse(ink), Color.parse(ground))


def contrast(one: Color, other: Color) -> float:
    """The contrast of two colours, from 1 to 21, as WCAG 2 defines it."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in color.normalized
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _is_out_of_use(app: App[Any], x: int, y: int) -> bool:
    """Whether it cannot be used now: what is disabled, or lies behind a dialogue."""
    widget, _ = app.screen.get_widget_at(x, y)
    return widget.is_disabled or (widget is app.screen and isinstance(widget, ModalScreen))
