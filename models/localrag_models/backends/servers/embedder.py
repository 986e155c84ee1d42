"""The common part of embedders on servers."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from localrag_models.backends.servers.estimates import CUT, lower_bound, upper_bound
from localrag_models.backends.servers.http import Retry, retrying
from localrag_models.embedding import Prefixes, WindowedEmbedder, split
from localrag_models.errors import N_, ContextExceeded, WrongKind
from localrag_models.families import Pooling

if TYPE_CHECKING:
    from localrag_models.embedding import Vectors

LARGEST_INPUT = 2048
"""Servers read an input in one batch: with more tokens some cut it, some crash."""

_SPECIAL_TOKENS = 2
_WINDOWS_AT_ONCE = 32


class ServerEmbedder(WindowedEmbedder):
    """An embedder behind a server; fulfils `localrag_models.embedding.Embedder`.

    Tokens are estimated, so windows fill three quarters of the server's input. A window that is too
    long for the server is split in two, never cut.
    """

    def __init__(
        self,
        id: str,  # noqa: A002 - the name of the contract
        dimension: int,
        max_tokens: int,
        prefixes: Prefixes,
        on_retry: Callable[[Retry], None],
    ) -> None:
        super().__init__(id, dimension, max_tokens, prefixes)
        self._on_retry = on_retry

    @abstractmethod
    def _ask(self, windows: Sequence[str]) -> "Vectors":
        """Ask the server for the vectors of windows of one kind, in order and of any length."""

    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        return [upper_bound(text) + _SPECIAL_TOKENS for text in texts]

    def _encode(self, windows: Sequence[str], _: Sequence[int]) -> "Vectors":
        import numpy as np

        rows = [
            self._encode_some(windows[start : start + _WINDOWS_AT_ONCE])
            for start in range(0, len(windows), _WINDOWS_AT_ONCE)
        ]
        return np.concatenate(rows) if rows else np.empty((0, self.dimension), np.float32)

    def _encode_some(self, windows: Sequence[str]) -> "Vectors":
        import numpy as np

        try:
            return retrying(
                lambda: self._ask(windows), allowed=lambda: True, on_retry=self._on_retry
            )
        except ContextExceeded:
            if len(windows) > 1:
                return np.concatenate([self._encode_some([window]) for window in windows])
            return self._encode_in_parts(windows[0])

    def _encode_in_parts(self, window: str) -> "Vectors":
        """The mean of both halves of a window with too low an estimate."""
        import numpy as np

        both = (self.prefixes.query, self.prefixes.passage)
        prefix = next((each for each in both if each and window.startswith(each)), "")
        text = window.removeprefix(prefix)
        parts = split(text, len, max(len(text) // 2, 1))
        if len(parts) == 1:
            raise ContextExceeded(
                N_("{model} takes no input as short as {text!r}."),
                N_("Use another embedder."),
                needed=len(window),
                available=0,
                model=self.id,
                text=window,
            )
        vectors = self._unit(np.concatenate([self._encode_some([prefix + part]) for part in parts]))
        weights = np.asarray([len(part) for part in parts], np.float32)
        return np.average(vectors, axis=0, weights=weights)[np.newaxis].astype(np.float32)


def demand_whole(windows: Sequence[str], read: int, model: str, cure: str) -> None:
    """Make sure that a server can have read all of its input.

    `read` is the number of tokens it says it read, 0 if unknown; `cure` is for servers that cut.

    Raises:
        ContextExceeded: it has read fewer tokens than the windows have.
    """
    least = sum(map(lower_bound, windows))
    if 0 < read < least:
        raise ContextExceeded(CUT, cure, needed=least, available=read, model=model, least=least)


def demand_pooling(model: str, server: str, said: Pooling | None, trained: Pooling | None) -> None:
    """Make sure of the pooling of a server: the one of the training.

    None for either is unknown.

    Raises:
        WrongKind: it pools them in another way.
    """
    if said and trained and said != trained:
        raise WrongKind(
            N_("{server} pools the vectors of {model!r} by {said}; its training used {trained}."),
            N_("Start the server with this pooling, for example: llama-server --pooling {trained}"),
            server=server,
            model=model,
            said=said,
            trained=trained,
        )
