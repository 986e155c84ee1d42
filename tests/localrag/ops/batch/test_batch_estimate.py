"""Estimates of batches: sampled, never written."""

import json
from typing import Any

import pytest

from localrag.corpus.config import load
from localrag.errors import ModelUnusable, NotFoundError, UsageError
from localrag.ops.batch import BatchEstimate, estimate, run
from localrag.ops.batch.types import RowFailed
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import Progress

TEXTS = [f"question {number}" for number in range(1, 101)]


def judged(bench: Any, answers: Any, **options: Any) -> BatchEstimate:
    config = load(bench.workspace)
    options.setdefault("on_event", bench.events.append)
    return estimate(
        bench.workspace, "main", config, bench.questions, opener=answers.open, **options
    )


def test_a_sample_is_answered(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS)
    answers = scripted()
    found = judged(bench, answers)
    assert (found.rows, found.unreadable, found.left) == (100, 0, 100)
    assert (found.sampled, found.failed) == (19, 0)
    assert len(set(answers.asked)) == 20, "the first one only gets it going"
    assert (found.prompt, found.completion) == (10_000, 700)
    assert found.seconds > 0
    positions = sorted(TEXTS.index(text) for text in answers.asked)
    assert positions[0] < 25
    assert positions[-1] > 75
    assert not bench.out.exists()
    assert bench.facts == [Fact(FactKind.TABLE_CHECKED, rows=100, unreadable=0)]
    told = bench.told(Progress)
    assert [(event.done, event.total) for event in told] == [(n, 19) for n in range(1, 20)]
    assert all(event.left <= event.limit for event in told)


def test_what_is_done_is_not_counted(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS[:10])
    bench.run(scripted())
    bench.ask(*TEXTS[:14])
    answers = scripted()
    found = judged(bench, answers, out=bench.out)
    assert found.left == 4
    assert set(answers.asked) == set(TEXTS[10:14])
    assert found.prompt == 400
    assert judged(bench, scripted(), out=bench.out, restart=True).left == 14
    bench.run(scripted())
    assert judged(bench, scripted(), out=bench.out) == BatchEstimate(14, 0, 0)


def test_what_a_row_wants_of_documents_is_checked_before_any_is_asked(
    bench: Any, scripted: Any
) -> None:
    wanted = ({"kind": "Boat"}, {"boat": "1"}, {"kind": "Act"})
    bench.write(
        *(json.dumps({"question": "a?", "where": where}) for where in wanted),
        json.dumps({"question": "a?", "documents": ["no"]}),
        "{}",
    )
    answers = scripted()
    found = judged(bench, answers)
    assert (found.rows, found.unreadable, found.left) == (5, 4, 1)
    assert (found.sampled, found.failed, answers.asked) == (1, 0, ["a?", "a?"])
    assert bench.facts == [Fact(FactKind.TABLE_CHECKED, rows=5, unreadable=4)]
    told = {event.line: f"{event.cause} {event.cure}" for event in bench.told(RowFailed)}
    assert told.keys() == {1, 2, 4, 5}
    assert "has kind=Boat. There is: " in told[1]
    assert "no facet 'boat'. There is: kind, ministry" in told[2]
    assert "no document 'no'" in told[4]
    assert "no question" in told[5]


@pytest.mark.parametrize("where", ["kind=Boat", "boat=1"])
def test_what_every_row_wants_is_checked_first_of_all(
    bench: Any, scripted: Any, where: str
) -> None:
    bench.ask(*TEXTS)
    config = load(bench.workspace, {"retrieval.where": where})
    for work in (estimate, run):
        out = () if work is estimate else (bench.out,)
        answers = scripted()
        with pytest.raises((UsageError, NotFoundError), match="There is: "):
            work(bench.workspace, "main", config, bench.questions, *out, opener=answers.open)
        assert not answers.opened
    assert not bench.out.exists()


def test_one_question_is_enough(bench: Any, scripted: Any) -> None:
    bench.ask(TEXTS[0])
    assert judged(bench, scripted()).sampled == 1


def test_rows_that_the_method_cannot_answer_are_no_failures(bench: Any, scripted: Any) -> None:
    options = [None, ["甲"], ["甲", "乙"], list("甲乙丙丁戊己庚辛壬")]
    bench.write(*(json.dumps({"question": "渡し守", "options": one}) for one in options))
    chooses = load(bench.workspace, {"method.name": "statute-lexical"})
    answers = scripted()
    arguments = (bench.workspace, "main", chooses, bench.questions)
    found = estimate(*arguments, opener=answers.open)
    assert (found.unanswerable, found.left, found.failed, len(answers.asked)) == (3, 1, 0, 2)
    assert judged(bench, scripted()).unanswerable == 0, "quoting needs no options"
    bench.ask(*TEXTS[:3])
    found = estimate(*arguments, opener=answers.open)
    assert (found.rows, found.unanswerable, found.left, found.sampled) == (3, 3, 0, 0)
    assert answers.opened == 1


def test_failures_show_before_the_night(bench: Any, scripted: Any) -> None:
    def behave(text: str) -> None:
        if text[-1] in "05":
            raise ModelUnusable("cut short", "", kind="ReplyInvalid", transient=False)

    bench.ask(*TEXTS)
    found = judged(bench, scripted(behave=behave))
    assert 0 < found.failed < found.sampled


def test_a_dead_server_shows_at_once(bench: Any, scripted: Any) -> None:
    def behave(text: str) -> None:
        raise ModelUnusable("Nobody answers.", "", kind="ServerUnreachable", transient=True)

    bench.ask(*TEXTS)
    with pytest.raises(ModelUnusable, match="Nobody answers"):
        judged(bench, scripted(behave=behave))


def test_a_file_that_no_batch_wrote(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS)
    bench.out.write_text("my notes\n")
    with pytest.raises(UsageError, match="no batch is known to have written it"):
        judged(bench, scripted(), out=bench.out)
