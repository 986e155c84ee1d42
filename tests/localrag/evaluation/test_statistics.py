"""Known values of the statistics, and what must hold for all of them."""

import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.errors import UsageError
from localrag.evaluation import statistics
from localrag.evaluation.statistics import difference, holm, mcnemar, score, share

from ...rows import each

_SCORES = st.sampled_from((0.0, 0.25, 0.5, 0.75, 1.0))
_QUESTIONS = st.lists(st.lists(_SCORES, min_size=1, max_size=4), min_size=1, max_size=40)


def test_wilson_of_eight_in_ten() -> None:
    found = share(8, 10)
    assert (found.value, found.n) == (0.8, 10)
    assert (found.low, found.high) == pytest.approx((0.490, 0.943), abs=5e-4)


def test_questions_asked_once_get_the_wilson_interval() -> None:
    assert score([[1.0]] * 8 + [[0.0]] * 2) == share(8, 10)


def test_orders_of_a_question_hang_together() -> None:
    # The same right answers, once in 40 questions and once in four orders of 10.
    together = score([[1.0] * 4] * 7 + [[1.0, 1.0, 0.0, 0.0]] + [[0.0] * 4] * 2)
    apart = score([[1.0]] * 30 + [[0.0]] * 10)
    assert together
    assert apart
    assert together.value == apart.value == 0.75
    assert together.high - together.low > 1.5 * (apart.high - apart.low)


def test_what_never_varies_has_no_width() -> None:
    # Always the same position, over all rotations.
    found = score([[1.0, 0.0, 0.0, 0.0]] * 12)
    assert found
    assert (found.low, found.value, found.high) == (0.25, 0.25, 0.25)


def test_one_question_says_next_to_nothing() -> None:
    assert score([[1.0, 0.0]]) == statistics.Estimate(0.5, 0.0, 1.0, 1)
    assert difference([1.0], [0.0]) == statistics.Estimate(1.0, -1.0, 1.0, 1)


def test_no_question_has_no_score() -> None:
    assert score([]) is None
    assert difference([], []) is None


def test_a_few_questions_get_a_wide_interval() -> None:
    # Hoeffding: 0.5 ± sqrt(ln(40) / (2 · 9)) = 0.5 ± 0.4527.
    found = score([[1.0, 0.0]] * 9)
    assert found
    assert (found.low, found.high) == pytest.approx((0.0473, 0.9527), abs=1e-4)
    assert score([[1.0, 0.0], [1.0, 1.0]]) == statistics.Estimate(0.75, 0.0, 1.0, 2)
    assert difference([0.5] * 2, [0.5] * 2) == statistics.Estimate(0.0, -1.0, 1.0, 2)


@given(_QUESTIONS)
def test_an_interval_holds_its_score_and_lies_between_0_and_1(questions: list[list[float]]) -> None:
    found = score(questions)
    assert found
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1
    assert found.n == len(questions)


@given(_QUESTIONS, st.integers())
def test_the_order_of_the_questions_changes_nothing(
    questions: list[list[float]], seed: int
) -> None:
    other = random.Random(seed).sample(questions, len(questions))
    assert score(questions) == score(other)


@given(st.lists(st.tuples(_SCORES, _SCORES), min_size=1, max_size=40))
def test_differences_are_the_other_way_round_for_the_other(
    pairs: list[tuple[float, float]],
) -> None:
    ours, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    one, other = difference(ours, theirs), difference(theirs, ours)
    assert one
    assert other
    assert one.value == pytest.approx(-other.value)
    assert -1 <= one.low <= one.high <= 1


def test_mcnemar_of_one_against_eight() -> None:
    first = [True] + [False] * 8 + [True] * 5
    second = [False] + [True] * 8 + [True] * 5
    found = mcnemar(first, second)
    assert (found.first, found.second) == (1, 8)
    assert found.p == pytest.approx(0.0391, abs=5e-5)


@each("right", [[], [True] * 5, [False, True]])
def test_mcnemar_of_equals_is_one(right: list[bool]) -> None:
    assert mcnemar(right, right).p == 1.0


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=10))
def test_holm_lowers_no_p_value_and_keeps_their_order(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(p <= q <= 1 for p, q in zip(values, adjusted, strict=True))
    assert [q for _, q in sorted(zip(values, adjusted, strict=True))] == sorted(adjusted)


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(UsageError, match=r"localrag\[eval\]"):
        statistics.require()
