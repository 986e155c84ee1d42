"""A list in which colours keep their meaning under the cursor."""

from typing import ClassVar

from textual.widgets import OptionList


class Listing(OptionList):
    """An option list without a frame, its cursor a ground and not a colour of the text."""

    DEFAULT_CSS: ClassVar[str] = """
    Listing {
        border: none;
        padding: 0;
        background: $surface;
        &:focus { border: none; background-tint: transparent; }
        & > .option-list--option-highlighted,
        &:focus > .option-list--option-highlighted {
            color: $foreground;
            background: $panel;
            text-style: none;
        }
        &:focus > .option-list--option-highlighted { background: $primary 22%; }
        & > .option-list--option-hover { background: $panel; }
        & > .option-list--option-disabled { color: $foreground; }
    }
    """
