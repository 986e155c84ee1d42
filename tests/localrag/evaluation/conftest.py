"""Evaluations with made-up results."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from localrag.corpus.workspace import Workspace
from localrag.evaluation.datasets.loading import declared
from localrag.evaluation.types import (
    Cause,
    Dataset,
    Entry,
    Evaluation,
    Gold,
    Published,
    Question,
    Questions,
    Result,
    Spent,
)
from localrag.search.types import Query
from localrag.text.facts import Fact, FactKind

LABELS = "abcd"


@pytest.fixture(autouse=True)
def plotless(undrawn: None) -> None:
    """Every test here is without plots, unless it asks for `drawn`."""


@pytest.fixture
def workspace(home: Path) -> Workspace:
    """The workspace of this test, initialised."""
    workspace = Workspace.locate(home)
    workspace.init()
    return workspace


def dataset(name: str = "ferries") -> Dataset:
    return Dataset(
        name=name,
        title="渡し舟の問題集",
        source="https://example.org/ferry_questions",
        licence="CC0",
        reader="choices",
        splits=(),
        published={
            "statute-direct": (Published(0.525, 40, "another model", "a study"),),
            "always-c": (Published(0.343, 0, "in their order", "the same study"),),
        },
    )


def questions(n: int) -> tuple[Question, ...]:
    return tuple(
        Question(
            id=f"q{number}",
            query=Query(f"渡し舟の問{number}", ("甲", "乙", "丙", "丁")),
            answer=LABELS[number % 4],
            gold=(Gold("渡し舟法", str(number)),) if number % 2 else (),
            groups={"polarity": "affirms" if number % 3 else "deviates"},
        )
        for number in range(n)
    )


def result(question: Question, order: int, right: bool, *, failed: bool = False) -> Result:
    place = LABELS.index(question.answer)
    chosen = LABELS[place if right else (place + 1) % 4]
    answered = Result(
        question=question.id,
        order=order,
        score=float(right),
        chosen=chosen,
        shown=LABELS[(LABELS.index(chosen) - order) % 4],
        cause=None if right else Cause.REASONING,
        recall={"lexical": (3,), "rerank": (7 if right else 0,)} if question.gold else {},
        spent=Spent(calls=1, prompt=100, cached=20, completion=10, seconds=0.5),
        notes=(Fact(FactKind.SAID, words="some answers were cut"),),
    )
    if not failed:
        return answered
    failure = {"failure": "ModelUnusable", "cause": Cause.REPLY, "chosen": "", "shown": ""}
    return replace(answered, score=0.0, **failure)


@pytest.fixture
def evaluated() -> Callable[..., Evaluation]:
    """Make an evaluation: entries by name, each with its share of right answers."""

    def make(
        n: int = 20,
        orders: int = 2,
        entries: Sequence[tuple[str, float]] = (("statute-direct", 0.4), ("statute-fixed", 0.7)),
        *,
        seed: int = 0,
        run: str = "first",
        named: str = "ferries",
        **made_with: object,
    ) -> Evaluation:
        chance = random.Random(seed)
        asked = questions(n)
        known = declared()[named].splits if named in declared() else ()
        sha256 = next((split.sha256 for split in known), "ab" * 32)
        return Evaluation(
            id=run,
            questions=Questions(dataset(named), "train", sha256, asked),
            orders=orders,
            entries=tuple(
                Entry(
                    name,
                    name,
                    {"localrag": "0.4.0", "chat.model": "qwen3-8b", "method": name, **made_with},
                    tuple(
                        result(question, order, chance.random() < share)
                        for question in asked
                        for order in range(orders)
                    ),
                )
                for name, share in entries
            ),
            machine="two cores",
            date="2026-11-20T10:00:00+00:00",
        )

    return make


@pytest.fixture
def answer() -> Callable[..., Result]:
    """Make the result of one question in one order of its options."""
    return result
