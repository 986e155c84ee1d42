"""Comparing runs: which entries and questions belong together, and what changed."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from localrag.errors import InputError, UsageError
from localrag.evaluation.comparison import as_json, compare, markdown
from localrag.evaluation.types import Entry, Evaluation, Result

Evaluated = Callable[..., Evaluation]


def test_questions_that_flipped(evaluated: Evaluated, answer: Callable[..., Result]) -> None:
    base = evaluated(n=9, orders=1, entries=[])
    asked = base.questions.questions

    def entry(right: set[str]) -> Entry:
        return Entry("x", "x", {}, tuple(answer(one, 0, one.id in right) for one in asked))

    before = replace(base, entries=(entry({"q0"}),))
    after = replace(base, id="second", entries=(entry({f"q{n}" for n in range(1, 9)}),))
    compared = compare(before, after)
    (one,) = compared.entries
    assert one.gained == [f"q{n}" for n in range(1, 9)]
    assert one.lost == ["q0"]
    assert one.mcnemar
    assert (one.mcnemar.first, one.mcnemar.second) == (1, 8)
    assert one.mcnemar.p == pytest.approx(0.0391, abs=5e-5)
    assert one.difference.value == pytest.approx(7 / 9)
    assert (one.first.value, one.second.value) == pytest.approx((1 / 9, 8 / 9))
    assert "9 questions and 1 order of the options" in markdown(compared)
    assert "| x | 11.1 % [2.0, 43.5] | 88.9 % [56.5, 98.0] |" in markdown(compared)
    assert "Scored lower in the second run: q0 (1)." in markdown(compared)


def test_a_run_against_itself(evaluated: Evaluated) -> None:
    compared = compare(evaluated(), evaluated(run="again"))
    assert [one.difference.value for one in compared.entries] == [0, 0]
    assert [(one.made_with, one.gained, one.lost) for one in compared.entries] == [({}, [], [])] * 2
    text = markdown(compared)
    assert "nothing changed: statute-direct, statute-fixed." in text
    assert "## " not in text
    assert as_json(compared)["unchanged"] == ["statute-direct", "statute-fixed"]


def test_what_stayed_the_same_is_not_shown_again(evaluated: Evaluated) -> None:
    compared = compare(evaluated(), evaluated(run="second", **{"chat.seed": 1}))
    text = markdown(compared)
    assert "| chat.seed | – | 1 |" in text
    assert "Recall is the same at every stage." in text
    assert "any at 5" not in text
    assert as_json(compared)["unchanged"] == []


def test_what_both_have_is_compared(evaluated: Evaluated) -> None:
    many = evaluated(n=20, orders=4, entries=[("x", 0.5), ("y", 0.5)])
    few = evaluated(n=8, orders=2, entries=[("y", 0.9), ("z", 0.5)], run="second")
    compared = compare(many, few)
    assert (compared.questions, compared.orders) == (8, 2)
    assert [one.first_name for one in compared.entries] == ["y"]
    assert (compared.only_first, compared.only_second) == (["x"], ["z"])
    assert compared.entries[0].first.n == compared.entries[0].second.n == 8
    text = markdown(compared)
    assert "In first alone: x." in text
    assert "In second alone: z." in text


def test_entries_of_another_name_are_matched_by_method(evaluated: Evaluated) -> None:
    before = evaluated(entries=[("statute-fixed", 0.5)])
    after = evaluated(entries=[("statute-fixed", 0.8)], run="second", **{"chat.model": "qwen3-14b"})
    after = replace(
        after, entries=tuple(replace(one, name=f"{one.name} (qwen3-14b)") for one in after.entries)
    )
    compared = compare(before, after)
    (one,) = compared.entries
    assert one.second_name == "statute-fixed (qwen3-14b)"
    assert one.made_with == {"chat.model": ("qwen3-8b", "qwen3-14b")}
    assert "| chat.model | qwen3-8b | qwen3-14b |" in markdown(compared)


def test_recall_of_both_runs_stage_by_stage(evaluated: Evaluated) -> None:
    before = evaluated(orders=1, entries=[("x", 1.0)])
    after = replace(
        before,
        entries=tuple(
            replace(one, results=tuple(replace(r, recall={}) for r in one.results))
            for one in before.entries
        ),
    )
    compared = compare(before, after)
    first, second = compared.entries[0].recall["lexical"]
    assert first
    assert first.any_found[5].value == 1.0
    assert second is None
    assert "| lexical | 100.0 % → – |" in markdown(compared)


def test_other_questions_do_not_compare(evaluated: Evaluated) -> None:
    one = evaluated()
    other = replace(one, questions=replace(one.questions, sha256="cd" * 32))
    with pytest.raises(UsageError, match="do not compare"):
        compare(one, other)
    with pytest.raises(UsageError, match="do not compare"):
        compare(one, evaluated(named="another"))


def test_nothing_in_common(evaluated: Evaluated) -> None:
    with pytest.raises(UsageError, match="share no method"):
        compare(evaluated(), evaluated(entries=[("other", 0.5)]))
    with pytest.raises(UsageError, match="share no question"):
        compare(evaluated(), evaluated(n=0))


def test_incomplete_results_are_refused(evaluated: Evaluated) -> None:
    whole = evaluated()
    cut = replace(whole, entries=tuple(replace(e, results=e.results[1:]) for e in whole.entries))
    with pytest.raises(InputError, match="missing"):
        compare(whole, cut)


def test_the_json_and_names_that_are_markup(evaluated: Evaluated) -> None:
    compared = compare(evaluated(run="a|b\n# c"), evaluated(run="<i>`x`", seed=3))
    value = json.loads(json.dumps(as_json(compared)))
    assert value["first"] == "a|b\n# c"
    assert value["entries"][0]["gained"] == list(compared.entries[0].gained)
    assert markdown(compared).startswith("# a\\|b # c against \\<i\\>\\`x\\`\n")
