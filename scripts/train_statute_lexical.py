"""Fit the weights of statute-lexical on lawqa/train.jsonl; writes them with their provenance.

A conditional logit over the options of a question (McFadden 1974), with a ridge penalty and no
negative weight: more of a sign always favours agreement with the law, and a sign of opposite effect
is left out. Signs are added one by one while cross-validation on the training questions improves.
Both kinds of evidence are used, gold contexts and retrieval. Equal data give an equal file.
"""

import hashlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tomli_w
from bench.corpora import law_questions, open_laws
from bench.options import REPOSITORY, parser
from scipy.optimize import minimize

from localrag.evaluation.types import Question
from localrag.methods.agreement import Signs, SignWeights, choose, observe, shares, weigh
from localrag.methods.agreement.evidence import LawText, provisions_found, provisions_in
from localrag.methods.catalogue import labelled, mark
from localrag.methods.polarity import Polarity, polarity_of

WEIGHTS = REPOSITORY / "localrag" / "methods" / "agreement" / "weights.toml"
GOLD, RETRIEVED = "gold", "retrieved"
EVIDENCE = (GOLD, RETRIEVED)
KINDS = ("statements", "citations")
HITS = 10
FOLDS, REPEATS, INNER_FOLDS = 10, 5, 5
PENALTIES = (1.0, 3.0, 10.0, 30.0)
DIGITS = 4


