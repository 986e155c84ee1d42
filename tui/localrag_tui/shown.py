"""Text from elsewhere as it may be shown: never as markup, never acting on a terminal."""

import re

from textual.content import Content

from localrag.text.harmless import cut, harmless, one_line

__all__ = ["content", "cut", "flat", "harmless", "one_line"]


_BREAKS = re.compile(r"[ \t]*[\r\n]\s*")


def content(text: str, style: str = "") -> Content:
    """Make text harmless and give it one style; brackets in it stay brackets."""
    return Content.styled(harmless(text), style)


def flat(text: str) -> str:
    """Text of several lines as one, harmless: a blank stands where it was broken."""
    return one_line(_BREAKS.sub(" ", text.strip()))
