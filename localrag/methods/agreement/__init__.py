"""How far each option of a question agrees with its provisions, by code alone.

`judge` compares statements, or options naming provisions. Each observation is a sign; more of it
speaks for agreement. A conditional logit has fitted the weights.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp, fsum
from typing import Any, NamedTuple

from localrag.methods.agreement.evidence import LawText, ngrams
from localrag.methods.agreement.signs import (
    OptionJudgement,
    Signs,
    names_provisions,
    signs_of_citations,
    signs_of_statements,
)
from localrag.methods.catalogue import mark
from localrag.methods.polarity import Polarity, polarity_of
from localrag_indexes.analysis.analyzer import split_sentences


@dataclass(frozen=True, slots=True)
class SignWeights:
    """The weight of each sign, fitted by ``scripts/train_statute_lexical.py``."""

    statements: Mapping[str, float]  # for `STATEMENT_SIGNS`
    citations: Mapping[str, float]  # for `CITATION_SIGNS`


class FittedWeights(NamedTuple):
    """All weights of the package."""

    everything: SignWeights  # fitted on all training questions
    # by the mark of a training question, the weights fitted without it
    without: Mapping[str, SignWeights]


@cache
def fitted() -> FittedWeights:
    """The weights of the package; ``weights.toml`` has their provenance."""
    text = files("localrag.methods.agreement").joinpath("weights.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    return FittedWeights(
        _weights(read),
        {question: _weights(fold) for fold in read["folds"] for question in fold["questions"]},
    )


def is_held_out(question: str, options: Sequence[str]) -> bool:
    """Whether a question was in the training data, so that other weights are used."""
    return mark(question, options) in fitted().without


def weights_for(question: str, options: Sequence[str]) -> SignWeights:
    """The weights for a question, fitted without it."""
    everything, without = fitted()
    return without.get(mark(question, options), everything)


def _weights(read: Mapping[str, Any]) -> SignWeights:
    return SignWeights(read["statements"], read["citations"])


# A provision of this length or less is quoted as a whole, with its exception.
_SHORT = 400


def judge(
    question: str,
    options: Sequence[str],
    provisions: Sequence[LawText],
    weights: SignWeights | None = None,
) -> list[OptionJudgement]:
    """How far each option agrees with the provisions, and how probably the question wants it.

    The order of the options makes no difference. Without provisions all options are alike. The
    default weights were fitted without this question.
    """
    kind, signs = observe(question, options, provisions)
    agreements = weigh(signs, getattr(weights or weights_for(question, options), kind))
    return [
        OptionJudgement(
            agreement, share, one.provision, *_quoted(option, one.provision), one.findings
        )
        for option, one, agreement, share in zip(
            options, signs, agreements, shares(question, agreements), strict=True
        )
    ]


def observe(
    question: str, options: Sequence[str], provisions: Sequence[LawText]
) -> tuple[str, list[Signs]]:
    """The signs of each option, and the name of their weights: "statements" or "citations"."""
    if names_provisions(options):
        return "citations", signs_of_citations(question, options, provisions)
    return "statements", signs_of_statements(question, options, provisions)


def weigh(signs: Sequence[Signs], weights: Mapping[str, float]) -> list[float]:
    """How far each option agrees with the law, on an open scale."""
    return [sum(weights[name] * value for name, value in one.values.items()) for one in signs]


def shares(question: str, agreements: Sequence[float]) -> list[float]:
    """The probability that the question wants each option, together 1.

    A softmax; of the opposite values if the question wants the deviating option.
    """
    turn = 1 if polarity_of(question) is Polarity.AGREES else -1
    highest = max(turn * agreement for agreement in agreements)
    odds = [exp(turn * agreement - highest) for agreement in agreements]
    # An exact sum does not depend on the order of the options.
    total = fsum(odds)
    return [odd / total for odd in odds]


def choose(options: Sequence[str], probable: Sequence[float]) -> int:
    """Index of the most probable option; the same one in any order of the options."""
    return max(range(len(options)), key=lambda i: (probable[i], options[i]))


def _quoted(option: str, provision: LawText | None) -> tuple[str, int]:
    """The words of the provision nearest to the option, and where they begin."""
    if provision is None:
        return "", -1
    if len(provision.text) <= _SHORT:
        return provision.text, provision.start
    sought = ngrams(option, 2)
    start, end = max(
        split_sentences(provision.text),
        key=lambda span: len(sought & ngrams(provision.text[slice(*span)], 2)),
    )
    return provision.text[start:end], provision.start + start
