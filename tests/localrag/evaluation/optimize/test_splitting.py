"""Training and validation questions share none, and groups are divided evenly."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from localrag.evaluation.optimize.optimise import split
from localrag.evaluation.types import Question
from localrag.search.types import Query


def some(count: int, laws: int = 3) -> list[Question]:
    return [
        Question(f"q{number}", Query("問い"), "a", groups={"law": f"law{number % laws}"})
        for number in range(count)
    ]


@given(st.integers(0, 60), st.integers(1, 5), st.integers(0, 9), st.integers(0, 70))
def test_halves(count: int, laws: int, seed: int, limit: int) -> None:
    questions = some(count, laws)
    train, validation = split(questions, seed, limit)
    used = [question.id for question in (*train, *validation)]
    assert len(set(used)) == len(used) == min(count, limit or count)
    assert 0 <= len(validation) - len(train) <= 1
    each = [Counter(q.groups["law"] for q in half) for half in (train, validation)]
    assert all(abs(each[0][law] - each[1][law]) <= 1 for law in {**each[0], **each[1]})


def test_the_order_of_the_file_does_not_matter_and_the_seed_does() -> None:
    questions = some(20)
    assert split(questions, 1) == split(questions[::-1], 1)
    assert split(questions, 1) != split(questions, 2)
