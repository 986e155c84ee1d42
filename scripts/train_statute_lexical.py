"""Fits the weights of statute-lexical on lawqa/train.jsonl; writes them with their provenance.

A conditional logit over the options of a question, McFadden 1974, with a ridge penalty and no
weight below zero: every sign is oriented so that more of it speaks for agreement with the law, and
a sign that the data would turn round is left out instead. Both kinds of evidence are used, the
gold contexts and what retrieval finds. Run again on the same data it writes the same file.
"""

import hashlib
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tomli_w
from bench.corpora import law_questions, open_laws
from bench.options import REPOSITORY, parser
from scipy.optimize import minimize

from localrag.evaluation.types import Question, rotated
from localrag.methods.agreement import citations, statements
from localrag.methods.agreement.evidence import LawText, provisions_found, provisions_in
from localrag.methods.agreement.judging import SignWeights, choose, observe, shares, weigh
from localrag.methods.agreement.types import Signs
from localrag.methods.choices import labelled, mark
from localrag.methods.polarity import Polarity, polarity_of
from localrag.retrieval.types import Query

WEIGHTS = REPOSITORY / "localrag" / "methods" / "agreement" / "weights.toml"
GOLD, RETRIEVED = "gold", "retrieved"
EVIDENCE = (GOLD, RETRIEVED)
ORDERS = 4
HITS = 10
FOLDS, REPEATS, INNER_FOLDS = 10, 5, 5
PENALTIES = (1.0, 3.0, 10.0, 30.0, 100.0)
SIGNS = {"statements": statements.SIGNS, "citations": citations.SIGNS}
DIGITS = 4


@dataclass(frozen=True)
class Example:
    """A question in one order of its options, with one kind of evidence, as the signs see it.

    Attributes:
        question: its row of the data set.
        kind: "statements" or "citations".
        options: in this order.
        signs: of each option.
        answer: index of the right option.
    """

    question: Question
    kind: str
    options: tuple[str, ...]
    signs: Sequence[Signs]
    answer: int

    @property
    def group(self) -> str:
        """Questions on the same provisions are never parted into training and test."""
        return self.question.context

    def matrix(self) -> np.ndarray:
        """Signs of each option, turned so that more speaks for being the one wanted."""
        turn = 1 if polarity_of(self.question.query.text) is Polarity.AGREES else -1
        names = SIGNS[self.kind]
        return np.array([[turn * one.values[name] for name in names] for one in self.signs])

    def answered(self, weights: SignWeights) -> tuple[bool, float]:
        """Whether the option chosen with these weights is right, and how probable it was held."""
        agreements = weigh(self.signs, getattr(weights, self.kind))
        probable = shares(self.question.query.text, agreements)
        chosen = choose(self.options, probable)
        return chosen == self.answer, probable[chosen]


class Validation(NamedTuple):
    """What became of every question; both of the shape questions × repeats × orders.

    Attributes:
        right: 1 where the option chosen is right.
        share: how probable the option chosen was held.
    """

    right: np.ndarray
    share: np.ndarray


Examples = Mapping[str, Sequence[Sequence[Example]]]
"""By kind of evidence, for each question its example in every order."""


