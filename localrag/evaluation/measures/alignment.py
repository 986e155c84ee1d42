"""Derivations against the right ones: triples aligned one to one, so that they are most alike."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from localrag.corpus.model import Triple

if TYPE_CHECKING:
    import numpy as np

# What of a triple is compared, and at which places it stands in (subject, predicate, object).
_ASPECTS = {"entity": (0, 2), "relation": (1,), "full": (0, 1, 2)}

Single = tuple[str, str, str]
"""A triple with one object."""


def singles(derivation: Sequence[Triple]) -> list[Single]:
    """The triples with one object each; one without any is none."""
    return [
        (triple.subject, triple.predicate, one) for triple in derivation for one in triple.objects
    ]


def agreement(
    predicted: Sequence[Triple],
    gold: Sequence[Triple],
    similarity: Callable[[str, str], float],
) -> Mapping[str, float]:
    """Precision, recall and F1 of a derivation, 0 to 1 each.

    How alike two triples are is the mean over their parts: subject and object for ``entity``, the
    predicate for ``relation``, all three for ``full``. Predicted and right triples, one object
    each, are aligned one to one so that the sum s of it is greatest. Precision is s over the number
    of predicted triples, recall s over that of right ones; without any they are 0.

    Source: aiishii/JEMHopQA, evaluate.py, after R4C (Inoue et al., 2020, section 3), which finds
    the same optimum by a linear programme.

    Args:
        predicted: in any order.
        gold: in any order.
        similarity: of a predicted text and a right one.

    Returns:
        ``entity_precision``, ``entity_recall``, ``entity_f1``, and the same of ``relation`` and
        ``full``.
    """
    import numpy as np

    mine, theirs = singles(predicted), singles(gold)
    alike = np.zeros((3, len(mine), len(theirs)))
    for row, one in enumerate(mine):
        for column, other in enumerate(theirs):
            alike[:, row, column] = [
                similarity(part, right) for part, right in zip(one, other, strict=True)
            ]
    figures: dict[str, float] = {}
    for name, parts in _ASPECTS.items():
        total = _best(alike[list(parts)].mean(axis=0))
        precision, recall = (total / len(some) if some else 0.0 for some in (mine, theirs))
        f1 = 2 * precision * recall / (precision + recall) if total else 0.0
        figures |= {f"{name}_precision": precision, f"{name}_recall": recall, f"{name}_f1": f1}
    return figures


def _best(alike: "np.ndarray") -> float:
    from scipy.optimize import linear_sum_assignment

    return float(alike[linear_sum_assignment(alike, maximize=True)].sum())
