"""Notes of traces, gathered over answers."""

from collections.abc import Callable
from dataclasses import replace

from localrag.corpus.types import Locator, Passage
from localrag.evaluation.report.measured import common, counts
from localrag.evaluation.types import Evaluation
from localrag.reading.evidence import NumberedPassage, fitting


def source(number: int) -> NumberedPassage:
    text = f"第{number}条の文" * 9
    passage = Passage(f"L#{number}", "L", "articles", text, f"法 第{number}条", Locator(), 0, 63)
    return NumberedPassage(number, passage, text[:9])


def test_what_the_model_was_not_shown_is_said_without_the_provision(
    evaluated: Callable[..., Evaluation],
) -> None:
    """In the words of the room that says it, so that neither drifts from the other."""
    (entry,) = evaluated(n=2, orders=1, entries=[("x", 1.0)]).entries
    said = [
        fitting([source(first), source(first + 1)], lambda kept: len(kept) < 2)[1]
        for first in (1, 5)
    ]
    results = [
        replace(one, notes=tuple(events)) for one, events in zip(entry.results, said, strict=True)
    ]
    assert len({event for events in said for event in events}) == 4
    assert sorted(counts(results)) == [
        "of a long provision the model was shown only what is nearest to the question",
        "passages did not fit the context in use (chat.context) and were left out, the last ranks "
        "first",
    ]


def test_what_holds_for_few_answers_is_not_common() -> None:
    assert common([({"a": 100, "b": 5, "c": 4}, 100), ({"c": 1}, 1), ({"d": 1}, 8)]) == [*"abc"]
