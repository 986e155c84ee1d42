"""Notes of traces, gathered over answers."""

from collections.abc import Callable
from dataclasses import replace

from localrag.evaluation.report.measured import TraceNote, common, counts
from localrag.evaluation.types import Evaluation
from localrag.text.facts import Fact, FactKind


def test_what_the_model_was_not_shown_is_said_without_the_provision(
    evaluated: Callable[..., Evaluation],
) -> None:
    (entry,) = evaluated(n=2, orders=1, entries=[("x", 1.0)]).entries
    results = [
        replace(
            one,
            notes=(
                Fact(FactKind.SHORTENED, place=place, characters=900, shown=80),
                Fact(FactKind.PASSAGES_LEFT_OUT, n=1, total=2, places=(place,)),
            ),
        )
        for one, place in zip(entry.results, ("第1条", "第5条"), strict=True)
    ]
    assert [(note.key, note.fact, note.answers) for note in counts(results)] == [
        ("passages-left-out", None, 2),
        ("shortened", None, 2),
    ]
    assert str(counts(results)[1]).startswith("…: the model got … of … characters")


def test_what_all_say_alike_is_said_in_full(evaluated: Callable[..., Evaluation]) -> None:
    (entry,) = evaluated(n=2, orders=1, entries=[("x", 1.0)]).entries
    facts = (
        Fact(FactKind.NO_SUCH_LAW, name="凧揚げ規制法"),
        Fact(FactKind.SAID, words="one thing"),
        Fact(FactKind.SAID, words="another"),
    )
    found = counts([replace(one, notes=facts) for one in entry.results])
    assert [(note.key, note.fact) for note in found] == [
        ("another", facts[2]),
        ("no-such-law", facts[0]),
        ("one thing", facts[1]),
    ]


def noted(**answers: int) -> list[TraceNote]:
    return [TraceNote(FactKind.SAID, Fact(FactKind.SAID, words=k), n) for k, n in answers.items()]


def test_what_holds_for_few_answers_is_not_common() -> None:
    entries = [(noted(a=100, b=5, c=4), 100), (noted(c=1), 1), (noted(d=1), 8)]
    assert [note.key for note in common(entries)] == [*"abc"]