def main() -> None:
    """Fit, and write the file."""
    arguments = parser(__doc__, work=True).parse_args()
    observed = examples(arguments.data, arguments.work.resolve())
    firsts = [orders[0] for kind in EVIDENCE for orders in observed[kind]]
    weights, penalties = fit_all(firsts)
    accuracy = {kind: cross_validated(observed, EVIDENCE, kind).right.mean() for kind in EVIDENCE}
    lawqa = (arguments.data / "lawqa" / "train.jsonl").read_bytes()
    file: dict[str, Any] = {
        "provenance": {
            "script": "scripts/train_statute_lexical.py",
            "data": "lawqa_jp, lawqa/train.jsonl",
            "sha256": hashlib.sha256(lawqa).hexdigest(),
            "questions": {kind: _count(firsts, kind) // len(EVIDENCE) for kind in SIGNS},
            "evidence": f"the gold context, and {HITS} hits without any model",
            "penalty": penalties,
            "validation": f"{FOLDS} folds by context, {REPEATS} times, penalty chosen inside",
            "accuracy": {kind: round(float(rate), DIGITS) for kind, rate in accuracy.items()},
            "date": date.today().isoformat(),
        },
        **_written(weights),
        "folds": list(_folds(observed)),
    }
    if WEIGHTS.exists():
        before = tomllib.loads(WEIGHTS.read_text(encoding="utf-8"))
        same = file | {"provenance": file["provenance"] | {"date": before["provenance"]["date"]}}
        file = before if same == before else file
    WEIGHTS.write_text(tomli_w.dumps(file), encoding="utf-8")
    print(tomli_w.dumps(file))


def _folds(observed: Examples) -> Iterator[dict[str, object]]:
    """What is fitted without the questions of each fold, and their marks."""
    asked = [orders[0] for orders in observed[GOLD]]
    for held_out in folds([one.group for one in asked], FOLDS, 0):
        others = [
            observed[kind][i][0]
            for kind in EVIDENCE
            for i in range(len(asked))
            if i not in held_out
        ]
        marks = sorted(mark(asked[i].question.query.text, asked[i].options) for i in held_out)
        yield {"questions": marks, **_written(fit_all(others)[0])}


def _written(weights: SignWeights) -> dict[str, object]:
    return {kind: dict(getattr(weights, kind)) for kind in SIGNS}


def examples(data: Path, work: Path) -> Examples:
    """The questions as the signs see them, in four orders of the options."""
    questions = law_questions(data / "lawqa" / "train.jsonl")
    with open_laws(data, work) as retriever:

        def retrieved(_: Question, asked: Query) -> list[LawText]:
            return provisions_found(retriever.store, retriever.search(asked, HITS).hits)

        def gold(question: Question, _: Query) -> list[LawText]:
            return provisions_in(question.context)

        return {
            kind: [list(_orders(question, evidence)) for question in questions]
            for kind, evidence in ((GOLD, gold), (RETRIEVED, retrieved))
        }


def fit_all(training: Sequence[Example]) -> tuple[SignWeights, dict[str, float]]:
    """Weights for both kinds of question, and the penalties that cross-validation chose."""
    fitted, penalties = {}, {}
    for kind in SIGNS:
        of_kind = [example for example in training if example.kind == kind]
        penalties[kind] = max(PENALTIES, key=lambda penalty: _likelihood(of_kind, penalty))
        weights = fit(of_kind, penalties[kind])
        fitted[kind] = dict(zip(SIGNS[kind], weights.round(DIGITS).tolist(), strict=True))
    return SignWeights(**fitted), penalties


def fit(training: Sequence[Example], penalty: float) -> np.ndarray:
    """Weights of one kind of question; the penalty applies to the signs at equal spread."""
    values = np.array([example.matrix() for example in training])
    answers = np.array([example.answer for example in training])
    spread = np.sqrt(((values - values.mean(1, keepdims=True)) ** 2).mean((0, 1)))
    spread[spread == 0] = 1
    scaled, rows = values / spread, np.arange(len(answers))

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = scaled @ weights
        odds = np.exp(scores - scores.max(1, keepdims=True))
        probable = odds / odds.sum(1, keepdims=True)
        gained = scaled[rows, answers] - (probable[:, :, None] * scaled).sum(1)
        value = -np.log(probable[rows, answers]).sum() + penalty * weights @ weights
        return float(value), 2 * penalty * weights - gained.sum(0)

    found = minimize(
        loss,
        np.zeros(scaled.shape[2]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * scaled.shape[2],
    )
    weights: np.ndarray = found.x / spread
    return weights


def cross_validated(observed: Examples, trained_on: Sequence[str], tested_on: str) -> Validation:
    """Answer every question in every repetition and order.

    Weights and penalty come from the other folds alone; no context is in two folds.
    """
    tested = observed[tested_on]
    found = np.zeros((2, len(tested), REPEATS, ORDERS))
    groups = [orders[0].group for orders in tested]
    for repeat in range(REPEATS):
        for held_out in folds(groups, FOLDS, repeat):
            training = [
                observed[kind][i][0]
                for kind in trained_on
                for i in range(len(tested))
                if i not in held_out
            ]
            weights, _ = fit_all(training)
            for i in held_out:
                answered = [example.answered(weights) for example in tested[i]]
                found[:, i, repeat] = np.transpose(answered)
    return Validation(*found)


def folds(groups: Sequence[str], count: int, seed: int) -> Iterator[set[int]]:
    """Indices of each fold; those of one group together."""
    different = sorted(set(groups))
    np.random.default_rng(seed).shuffle(different)
    fold_of = {group: number % count for number, group in enumerate(different)}
    for number in range(min(count, len(different))):
        yield {i for i, group in enumerate(groups) if fold_of[group] == number}


def _likelihood(training: Sequence[Example], penalty: float) -> float:
    total = 0.0
    groups = [example.group for example in training]
    for held_out in folds(groups, INNER_FOLDS, 0):
        weights = fit([one for i, one in enumerate(training) if i not in held_out], penalty)
        for i in held_out:
            scores = training[i].matrix() @ weights
            total += scores[training[i].answer] - np.logaddexp.reduce(scores)
    return float(total)


def _orders(
    question: Question, evidence: Callable[[Question, Query], Sequence[LawText]]
) -> Iterator[Example]:
    right = dict(labelled(question.query.options))[question.answer]
    for order in range(ORDERS):
        asked = rotated(question.query, order)
        kind, signs = observe(asked.text, asked.options, evidence(question, asked))
        yield Example(question, kind, asked.options, signs, asked.options.index(right))


def _count(examples: Sequence[Example], kind: str) -> int:
    return sum(example.kind == kind for example in examples)


if __name__ == "__main__":
    main()
