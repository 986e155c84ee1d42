"""The fitted weights of the signs, and for the questions they were fitted on, others.

A question that was in the training data is weighed by what was fitted without it (the fold of a
cross-validation that held it out). So a figure on these questions is one on unseen questions, and
nobody who evaluates has to know which they are.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from localrag.methods.seen import mark

HELD_OUT = "cross-validated: weights fitted without this question"


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each sign counts; fitted by ``scripts/train_statute_lexical.py``.

    Attributes:
        statements: for `localrag.methods.agreement.statements.SIGNS`.
        citations: for `localrag.methods.agreement.citations.SIGNS`.
    """

    statements: Mapping[str, float]
    citations: Mapping[str, float]


class Fitted(NamedTuple):
    """All weights that the package carries.

    Attributes:
        everything: fitted on all training questions.
        without: by the mark of a training question, what was fitted without it.
    """

    everything: Weights
    without: Mapping[str, Weights]


@cache
def fitted() -> Fitted:
    """The weights of the package, with their provenance in ``weights.toml``."""
    text = files("localrag.methods.agreement").joinpath("weights.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    return Fitted(
        _weights(read),
        {question: _weights(fold) for fold in read["folds"] for question in fold["questions"]},
    )


def is_held_out(question: str, options: Sequence[str]) -> bool:
    """Whether a question was in the training data, so that other weights are taken for it."""
    return mark(question, options) in fitted().without


def weights_for(question: str, options: Sequence[str]) -> Weights:
    """The weights for a question, which were fitted without it."""
    everything, without = fitted()
    return without.get(mark(question, options), everything)


def _weights(read: Mapping[str, Any]) -> Weights:
    return Weights(read["statements"], read["citations"])
