"""From the name of a law to its id, as the corpus knows it."""

from collections.abc import Callable
from functools import cached_property

from localrag.statutes.names import LawNames


class Laws:
    """The names of the laws of a corpus, read when a name is first looked up.

    Args:
        open_names: gives them; None where there is no corpus.
    """

    def __init__(self, open_names: Callable[[], LawNames | None] = lambda: None) -> None:
        self._open = open_names

    def id_of(self, name: str) -> str:
        """The id of the one law of this name; empty where none bears it, or several do."""
        if self._names is None:
            return ""
        found = self._names.lookup(name)
        return found[0] if len(found) == 1 else ""

    @cached_property
    def _names(self) -> LawNames | None:
        return self._open()
