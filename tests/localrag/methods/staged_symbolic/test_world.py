"""`staged-symbolic` on a world that its rules do not know.

The floors are below the measured values, so that a rule may trade an answer or two. A wrong answer
must never be supported.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from localrag.answer.types import Answer, Status
from localrag.evaluation.measures.answers import exact

_QUESTIONS = Path(__file__).with_name("world_questions.jsonl")


class _Asked(NamedTuple):
    question: str
    expected: str | None
    answer: Answer

    @property
    def is_right(self) -> bool:
        return self.expected is not None and bool(exact(self.answer.text, self.expected))


@pytest.fixture(scope="module")
def asked(ask_world: Callable[..., Answer]) -> list[_Asked]:
    rows = map(json.loads, _QUESTIONS.read_text(encoding="utf-8").splitlines())
    return [_Asked(row["question"], row["answer"], ask_world(row["question"])) for row in rows]


def test_nothing_supported_is_wrong(asked: list[_Asked]) -> None:
    supported = [one for one in asked if one.answer.status is Status.SUPPORTED]
    assert len(supported) > 70
    assert not [one.question for one in supported if not one.is_right]


def test_what_has_no_answer_is_not_found(asked: list[_Asked]) -> None:
    unanswerable = [one for one in asked if one.expected is None]
    found = [one.question for one in unanswerable if one.answer.status is not Status.NOT_FOUND]
    assert len(found) <= 0.05 * len(unanswerable), found


def test_most_of_what_has_an_answer_is_answered(asked: list[_Asked]) -> None:
    answerable = [one for one in asked if one.expected is not None]
    assert sum(one.is_right for one in answerable) >= 0.8 * len(answerable)
