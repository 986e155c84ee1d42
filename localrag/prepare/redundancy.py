"""How many of the synthetic questions ask the same: clusters of their vectors (PR3).

Two questions belong together where their cosine reaches a threshold, and so do those that a chain
of such pairs joins (single linkage, cut at the threshold); what is said once more than once is
redundant. An embedder that gives all texts high cosines wants a higher threshold: see
`localrag calibrate`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from localrag.errors import IndexUnusable, to_install
from localrag.language import N_

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALIKE = 0.95
"""The cosine from which questions ask the same, where nothing else is said."""
MOST = 10_000
"""Questions that are compared, for each is compared with each; of more, these many are drawn."""

# Rows of the matrix of cosines in memory at a time.
_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Redundancy:
    """How questions fall into clusters.

    Attributes:
        questions: that were compared.
        clusters: that they fall into.
        largest: questions of the largest cluster.
        threshold: the cosine from which two are one.
    """

    questions: int
    clusters: int
    largest: int
    threshold: float

    @property
    def share(self) -> float:
        """The share of the questions that ask what another one asks already."""
        return 1 - self.clusters / self.questions if self.questions else 0.0


def redundancy(vectors: "NDArray[np.float32]", threshold: float = ALIKE) -> Redundancy:
    """Cluster the vectors of questions.

    Args:
        vectors: of length 1, shape ``(n, d)``.
        threshold: the cosine from which two are one.

    Raises:
        IndexUnusable: SciPy is not installed.
    """
    import numpy as np

    try:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components
    except ImportError as error:
        raise IndexUnusable(
            N_("To compare questions, {package} is needed."),
            to_install("dense"),
            package="scipy",
        ) from error
    if len(vectors) > MOST:
        vectors = vectors[np.random.default_rng(0).choice(len(vectors), MOST, replace=False)]
    count = len(vectors)
    ends: list[NDArray[np.int64]] = [np.empty((0, 2), np.int64)]
    for start in range(0, count, _BLOCK):
        near = np.argwhere(vectors[start : start + _BLOCK] @ vectors.T >= threshold)
        near[:, 0] += start
        ends.append(near)
    one, other = np.concatenate(ends).T
    linked = coo_array((np.ones(len(one), np.bool_), (one, other)), shape=(count, count))
    clusters, of_question = connected_components(linked, directed=False)
    sizes = np.bincount(of_question, minlength=1)
    return Redundancy(count, int(clusters), int(sizes.max()) if count else 0, threshold)
