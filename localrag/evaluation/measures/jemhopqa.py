"""The measures of JEMHopQA: answers and derivations against those of its authors.

Source: Ishii, Inoue, Suzuki and Sekine, "JEMHopQA: Dataset for Japanese Explainable Multi-Hop
Question Answering", LREC-COLING 2024, section 5; the script evaluate.py of aiishii/JEMHopQA.
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
from localrag.text.facts import Fact, FactKind

if TYPE_CHECKING:
    import numpy as np


def opened(synonyms: Sequence[Path] = ()) -> Measure:
    """The measure with what is installed.

    Args:
        synonyms: dictionaries for the similarity, as `read_synonyms` takes them.

    Raises:
        InputError: one of them cannot be read.
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
    """The figures of one answer, 0 to 1 each.

    Args:
        answer: its text; "" for none, which scores 0.
        derivation: the triples it was derived from, in any order.
        question: with the right ones.
        similarity: None where it cannot be made.

    Returns:
        ``em`` and ``char_f1`` of the answer; with a similarity also ``similarity`` of the answer,
        and what `agreement` says of the derivation.
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
    """Whether an answer and its derivation are right, by comparison alone.

    The answer is right if it is the right one after `folded`; there is none if nothing is left of
    it. The derivation is right if for each right triple and each of its objects it has a triple
    with the same subject and object after `folded`. What it has besides does not make it wrong, and
    predicates are not compared, for there are many words for one: the published rules leave both
    to a judge. What is only more detailed, or told in another notation, is wrong here: shares of
    right ones are lower bounds.

    The rule is localrag's own; the verdicts are those of the published study of staged RAG.
    """
    if not folded(answer):
        return Verdict.NA
    return Verdict.of(
        answer=folded(answer) == folded(question.answer),
        derivation=_links(question.derivation) <= _links(derivation),
    )


def _links(derivation: Sequence[Triple]) -> set[tuple[str, str]]:
    return {(folded(subject), folded(one)) for subject, _, one in singles(derivation)}


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
