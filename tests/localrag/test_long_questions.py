"""Long and hostile texts at the doors of questions: each takes linear time, or is refused."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

import localrag
from localrag.doors.session import Corpus
from localrag.errors import LocalragError, UsageError

from ..growth import assert_linear
from ..rows import each

SHAPES = {
    "brackets not closed": "（渡し舟法（第1条（",
    "bare articles among names": "“渡し舟法”第一条",
    "同法": "渡し舟法同法第一条、",
    "laws that nobody knows": "渡し船法第3条、",
    "tables of a law": "別表第一",
    "numbers": "1234567890",
    "signs of ids": "#",
}


@pytest.fixture(scope="module")
def corpus(sample_home: Path) -> Iterator[Corpus]:
    with localrag.open(sample_home).corpus() as opened:
        opened.ask("渡し舟法第4条")
        yield opened


@each("shape", SHAPES.values())
def test_a_long_question_takes_linear_time(corpus: Corpus, shape: str) -> None:
    numbers = count()

    def work(size: int) -> None:
        text = f"{next(numbers)} {shape * (size // len(shape))}"
        corpus.ask(text)

    assert_linear(work, 2_000)


@each("shape", SHAPES.values())
def test_a_long_citation_takes_linear_time(corpus: Corpus, shape: str) -> None:
    numbers = count()

    def work(size: int) -> None:
        with pytest.raises(LocalragError):
            corpus.look_up(f"{shape * (size // len(shape))}{next(numbers)}")

    assert_linear(work, 10_000)


def test_a_question_that_is_too_long_is_refused_with_its_length(corpus: Corpus) -> None:
    text = "渡し舟法第4条、" * 5_000
    for door in (corpus.ask, corpus.search):
        with pytest.raises(UsageError, match=f"{len(text):,} characters"):
            door(text)
