"""Text from elsewhere as it may be shown: never as markup, never acting on a terminal."""

import re

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from localrag.harmless import harmless, one_line

__all__ = ["content", "cut", "flat", "harmless", "one_line"]


_BREAKS = re.compile(r"[ \t]*[\r\n]\s*")


def content(text: str, style: str = "") -> Content:
    """Make text harmless and give it one style; brackets in it stay brackets."""
    return Content.styled(harmless(text), style)


def flat(text: str) -> str:
    """Text of several lines as one, harmless: a blank stands where it was broken."""
    return one_line(_BREAKS.sub(" ", text.strip()))


def cut(text: str, cells: int) -> str:
    """A text in at most `cells` cells of a terminal; what is left out at its end is marked."""
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, cells - 1).rstrip() + "…" if cells > 0 else ""
