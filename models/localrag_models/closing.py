"""What models in use have in common: one caller at a time, and an end."""

import threading
from abc import ABC, abstractmethod
from typing import Self

from localrag_models.errors import ModelError


class Closing(ABC):
    """A model that is used under a lock until it is closed.

    Attributes:
        id: names model and weights.
    """

    def __init__(self, id: str) -> None:  # noqa: A002
        self.id = id
        self._lock = threading.RLock()
        self._closed = False

    @abstractmethod
    def _release(self) -> None:
        """Let go of memory and connections."""

    def close(self) -> None:
        """Let go of memory and connections; calling it twice does no harm."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _demand_open(self) -> None:
        if self._closed:
            raise ModelError(f"{self.id} has been closed.", "Open it again.")
