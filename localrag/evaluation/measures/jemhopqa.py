"""Measures of JEMHopQA: answers and derivations.

Source: Ishii, Inoue, Suzuki and Sekine, "JEMHopQA: Dataset for Japanese Explainable Multi-Hop
Question Answering", LREC-COLING 2024, section 5; evaluate.py of aiishii/JEMHopQA.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.corpus.types import Triple
from localrag.evaluation.measures.answers import char_f1, exact, folded
from localrag.evaluation.measures.similarity import (
    EXTRA,
    OFFICIAL_DICTIONARY,
    Similarity,
    installed_dictionary,
    read_synonyms,
)
from localrag.evaluation.types import Measure, Question, Verdict
from localrag.facts import Fact, FactKind

if TYPE_CHECKING:
    import numpy as np


def opened(synonyms: Sequence[Path] = ()) -> Measure:
    """The measure with the installed packages.

    Args:
        synonyms: dictionaries for the similarity (`read_synonyms`).

    Raises:
        InputError: a dictionary cannot be read.
    """
    dictionary = installed_dictionary()
    if dictionary is None:
        note = Fact(FactKind.SIMILARITY_LEFT_OUT, extra=EXTRA)
        return Measure("em", partial(measure, similarity=None), verdict, (note,))
    names = tuple(path.name for path in synonyms)
    made_with = {"dictionary": dictionary.name, "version": dictionary.version}
    notes = [
        Fact(FactKind.SIMILARITY_MADE_WITH, **made_with, synonyms=names)
        if names
        else Fact(FactKind.SIMILARITY_WITHOUT_SYNONYMS, **made_with)
    ]
    if dictionary.name != OFFICIAL_DICTIONARY or not synonyms:
        notes.append(Fact(FactKind.SIMILARITY_UNOFFICIAL, dictionary=OFFICIAL_DICTIONARY))
    similarity = Similarity(dictionary, read_synonyms(synonyms))
    return Measure("em", partial(measure, similarity=similarity), verdict, tuple(notes))


def measure(
    answer: str,
    derivation: Sequence[Triple],
    question: Question,
    similarity: Similarity | None,
) -> Mapping[str, float]:
    """Figures of one answer, 0 to 1 each.

    Args:
        answer: its text; "" scores 0.
        derivation: triples in any order.
        question: with the right ones.
        similarity: None if a package is missing.

    Returns:
        ``em`` and ``char_f1`` of the answer; with a similarity also ``similarity`` of the answer
            and
        `agreement` of the derivation.
    """
    figures = {"em": exact(answer, question.answer), "char_f1": char_f1(answer, question.answer)}
    if similarity is None:
        return figures
    alike = similarity(answer, question.answer) if answer else 0.0
    return {
        **figures,
        "similarity": alike,
        **agreement(derivation, question.derivation, similarity),
    }


def verdict(answer: str, derivation: Sequence[Triple], question: Question) -> Verdict:
    """Whether an answer and its derivation are right, by comparison.

    The answer is right if it is equal after `folded`; NA if nothing is left. The derivation is
    right
    if it has the subject and each object of every right triple after `folded`. Additional triples
    are
    allowed, predicates are ignored. Answers in more detail or another notation count as wrong, so
    shares of right ones are lower bounds.

    The rule is localrag's own.
    """
    if not folded(answer):
        return Verdict.NA
    return Verdict.of(
        answer=folded(answer) == folded(question.answer),
        derivation=_links(question.derivation) <= _links(derivation),
    )


def _links(derivation: Sequence[Triple]) -> set[tuple[str, str]]:
    return {(folded(subject), folded(one)) for subject, _, one in singles(derivation)}


# Compared parts of a triple, by position in (subject, predicate, object).
_ASPECTS = {"entity": (0, 2), "relation": (1,), "full": (0, 1, 2)}

Single = tuple[str, str, str]
"""A triple with one object."""


def singles(derivation: Sequence[Triple]) -> list[Single]:
    """Triples with one object each."""
    return [
        (triple.subject, triple.predicate, one) for triple in derivation for one in triple.objects
    ]


def agreement(
    predicted: Sequence[Triple],
    gold: Sequence[Triple],
    similarity: Callable[[str, str], float],
) -> Mapping[str, float]:
    """Precision, recall and F1 of a derivation, 0 to 1 each.

    The similarity of two triples is the mean over subject and object (``entity``), the predicate
    (``relation``) or all three (``full``). Triples with one object each are aligned one to one with
    the highest sum s. Precision is s over predicted triples, recall s over right ones; 0 without
    any.

    Source: aiishii/JEMHopQA, evaluate.py, after R4C (Inoue et al., 2020, section 3), which finds
    the
    same optimum by a linear programme.

    Args:
        predicted: in any order.
        gold: in any order.
        similarity: of a predicted and a right text.

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
