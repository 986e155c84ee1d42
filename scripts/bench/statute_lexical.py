"""Accuracy of statute-lexical on lawqa/train.jsonl without a model, and its certainty.

Nested cross-validation: signs, weights and penalty come from the other folds, and questions with a
shared context or gold provision are in one fold. Intervals are bootstrapped over these groups. Each
sign has a reason in law or language (`statements.SIGNS`, `citations.SIGNS`), written before it was
measured; but eight sets of signs were compared on these questions. ``--embedder`` adds the
similarity of an option to its nearest provision as a sign.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from bench.corpora import open_model
from bench.options import parser
from train_statute_lexical import (
    EVIDENCE,
    FOLDS,
    GOLD,
    KINDS,
    REPEATS,
    Examples,
    OptionsExample,
    Validation,
    cross_validated,
    examples,
    fit_all,
)

from localrag.methods.agreement.evidence import evidence_for, ngrams
from localrag.methods.polarity import Polarity, polarity_of
from localrag_models.embedding import Embedder

_DRAWS = 10_000
_LENGTHS = (2, 3)
_SURE = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def main() -> None:
    """Print the accuracy, the curve of coverage, the baselines and the groups."""
    arguments = parser(__doc__, work=True, embedder=True).parse_args()
    work = arguments.work.resolve()
    observed = examples(arguments.data, work)
    questions = observed[GOLD]
    groups = [question.group for question in questions]
    print(
        f"n = {len(questions)} questions in {len(set(groups))} groups, {FOLDS} folds {REPEATS} "
        "times, signs and penalty chosen inside the folds"
    )
    validated = cross_validated(observed)
    _print_accuracy("signs of the words alone", validated, groups)
    if arguments.embedder:
        with open_model(work, arguments.embedder) as embedder:
            nearer = {kind: list(with_meaning(observed[kind], embedder)) for kind in EVIDENCE}
        _print_accuracy(f"and {arguments.embedder}", cross_validated(nearer), groups)
    print("\nsure from    answered    right of those")
    for kind in EVIDENCE:
        right, share = validated.right[kind], validated.share[kind]
        for sure in _SURE:
            held = share >= sure
            if held.any():
                print(
                    f"{kind:<12} {sure:.1f}    {held.mean():>4.0%} (n = {held.sum(0).mean():.0f})"
                    f"    {interval(right, groups, held)}"
                )
    print("\nbaselines")
    for name, scores in baselines(observed).items():
        print(f"{name:<66}{interval(scores, groups)}")
    print(f"\nby group ({' and '.join(EVIDENCE)})")
    for name, members in grouped(questions).items():
        held = np.isin(np.arange(len(questions)), members)[:, None] & np.ones(REPEATS, bool)
        rates = (interval(validated.right[kind], groups, held) for kind in EVIDENCE)
        print(f"{name:<24}n = {len(members):<4}{'   '.join(rates)}")


def _print_accuracy(name: str, validated: Validation, groups: Sequence[str]) -> None:
    print(f"\n{name}")
    for kind in EVIDENCE:
        right = validated.right[kind]
        spread = right.mean(0)
        print(
            f"{kind:<12}{interval(right, groups)}  "
            f"by repetition {spread.min():.2f} to {spread.max():.2f}"
        )
    for kind in KINDS:
        chosen = Counter(name for fit in validated.fits for name in fit.signs[kind])
        told = (f"{name} {count / len(validated.fits):.0%}" for name, count in chosen.most_common())
        print(f"signs of {kind} chosen in: {', '.join(told)}")


def with_meaning(asked: Sequence[OptionsExample], embedder: Embedder) -> Iterator[OptionsExample]:
    """The questions with one sign more of options that say something.

    It is the cosine of the option and the provision nearest to it in meaning.
    """
    for one in asked:
        provisions = evidence_for(one.question.query.text, one.options, one.provisions)
        if one.kind != "statements" or not provisions:
            yield one
            continue
        texts = ["\n".join((*each.provision.above, each.provision.text)) for each in provisions]
        near = embedder.embed_queries(one.options) @ embedder.embed_passages(texts).T
        yield replace(
            one,
            signs=[
                replace(signs, values={**signs.values, "meaning": float(nearest)})
                for signs, nearest in zip(one.signs, near.max(1), strict=True)
            ],
        )


def interval(scores: np.ndarray, groups: Sequence[str], held: np.ndarray | None = None) -> str:
    """The mean with a 95 % interval, bootstrapped over groups of questions.

    Args:
        scores: questions × repeats.
        groups: of the questions.
        held: which of the scores count, of their shape; all without it.
    """
    counts = np.ones(scores.shape) if held is None else held.astype(float)
    places = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    of = np.array([places[group] for group in groups])
    sums = np.bincount(of, (scores * counts).sum(1))
    sizes = np.bincount(of, counts.sum(1))
    drawn = np.random.default_rng(0).integers(0, len(places), (_DRAWS, len(places)))
    drawn = drawn[sizes[drawn].sum(1) > 0]
    low, high = np.percentile(sums[drawn].sum(1) / sizes[drawn].sum(1), [2.5, 97.5])
    return f"{sums.sum() / sizes.sum():.3f} [{low:.3f}, {high:.3f}]"


def baselines(observed: Examples) -> dict[str, np.ndarray]:
    """Accuracy on each question, of shape questions × 1."""
    found = {"always c": [float(one.answer == 2) for one in observed[GOLD]]}
    for size in _LENGTHS:
        found[f"{size}-gram match with the gold context, turned by polarity"] = [
            _matches(one, size) for one in observed[GOLD]
        ]
    weights = fit_all([one for kind in EVIDENCE for one in observed[kind]]).weights
    for kind in EVIDENCE:
        found[f"{kind}: asked of what was fitted on the same questions"] = [
            float(one.answered(weights)[0]) for one in observed[kind]
        ]
    return {name: np.array(scores)[:, None] for name, scores in found.items()}


def _matches(example: OptionsExample, size: int) -> float:
    """Whether the option with the greatest share of its n-grams in the context is right.

    For deviating options it is the smallest share.
    """
    context = ngrams(example.question.context, size)
    turn = 1 if polarity_of(example.question.query.text) is Polarity.AGREES else -1
    shares = [
        turn * len(ngrams(option, size) & context) / (len(ngrams(option, size)) or 1)
        for option in example.options
    ]
    best = [i for i, share in enumerate(shares) if share == max(shares)]
    return float(example.answer in best) / len(best)


def grouped(questions: Sequence[OptionsExample]) -> Mapping[str, list[int]]:
    """Indices of the questions by law, kind and polarity."""
    names: Sequence[Callable[[OptionsExample], str]] = (
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
