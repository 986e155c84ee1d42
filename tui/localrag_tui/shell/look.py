"""Themes, style sheets, and the settings needed for the first paint.

A test holds every pair of text and background to a contrast of 4.5 or more. Validating the
settings takes a fifth of the time of the first paint: nothing here imports pydantic.
"""

import json
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import NamedTuple

from textual.theme import Theme

from localrag.corpus.workspace import HasSettings, collect

# Textual's own is too faint to read.
_QUIET = {"text-disabled": "auto 60%"}

DARK = Theme(
    name="localrag-dark",
    dark=True,
    primary="#7aa2f7",
    secondary="#9ece6a",
    accent="#e0af68",
    foreground="#d5d9e8",
    background="#16181f",
    surface="#1d2029",
    panel="#272b37",
    success="#9ece6a",
    warning="#e0af68",
    error="#f78494",
    variables={
        **_QUIET,
        "foreground-muted": "#a2a8ba",
        "foreground-disabled": "#a2a8ba",
        "footer-description-foreground": "#a2a8ba",
        "block-cursor-blurred-background": "#2b344c",
        "block-hover-background": "#2b3040",
        "border-blurred": "#3a4050",
        "scrollbar": "#3f4759",
        "scrollbar-hover": "#566078",
        "scrollbar-active": "#7aa2f7",
        "scrollbar-background": "#1d2029",
        "scrollbar-background-hover": "#1d2029",
        "scrollbar-background-active": "#1d2029",
        "scrollbar-corner-color": "#1d2029",
        "input-selection-background": "#35487a",
        "screen-selection-background": "#35487a",
    },
)
LIGHT = Theme(
    name="localrag-light",
    dark=False,
    primary="#1f4fa3",
    secondary="#2f6b1e",
    accent="#8a4b00",
    foreground="#1c1f26",
    background="#fbfaf7",
    surface="#f2f0ea",
    panel="#e6e3da",
    success="#2f6b1e",
    warning="#8a4b00",
    error="#a8182d",
    variables={
        **_QUIET,
        "foreground-muted": "#50545e",
        "foreground-disabled": "#50545e",
        "footer-description-foreground": "#50545e",
        "block-cursor-blurred-background": "#d3dcee",
        "block-hover-background": "#e4e4e2",
        "border-blurred": "#c9c5b9",
        "scrollbar": "#bdb9ad",
        "scrollbar-hover": "#9c988c",
        "scrollbar-active": "#1f4fa3",
        "scrollbar-background": "#f2f0ea",
        "scrollbar-background-hover": "#f2f0ea",
        "scrollbar-background-active": "#f2f0ea",
        "scrollbar-corner-color": "#f2f0ea",
        "input-selection-background": "#bcd0f5",
        "screen-selection-background": "#bcd0f5",
    },
)
THEMES = {"dark": DARK, "light": LIGHT}
"""By name in the settings."""


_STYLES = Path(__file__).parents[1] / "styles"
SHEETS = (
    "bench",
    "ask",
    "parts",
    "answer",
    "source",
    "dialogues",
    "read",
    "search",
    "runs",
    "models",
    "check",
)
"""The style sheets; of two rules with equal weight the later one wins."""


def sheets(*names: str) -> list[str | PurePath]:
    """The paths of style sheets, for `CSS_PATH`."""
    return [_STYLES / f"{name}.tcss" for name in names]


class Look(NamedTuple):
    """The settings needed for the first paint."""

    language: str  # language, theme: of the settings, else the chosen ones; "" if unknown
    theme: str
    mode: str  # the last screen; "" if unknown
    keys: Mapping[str, str]


def look(workspace: HasSettings, overrides: Mapping[str, object], choices: Path) -> Look:
    """Read the settings for the first paint, without unreadable parts. Raises `ConfigError`."""
    given = {key: value for key, (value, _) in collect(workspace, overrides).items()}
    chosen = _read(choices)
    keys = given.get("tui.keys")

    def of(name: str) -> str:
        setting = name if name == "language" else f"tui.{name}"
        said, remembered = given.get(setting), chosen.get(name)
        known = said if said not in (None, "auto") else remembered
        return known if isinstance(known, str) else ""

    return Look(
        of("language"), of("theme"), of("mode"), _texts(keys) if isinstance(keys, dict) else {}
    )


def _texts(table: Mapping[object, object]) -> dict[str, str]:
    return {
        name: value
        for name, value in table.items()
        if isinstance(name, str) and isinstance(value, str)
    }


def _read(path: Path) -> Mapping[str, object]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
