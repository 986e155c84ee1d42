"""The two themes; a test holds every pair of text and ground to a contrast of 4.5 or more."""

from textual.theme import Theme

# Textual's own are too faint to be read: what is quiet here is quiet, and legible.
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
"""By the name that the settings and the memory give them."""