@dataclass(frozen=True)
class OptionsExample:
    """A question with one kind of evidence, as the signs see it.

    Attributes:
        question: its row of the data set.
        group: what questions on the same provisions share; they are never parted into training
            and test.
        kind: one of `KINDS`.
    """

    question: Question
    group: str
    provisions: Sequence[LawText]
    kind: str
    signs: Sequence[Signs]

    @property
    def options(self) -> tuple[str, ...]:
        """In the order of the data set."""
        return self.question.query.options

    @cached_property
    def answer(self) -> int:
        """Index of the right option."""
        return self.options.index(dict(labelled(self.options))[self.question.answer])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the signs."""
        return tuple(self.signs[0].values)

    @cached_property
    def matrix(self) -> np.ndarray:
        """Signs of each option, oriented to favour the wanted one."""
        turn = 1 if polarity_of(self.question.query.text) is Polarity.AGREES else -1
        return turn * np.array([tuple(one.values.values()) for one in self.signs])

    def answered(self, weights: SignWeights) -> tuple[bool, float]:
        """Whether the option chosen with these weights is right, and how probable it was held."""
        agreements = weigh(self.signs, getattr(weights, self.kind))
        probable = shares(self.question.query.text, agreements)
        chosen = choose(self.options, probable)
        return chosen == self.answer, probable[chosen]


class Fit(NamedTuple):
    """A fit on some questions.

    Attributes:
        weights: 0 for signs not chosen.
        signs: chosen ones by kind of question, in order.
    """

    weights: SignWeights
    signs: Mapping[str, Sequence[str]]
    penalties: Mapping[str, float]


class Validation(NamedTuple):
    """Results of every question.

    Attributes:
        right: 1 if the chosen option is right; by kind of evidence, questions × repeats.
        share: probability of the chosen option; of the same shape.
    """

    right: Mapping[str, np.ndarray]
    share: Mapping[str, np.ndarray]
    fits: Sequence[Fit]


Examples = Mapping[str, Sequence[OptionsExample]]
"""By kind of evidence the questions, in the same order."""


def main() -> None:
    """Fit, and write the file."""
    arguments = parser(__doc__, work=True).parse_args()
    observed = examples(arguments.data, arguments.work.resolve())
    everything = fit_all([one for kind in EVIDENCE for one in observed[kind]])
    validated = cross_validated(observed)
    lawqa = (arguments.data / "lawqa" / "train.jsonl").read_bytes()
    file: dict[str, Any] = {
        "provenance": {
            "script": "scripts/train_statute_lexical.py",
            "data": "lawqa_jp, lawqa/train.jsonl",
            "sha256": hashlib.sha256(lawqa).hexdigest(),
            "questions": {kind: sum(one.kind == kind for one in observed[GOLD]) for kind in KINDS},
            "evidence": f"the gold context, and {HITS} hits without any model",
            "penalty": dict(everything.penalties),
            "validation": f"{FOLDS} folds by provision, {REPEATS} times, "
            "signs and penalty chosen inside",
            "accuracy": {
                kind: round(float(validated.right[kind].mean()), DIGITS) for kind in EVIDENCE
            },
            "date": date.today().isoformat(),
        },
        **_written(everything.weights),
        "folds": list(_folds(observed)),
    }
    if WEIGHTS.exists():
        before = tomllib.loads(WEIGHTS.read_text(encoding="utf-8"))
        same = file | {"provenance": file["provenance"] | {"date": before["provenance"]["date"]}}
        file = before if same == before else file
    WEIGHTS.write_text(tomli_w.dumps(file), encoding="utf-8")
    print(tomli_w.dumps(file))


def _folds(observed: Examples) -> Iterator[dict[str, object]]:
    """Fits without the questions of each fold, and their marks."""
    asked = observed[GOLD]
    for held_out in folds([one.group for one in asked], FOLDS, 0):
        marks = sorted(mark(asked[i].question.query.text, asked[i].options) for i in held_out)
        yield {"questions": marks, **_written(fit_all(_others(observed, held_out)).weights)}


def _others(observed: Examples, held_out: set[int]) -> list[OptionsExample]:
    return [one for kind in EVIDENCE for i, one in enumerate(observed[kind]) if i not in held_out]


def _written(weights: SignWeights) -> dict[str, object]:
    return {kind: dict(getattr(weights, kind)) for kind in KINDS}


def examples(data: Path, work: Path) -> Examples:
    """The questions as the signs see them."""
    questions = law_questions(data / "lawqa" / "train.jsonl")
    groups = _groups(questions)

    def example(question: Question, group: str, provisions: Sequence[LawText]) -> OptionsExample:
        asked = question.query
        return OptionsExample(
            question, group, provisions, *observe(asked.text, asked.options, provisions)
        )

    with open_laws(data, work) as retriever:
        return {
            GOLD: [
                example(question, group, provisions_in(question.context))
                for question, group in zip(questions, groups, strict=True)
            ],
            RETRIEVED: [
                example(
                    question,
                    group,
                    provisions_found(retriever.store, retriever.search(question.query, HITS).hits),
                )
                for question, group in zip(questions, groups, strict=True)
            ],
        }


def _groups(questions: Sequence[Question]) -> list[str]:
    """The same for questions that share a context or a gold provision, directly or over others."""
    group_of: dict[object, set[int]] = {}
    for number, question in enumerate(questions):
        joined = {number}
        keys = (question.context, *question.gold)
        for key in keys:
            joined |= group_of.get(key, set())
        for other in joined:
            for key in (questions[other].context, *questions[other].gold):
                group_of[key] = joined
    return [str(min(group_of[question.context])) for question in questions]


def fit_all(training: Sequence[OptionsExample]) -> Fit:
    """Choose signs and penalty by cross-validation among the training questions, and fit."""
    fitted, signs, penalties = {}, {}, {}
    for kind in KINDS:
        of_kind = [example for example in training if example.kind == kind]
        names = of_kind[0].names
        chosen, penalties[kind] = _chosen(of_kind)
        weights = np.zeros(len(names))
        weights[chosen] = fit(of_kind, chosen, penalties[kind])
        fitted[kind] = dict(zip(names, weights.round(DIGITS).tolist(), strict=True))
        signs[kind] = [names[place] for place in chosen]
    return Fit(SignWeights(**fitted), signs, penalties)


def _chosen(training: Sequence[OptionsExample]) -> tuple[list[int], float]:
    """Signs added one by one, and the penalty, that generalise best."""
    tried = [(*_taken_up(training, penalty), penalty) for penalty in PENALTIES]
    _, chosen, penalty = max(tried, key=lambda one: one[0])
    return chosen, penalty


def _taken_up(training: Sequence[OptionsExample], penalty: float) -> tuple[float, list[int]]:
    chosen: list[int] = []
    likelihood = -np.inf
    while left := [i for i in range(len(training[0].names)) if i not in chosen]:
        likelihoods = {i: _likelihood(training, [*chosen, i], penalty) for i in left}
        best = max(left, key=likelihoods.__getitem__)
        if likelihoods[best] <= likelihood:
            break
        likelihood = likelihoods[best]
        chosen.append(best)
    return likelihood, chosen


def fit(training: Sequence[OptionsExample], signs: Sequence[int], penalty: float) -> np.ndarray:
    """Weights of some signs of one kind of question; the penalty is on signs of equal spread."""
    values = np.array([example.matrix for example in training])[:, :, signs]
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


def cross_validated(observed: Examples) -> Validation:
    """Answer every question in every repetition.

    Signs, weights and penalty come from the other folds alone; no provision is in two folds.
    """
    groups = [one.group for one in observed[GOLD]]
    right, share = ({kind: np.zeros((len(groups), REPEATS)) for kind in EVIDENCE} for _ in range(2))
    fits = []
    for repeat in range(REPEATS):
        for held_out in folds(groups, FOLDS, repeat):
            fits.append(fit_all(_others(observed, held_out)))
            for kind in EVIDENCE:
                for i in held_out:
                    right[kind][i, repeat], share[kind][i, repeat] = observed[kind][i].answered(
                        fits[-1].weights
                    )
    return Validation(right, share, fits)


def folds(groups: Sequence[str], count: int, seed: int) -> Iterator[set[int]]:
    """Indices of each fold; groups stay together."""
    different = sorted(set(groups))
    np.random.default_rng(seed).shuffle(different)
    fold_of = {group: number % count for number, group in enumerate(different)}
    for number in range(min(count, len(different))):
        yield {i for i, group in enumerate(groups) if fold_of[group] == number}


def _likelihood(training: Sequence[OptionsExample], signs: Sequence[int], penalty: float) -> float:
    """The logarithm of how probable the answers are, each by what the other folds teach."""
    total = 0.0
    groups = [example.group for example in training]
    for held_out in folds(groups, INNER_FOLDS, 0):
        others = [one for i, one in enumerate(training) if i not in held_out]
        weights = fit(others, signs, penalty)
        for i in held_out:
            scores = training[i].matrix[:, signs] @ weights
            total += scores[training[i].answer] - np.logaddexp.reduce(scores)
    return float(total)


if __name__ == "__main__":
    main()
