"""Accuracy of statute-lexical on lawqa/train.jsonl, cross-validated, without any model.

Weights and penalty of a question are fitted on the other folds alone, and no context is in two
folds. Each question is put in four orders of its options. Intervals are bootstrapped over the
contexts, for questions on one context stand or fall together. The signs were chosen with these
questions in view, so that the figures are those of development.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from bench.options import parser
from train_statute_lexical import (
    EVIDENCE,
    FOLDS,
    GOLD,
    ORDERS,
    REPEATS,
    RETRIEVED,
    SIGNS,
    Example,
    cross_validated,
    examples,
)

from localrag.methods.agreement.judging import SignWeights
from localrag.methods.agreement.wording import ngrams
from localrag.methods.polarity import polarity_of

_DRAWS = 10_000
_LENGTHS = (2, 3)
_SHARES = (0.25, 0.35, 0.5, 0.7, 1.0)


def main() -> None:
    """Print the table, the baselines and the groups."""
    arguments = parser(__doc__, work=True).parse_args()
    observed = examples(arguments.data, arguments.work.resolve())
    questions = [orders[0] for orders in observed[GOLD]]
    groups = [question.group for question in questions]
    print(
        f"n = {len(questions)} questions on {len(set(groups))} contexts, {ORDERS} orders of the "
        f"options, {FOLDS} folds {REPEATS} times, penalty chosen inside the folds"
    )
    validated = {}
    print("\ntrained on            tested on    accuracy")
    for trained_on in ((GOLD, RETRIEVED), (GOLD,), (RETRIEVED,)):
        for tested_on in EVIDENCE:
            found = cross_validated(observed, trained_on, tested_on)
            validated[trained_on, tested_on] = found
            spread = found.right.mean(0)
            print(
                f"{' and '.join(trained_on):<22}{tested_on:<13}"
                f"{interval(found.right.mean((1, 2)), groups)}  by repetition "
                f"{spread.mean(1).min():.2f} to {spread.mean(1).max():.2f}, "
                f"by order {spread.mean(0).min():.3f} to {spread.mean(0).max():.3f}"
            )
    print("\nby how probable the option chosen was held (trained on both)")
    for kind in EVIDENCE:
        right, share = validated[EVIDENCE, kind]
        for low, high in pairwise(_SHARES):
            held = (low < share) & (share <= high)
            if not held.any():
                continue
            print(
                f"{kind:<12}{low:.2f} to {high:.2f}: {held.mean():.0%} of the answers, "
                f"{right[held].mean():.3f} right, {share[held].mean():.3f} expected"
            )
    print("\nbaselines, nothing fitted")
    for name, scores in baselines(observed).items():
        print(f"{name:<58}{interval(scores, groups)}")
    print(f"\nby group ({GOLD} and {RETRIEVED}, trained on both)")
    for name, members in grouped(questions).items():
        rates = (
            interval(
                validated[EVIDENCE, kind].right[members].mean((1, 2)), [groups[i] for i in members]
            )
            for kind in EVIDENCE
        )
        print(f"{name:<24}n = {len(members):<4}{'   '.join(rates)}")


def interval(scores: np.ndarray, groups: Sequence[str]) -> str:
    """The mean with a 95 % interval, bootstrapped over groups of questions."""
    places = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    sums, counts = np.zeros(len(places)), np.zeros(len(places))
    for score, group in zip(scores, groups, strict=True):
        sums[places[group]] += score
        counts[places[group]] += 1
    drawn = np.random.default_rng(0).integers(0, len(places), (_DRAWS, len(places)))
    low, high = np.percentile(sums[drawn].sum(1) / counts[drawn].sum(1), [2.5, 97.5])
    return f"{scores.mean():.3f} [{low:.3f}, {high:.3f}]"


def baselines(observed: Mapping[str, Sequence[Sequence[Example]]]) -> dict[str, np.ndarray]:
    """Accuracy on each question, the mean over the orders of its options."""
    always_c = [float(orders[0].answer == 2) for orders in observed[GOLD]]
    found = {"always c, options as published": np.array(always_c)}
    for size in _LENGTHS:
        for turned in (False, True):
            scores = [
                np.mean([_matches(example, size, turned) for example in orders])
                for orders in observed[GOLD]
            ]
            how = "turned by polarity" if turned else "as it is"
            found[f"{size}-gram match with the gold context, {how}"] = np.array(scores)
    for kind in EVIDENCE:
        singles = {
            (statement, citation): np.array(
                [
                    np.mean([one.answered(_only(statement, citation))[0] for one in orders])
                    for orders in observed[kind]
                ]
            )
            for statement in SIGNS["statements"]
            for citation in SIGNS["citations"]
        }
        best = max(singles, key=lambda names: singles[names].mean())
        found[f"best single signs, {kind}: {', '.join(best)}"] = singles[best]
    return found


def _only(statement: str, citation: str) -> SignWeights:
    return SignWeights(
        {name: float(name == statement) for name in SIGNS["statements"]},
        {name: float(name == citation) for name in SIGNS["citations"]},
    )


def _matches(example: Example, size: int, turned: bool) -> float:
    """Whether the option with the greatest share of its n-grams in the context is right."""
    context = ngrams(example.question.context, size)
    shares = [
        len(ngrams(option, size) & context) / (len(ngrams(option, size)) or 1)
        for option in example.options
    ]
    if turned and polarity_of(example.question.query.text) == "deviates":
        shares = [-share for share in shares]
    best = [i for i, share in enumerate(shares) if share == max(shares)]
    return float(example.answer in best) / len(best)


def grouped(questions: Sequence[Example]) -> dict[str, list[int]]:
    """Indices of the questions by law, kind and polarity."""
    names: Sequence[Callable[[Example], str]] = (
        lambda one: one.question.groups["law"],
        lambda one: one.question.groups["kind"],
        lambda one: f"option that {polarity_of(one.question.query.text)}",
    )
    members = defaultdict(list)
    for name in names:
        for i, question in enumerate(questions):
            members[name(question)].append(i)
    return members


if __name__ == "__main__":
    main()
