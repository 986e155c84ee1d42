"""One search: candidates by comparison or by the graph, then keys, each with its best text."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from localrag_indexes.scored import Scored
from localrag_indexes.vectors.graph import Graph
from localrag_indexes.vectors.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Places = NDArray[np.int64]

# Texts looked at for each key wanted, at first, and how many times more where that gave too few
# keys: a long passage has several.
_PER_KEY, _MORE = 2, 4
# Beyond so many texts comparing all of them is as fast as following the graph.
_MOST_BY_GRAPH = 1000
# Share of the vectors from which on it is faster to compare all of them than to gather them.
_SCATTERED = 0.25
# Vectors compared at a time: so few that numpy starts no threads for them. Most of the time goes
# into reading memory, and on a busy machine waiting for threads took ten times as long.
_TOGETHER = 512


@dataclass(frozen=True)
class Search:
    """What is searched, and for what.

    Attributes:
        vectors: shape ``(n, d)``.
        table: of the rows.
        query: shape ``(d,)``.
        rows: which rows pass the filters, None for all.
        places: the places that have such rows, ascending, None for all.
    """

    vectors: "NDArray[np.float32]"
    table: Table
    query: "NDArray[np.float32]"
    rows: "NDArray[np.bool_] | None"
    places: "Places | None"

    @property
    def available(self) -> int:
        """Number of texts that pass the filters."""
        return len(self.vectors if self.places is None else self.places)

    def best(self, k: int, graph: "LabelledGraph | None") -> list[Scored]:
        """Find the best `k` keys, by the graph where one is given."""
        n = _PER_KEY * k
        while True:
            found = None
            if graph is not None and n <= min(_MOST_BY_GRAPH, self.available):
                found = graph.nearest(self.query, n, self.places)
            if found is None:
                found = self._nearest(n)
            hits = self._hits(found)
            if len(hits) >= k or n >= self.available:
                return hits[:k]
            n *= _MORE

    def _nearest(self, n: int) -> "Places":
        """Find the `n` most similar texts, and those as similar as the last of them."""
        import numpy as np

        similar = self._similarities
        chosen = np.arange(len(similar))
        if n < len(similar):
            chosen = np.flatnonzero(similar >= np.partition(similar, -n)[-n])
        return chosen if self.places is None else self.places[chosen]

    @cached_property
    def _similarities(self) -> "NDArray[np.float32]":
        """Of every text that passes, in the order of the places."""
        if self.places is None:
            return self._compared(None)
        if len(self.places) > _SCATTERED * len(self.vectors):
            return self._compared(None)[self.places]
        return self._compared(self.places)

    def _compared(self, places: "Places | None") -> "NDArray[np.float32]":
        """Similarities of the texts at some places, of all by default."""
        import numpy as np

        found = np.empty(len(self.vectors if places is None else places), np.float32)
        for start in range(0, len(found), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            vectors = self.vectors[part if places is None else places[part]]
            np.matmul(vectors, self.query, out=found[part])
        return found

    def _hits(self, places: "Places") -> list[Scored]:
        """Give each key that has a text at one of the places the score of its best."""
        import numpy as np

        # Whichever way the texts were found, the score of each is the same number. (The product of
        # a matrix would start threads, and wait for them, for these few.)
        similar = np.einsum("nd,d->n", self.vectors[places], self.query, dtype=np.float64)
        starts, ends = self.table.starts[places], self.table.starts[places + 1]
        sizes = ends - starts
        rows = np.arange(sizes.sum()) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
        scores = np.repeat(similar.astype(np.float32), sizes)
        if self.rows is not None:
            passing = self.rows[rows]
            rows, scores = rows[passing], scores[passing]
        keys = self.table.keys[rows]
        order = np.lexsort((keys, -scores))
        _, first = np.unique(keys[order], return_index=True)
        best = order[np.sort(first)]
        return [
            Scored(key, score)
            for key, score in zip(keys[best].tolist(), scores[best].tolist(), strict=True)
        ]


class LabelledGraph:
    """A graph that speaks of places.

    Args:
        graph: knows vectors by their labels.
        labels: of each place, shape ``(n,)``.
    """

    def __init__(self, graph: Graph, labels: "NDArray[np.int64]") -> None:
        import numpy as np

        self._graph = graph
        self._labels = labels
        self._places = np.full(graph.count, -1, np.int64)
        self._places[labels] = np.arange(len(labels))

    def nearest(
        self, query: "NDArray[np.float32]", n: int, places: "Places | None"
    ) -> "Places | None":
        """Find `n` of the most similar texts among some places, all by default.

        Returns:
            None where the graph did not lead to as many.
        """
        import numpy as np

        admitted = None
        if places is not None:
            marks = np.zeros(self._graph.count, np.uint8)
            marks[self._labels[places]] = 1
            admitted = marks.tobytes()
        labels = self._graph.nearest(query, n, admitted)
        return None if labels is None else self._places[labels]
