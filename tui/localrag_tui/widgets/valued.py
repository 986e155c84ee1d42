"""Options of a list that know what they stand for."""

from typing import Generic, TypeVar

from textual.visual import VisualType
from textual.widgets.option_list import Option

T = TypeVar("T")


class Valued(Option, Generic[T]):
    """An option and what it stands for.

    A message about an option may be read after the list was filled anew: its number is that of
    another one by then, what it carries is not.

    Attributes:
        value: what it stands for.
    """

    def __init__(self, prompt: VisualType, value: T) -> None:
        super().__init__(prompt)
        self.value = value
