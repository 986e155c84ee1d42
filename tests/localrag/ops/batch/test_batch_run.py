"""Batches: writing, resuming, stopping."""

import json
import threading
import tracemalloc
from pathlib import Path
from typing import Any, NoReturn

import pytest

from localrag.answer.types import Unanswered, Watch
from localrag.errors import (
    BusyError,
    IndexUnusable,
    InputError,
    ModelUnusable,
    StorageError,
    UsageError,
)
from localrag.ops.batch.asking import PATIENCE
from localrag.ops.batch.types import RowAnswered, RowFailed
from localrag.search.types import ModelCall, Query, Trace
from localrag.text.facts import Fact, FactKind
from localrag.text.progress import Progress

from ....patience import PATIENCE as SECONDS
from ....patience import wait_for

TEXTS = [f"question {number}" for number in range(1, 21)]


def fail_on(*texts: str, error: Exception | None = None) -> Any:
    def behave(text: str) -> None:
        if text in texts:
            raise error or ModelUnusable("cut short", "", kind="ReplyInvalid", transient=False)

    return behave


def unreachable() -> ModelUnusable:
    return ModelUnusable("Nobody answers.", "Start it.", kind="ServerUnreachable", transient=True)


def test_every_row_has_its_answer(bench: Any, scripted: Any) -> None:
    bench.write(
        '{"id": "x", "question": "a note?", "options": {"a": "yes", "b": "no"}, "level": 1}',
        "nonsense",
    )
    report = bench.run(scripted())
    answered, failed = bench.rows
    assert {key: answered[key] for key in ("row", "line", "id", "question", "options")} == {
        "row": 1,
        "line": 1,
        "id": "x",
        "question": "a note?",
        "options": ["yes", "no"],
    }
    assert (answered["status"], answered["answer"]) == ("supported", "a note?")
    assert answered["citations"][0]["quote"] == "a note?"
    assert answered["claims"] == []
    assert answered["label"] == ""
    assert answered["trace"]["stages"] == [
        {
            "stage": "lexical",
            "subject": "",
            "query": "",
            "hits": 0,
            "passages": [],
            "seconds": 0.001,
        }
    ]
    assert answered["trace"]["events"] == [
        {
            "kind": "no-such-law",
            "fields": {"name": "渡し舟法"},
            "words": "the corpus has no law called 渡し舟法",
        }
    ]
    assert answered["trace"]["calls"][0]["cached"] == 80
    assert answered["seconds"] >= 0
    assert (failed["row"], failed["status"], failed["id"]) == (2, "failed", None)
    assert failed["error"]["type"] == "InputError"
    assert failed["error"]["cure"]
    assert failed["error"]["transient"] is False

    assert (report.rows, report.answered, report.earlier) == (2, 1, 0)
    assert report.failed == {"InputError": 1}
    assert (report.spent.asked, report.spent.noted) == (2, 1)
    assert (report.spent.prompt, report.spent.cached, report.spent.completion) == (100, 80, 7)
    assert report.per_minute > 0
    assert bench.facts == [
        Fact(FactKind.FIELDS_UNREAD, names=("level",)),
        Fact(FactKind.TABLE_CHECKED, rows=2, unreadable=1),
    ]
    assert bench.told(RowAnswered) == [RowAnswered(1, 1, "supported")]
    assert bench.told(RowFailed)[0].line == 2
    assert [event.done for event in bench.told(Progress)] == [1, 2]


def test_what_is_done_is_not_asked_again(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS)
    bench.run(scripted())
    before = bench.out.read_bytes()
    answers = scripted()
    report = bench.run(answers)
    assert (answers.asked, answers.opened) == ([], 0), "not even the model is loaded"
    assert (report.earlier, report.answered, report.spent.asked) == (20, 20, 0)
    assert bench.out.read_bytes() == before
    assert bench.facts[1:] == [Fact(FactKind.GOES_ON, rows=20)]


@pytest.mark.parametrize("cut", range(0, 2_000, 97))
def test_a_file_cut_anywhere_goes_on(bench: Any, scripted: Any, cut: int) -> None:
    bench.ask(*TEXTS[:4])
    bench.run(scripted())
    whole = bench.rows
    content = bench.out.read_bytes()[:cut]
    bench.out.write_bytes(content)
    answers = scripted()
    bench.run(answers)
    assert answers.asked == TEXTS[content.count(b"\n") : 4]
    assert [row["answer"] for row in bench.rows] == [row["answer"] for row in whole]
    torn = bool(content) and not content.endswith(b"\n")
    told = [fact.kind for fact in bench.facts[1:]]
    dropped = [FactKind.LINE_DROPPED] if torn else []
    assert told == ([FactKind.GOES_ON, *dropped] if content else [])


def test_a_cut_line_behind_the_last_row_is_dropped(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS[:4])
    bench.run(scripted())
    whole = bench.out.read_bytes()
    bench.out.write_bytes(whole + b'{"row": 2, "li')
    assert bench.run(scripted()).spent.asked == 0
    assert bench.out.read_bytes() == whole


def test_questions_may_be_added_at_the_end(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS[:3])
    bench.run(scripted())
    bench.ask(*TEXTS[:5])
    answers = scripted()
    assert bench.run(answers).answered == 5
    assert answers.asked == TEXTS[3:5]


@pytest.mark.parametrize("texts", [["another", *TEXTS[1:3]], TEXTS[:2]])
def test_other_questions_are_noticed(bench: Any, scripted: Any, texts: list[str]) -> None:
    bench.ask(*TEXTS[:3])
    bench.run(scripted())
    before = bench.out.read_bytes()
    bench.ask(*texts)
    with pytest.raises(UsageError, match=r"answers another question than row \d asks now"):
        bench.run(scripted())
    assert bench.out.read_bytes() == before
    report = bench.run(scripted(), restart=True)
    assert (report.answered, report.earlier) == (len(texts), 0)


def test_other_documents_are_noticed(bench: Any, scripted: Any) -> None:
    row = {"question": TEXTS[0], "documents": ["599AC0000000001"]}
    bench.write(json.dumps(row))
    bench.run(scripted())
    assert json.loads(bench.out.read_text(encoding="utf-8"))["documents"] == row["documents"]
    assert bench.run(scripted()).earlier == 1
    bench.ask(TEXTS[0])
    with pytest.raises(UsageError, match="answers another question than row 1 asks now"):
        bench.run(scripted())


def test_a_row_that_names_a_document_which_is_not_there_fails(bench: Any, scripted: Any) -> None:
    bench.write(json.dumps({"id": "x", "question": "a?", "documents": ["599AC0000000001", "no"]}))
    answers = scripted()
    report = bench.run(answers)
    assert (report.failed, answers.asked) == ({"InputError": 1}, [])
    (row,) = map(json.loads, bench.out.read_text(encoding="utf-8").splitlines())
    assert "'main' holds no document 'no'" in row["error"]["cause"]
    assert (row["id"], row["question"]) == ("x", "a?")


def test_what_a_row_wants_of_documents_is_kept_and_compared(bench: Any, scripted: Any) -> None:
    wanted: list[Any] = [{"kind": ["政令", "Act"]}, "chapter=罰則", None]
    bench.write(*(json.dumps({"question": "a?", "where": where}) for where in wanted))
    bench.run(scripted())
    answered = [
        json.loads(line).get("where") for line in bench.out.read_text(encoding="utf-8").splitlines()
    ]
    assert answered == [[["kind", "政令"], ["kind", "Act"]], [["chapter", "罰則"]], None]
    assert bench.run(scripted()).earlier == 3
    bench.write(*(json.dumps({"question": "a?", "where": "kind=Act"}) for _ in wanted))
    with pytest.raises(UsageError, match="answers another question than row 1 asks now"):
        bench.run(scripted())


def test_a_row_that_wants_what_the_corpus_lacks_fails_alone(bench: Any, scripted: Any) -> None:
    bench.write(
        json.dumps({"id": "x", "question": "a?", "where": {"kind": "政例"}}),
        json.dumps({"id": "y", "question": "b?", "where": {"kind": "政令"}}),
    )
    answers = scripted()
    report = bench.run(answers)
    assert (report.failed, report.answered, answers.asked) == ({"InputError": 1}, 1, ["b?"])
    failed, _ = map(json.loads, bench.out.read_text(encoding="utf-8").splitlines())
    assert "kind=政例" in failed["error"]["cause"]
    assert "CabinetOrder" in failed["error"]["cure"]


def test_other_settings_are_noticed(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS[:3])
    bench.run(scripted())
    with pytest.raises(UsageError, match="k was 10 and is 5") as caught:
        bench.run(scripted(), settings={"retrieval.k": 5})
    assert "--restart" in caught.value.cure
    same = {"chat.parallel": 3, "chat.temperature": 1.0, "runtime.threads": 1, "ingest.workers": 1}
    assert bench.run(scripted(), settings=same).earlier == 3, "these change no answer"
    model = {"chat.model": "openai:x", "chat.server": "http://127.0.0.1:1/v1"}
    with pytest.raises(UsageError, match=r"chat\.model was not set and is 'openai:x'"):
        bench.run(scripted(), settings=model)


def test_a_wider_bound_goes_on(bench: Any, scripted: Any) -> None:
    model = {"chat.model": "openai:x", "chat.server": "http://127.0.0.1:1/v1"}
    bench.ask(*TEXTS[:3])
    bench.run(scripted(), settings=model)
    wider = model | {"chat.context": 16_384, "chat.max_tokens": 2_048}
    assert bench.run(scripted(), settings=wider).earlier == 3
    with pytest.raises(UsageError, match=r"chat\.model was 'openai:x' and is not set"):
        bench.run(scripted())


def test_a_row_that_cannot_be_asked_keeps_its_id(bench: Any, scripted: Any) -> None:
    bench.write(
        '{"id": "a", "question": "one"}',
        '{"id": "b", "question": ""}',
        '{"id": [], "question": "two"}',
        '{"id": "\\ud800", "question": "three"}',
    )
    bench.run(scripted())
    assert [row["id"] for row in bench.rows] == ["a", "b", None, None]
    assert [row["status"] for row in bench.rows] == ["supported", *["failed"] * 3]


def test_a_file_that_no_batch_wrote_is_left_alone(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS[:3])
    bench.out.write_text("my notes\n")
    for restart in (False, True):
        with pytest.raises(UsageError, match="no batch is known to have written it"):
            bench.run(scripted(), restart=restart)
    assert bench.out.read_text() == "my notes\n"
    assert not list(bench.out.parent.glob("*.run"))


def test_the_questions_are_not_overwritten(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS[:3])
    bench.out = bench.questions
    with pytest.raises(UsageError, match="overwrite the questions"):
        bench.run(scripted(), restart=True)


@pytest.mark.parametrize(
    "line",
    ["nonsense", "[]", '{"row": 0, "status": "failed"}', '{"row": 1, "status": "great"}', "{}"],
)
def test_a_damaged_line_is_named(bench: Any, scripted: Any, line: str) -> None:
    bench.ask(*TEXTS[:3])
    bench.run(scripted())
    first, _, last = bench.out.read_text().splitlines()
    bench.out.write_text(f"{first}\n{line}\n{last}\n")
    with pytest.raises(UsageError, match="line 2: It is no row"):
        bench.run(scripted())


def test_a_row_that_fails_does_not_stop_the_others(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS)
    report = bench.run(scripted(behave=fail_on(*TEXTS[2:12])))
    assert (report.answered, report.failed) == (10, {"ReplyInvalid": 10})
    assert bench.rows[2]["error"] == {
        "type": "ReplyInvalid",
        "cause": "cut short",
        "cure": "",
        "transient": False,
    }
    answers = scripted()
    assert bench.run(answers).failed == {"ReplyInvalid": 10}
    assert answers.asked == [], "failed rows wait until they are asked for"


def test_a_failed_row_keeps_what_was_done_for_it(bench: Any, scripted: Any) -> None:
    cut = ModelUnusable("cut short", "", kind="ReplyInvalid", transient=False)
    call = ModelCall("tiny", 100, 80, 7, 0.5, "verdict a", Fact(FactKind.REPLY_CUT, n=7))
    bench.ask(*TEXTS[:2])
    failing = fail_on(TEXTS[0], error=Unanswered(cut, Trace(calls=(call,))))
    report = bench.run(scripted(behave=failing))
    failed = bench.rows[0]
    assert (failed["status"], failed["error"]["type"]) == ("failed", "ReplyInvalid")
    assert failed["trace"]["calls"][0]["problem"]["kind"] == "reply-cut"
    assert report.spent.prompt == 200, "what was spent on it counts"


def test_a_limit_asks_the_first_rows(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS)
    answers = scripted()
    assert bench.run(answers, limit=5).answered == 5
    assert bench.run(answers, limit=3).spent.asked == 0
    assert bench.run(answers, limit=8).spent.asked == 3
    assert bench.told(Progress)[-1].total == 8
    assert answers.asked == TEXTS[:8]
    assert bench.run(answers, limit=100).answered == 20


def test_failed_rows_are_asked_again(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS)
    bench.run(scripted(behave=fail_on(TEXTS[0], TEXTS[7], TEXTS[9])))
    answers = scripted(behave=fail_on(TEXTS[9]))
    report = bench.run(answers, retry_failed=True)
    assert answers.asked == [TEXTS[0], TEXTS[7], TEXTS[9]]
    assert (report.answered, report.failed, report.earlier) == (19, {"ReplyInvalid": 1}, 17)
    assert [row["row"] for row in bench.rows] == list(range(1, 21))


def test_a_mended_row_is_asked_again(bench: Any, scripted: Any) -> None:
    bench.write('{"question": "a?"}', "nonsense")
    bench.run(scripted())
    bench.write('{"question": "a?"}', '{"question": "mended?"}')
    assert bench.run(scripted()).failed == {"InputError": 1}
    assert bench.run(scripted(), retry_failed=True).answered == 2
    assert bench.rows[1]["answer"] == "mended?"


def test_a_bug_fails_one_row(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS)
    report = bench.run(scripted(behave=fail_on(TEXTS[4], error=ZeroDivisionError("[bold]\ud800"))))
    assert report.failed == {"ZeroDivisionError": 1}
    assert "nobody foresaw" in bench.rows[4]["error"]["cause"]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_dead_server_stops_the_batch(bench: Any, scripted: Any, concurrency: int) -> None:
    bench.ask(*TEXTS)
    alive = set(TEXTS[:8])

    def behave(text: str) -> None:
        if text not in alive:
            # An answer between two failures shows a living server.
            wait_for(lambda: len(bench.told(RowAnswered)) == len(alive))
            raise unreachable()

    answers = scripted(behave=behave, parallel=concurrency)
    with pytest.raises(ModelUnusable, match="Nobody answers"):
        bench.run(answers)
    assert bench.facts[-1] == Fact(FactKind.STOPPED, done=8, total=20)
    assert {row["question"] for row in bench.rows} == alive, "what failed alike is not written"
    assert len(answers.asked) <= 8 + PATIENCE + concurrency + 1
    assert bench.run(scripted()).answered == 20
    assert [row["row"] for row in bench.rows] == list(range(1, 21))


def test_a_server_that_recovers_does_not(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS)
    broken = fail_on(*TEXTS[2 : 2 + PATIENCE - 1], error=unreachable())
    report = bench.run(scripted(behave=broken))
    assert report.failed == {"ServerUnreachable": PATIENCE - 1}
    assert bench.rows[2]["error"]["transient"] is True
    assert [row["row"] for row in bench.rows] == list(range(1, 21))


def test_failures_that_differ_do_not_stop_it(bench: Any, scripted: Any) -> None:
    def behave(text: str) -> None:
        raise ModelUnusable(f"{text} is refused.", "", kind="ServerRefused", transient=False)

    bench.ask(*TEXTS)
    assert bench.run(scripted(behave=behave)).failed == {"ServerRefused": 20}


@pytest.mark.parametrize("error", [IndexUnusable("The index is gone."), StorageError("Full.")])
def test_what_befalls_every_row_stops_it_at_once(
    bench: Any, scripted: Any, error: Exception
) -> None:
    bench.ask(*TEXTS)
    answers = scripted(behave=fail_on(TEXTS[3], error=error))
    with pytest.raises(type(error)):
        bench.run(answers)
    assert len(bench.rows) == 3
    assert len(answers.asked) == 4


@pytest.mark.parametrize("concurrency", [1, 3])
def test_ctrl_c_keeps_what_is_finished(bench: Any, scripted: Any, concurrency: int) -> None:
    bench.ask(*TEXTS)

    bench.events = Interrupting()
    with pytest.raises(KeyboardInterrupt):
        bench.run(scripted(parallel=concurrency))
    assert len(bench.rows) == 6
    assert bench.events[-1] == Fact(FactKind.STOPPED, done=6, total=20)
    bench.events = []
    answers = scripted()
    assert bench.run(answers).answered == 20
    assert len(answers.asked) == 14


class Interrupting(list[object]):
    """Events with Ctrl-C after the sixth answer."""

    def append(self, event: object) -> None:
        super().append(event)
        if sum(isinstance(one, RowAnswered) for one in self) == 6 and isinstance(
            event, RowAnswered
        ):
            raise KeyboardInterrupt


def test_several_at_once_in_the_order_of_the_questions(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS)
    together, most = 0, 0
    lock, at_once = threading.Lock(), threading.Barrier(4)

    def behave(text: str) -> None:
        nonlocal together, most
        with lock:
            together += 1
            most = max(most, together)
        if text in TEXTS[:4]:
            at_once.wait(SECONDS)
        if text == TEXTS[0]:
            wait_for(lambda: bench.told(RowAnswered))
        with lock:
            together -= 1

    report = bench.run(scripted(behave=behave, parallel=4))
    assert report.answered == 20
    assert most == 4
    finished = [event.row for event in bench.told(RowAnswered)]
    assert finished[0] != 1, "the first one was slow"
    assert [row["row"] for row in bench.rows] == list(range(1, 21))
    assert bench.run(scripted(parallel=4), restart=True, concurrency=2).answered == 20


def test_calls_under_way_are_given_up(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS)

    def given_up(query: Query, watch: Watch) -> NoReturn:
        if query.text == TEXTS[1]:
            raise StorageError("Full.")
        # It raises the error of a cancelled call.
        wait_for(watch.require)
        raise AssertionError("it was not given up")

    answers = scripted(parallel=3)
    answers.answer = given_up
    with pytest.raises(StorageError):
        bench.run(answers)
    assert not bench.out.read_bytes(), "what was given up is not an answer"


def test_two_processes_on_one_file(bench: Any, scripted: Any) -> None:
    bench.ask(*TEXTS[:2])

    def behave(text: str) -> None:
        with pytest.raises(BusyError, match="Another process"):
            bench.run(scripted())

    bench.run(scripted(behave=behave))
    assert len(bench.rows) == 2


@pytest.mark.parametrize("rows", [3, 30])
def test_questions_that_change_meanwhile(bench: Any, scripted: Any, rows: int) -> None:
    # Longer than the read-ahead of a program.
    texts = [text + " at length" * 900 for text in TEXTS]
    bench.ask(*texts)
    changed = [text.upper() for text in (texts * 2)[:rows]]
    with pytest.raises(InputError, match="changed while"):
        bench.run(scripted(behave=lambda _: bench.ask(*changed)))
    bench.ask(*texts)
    assert bench.run(scripted()).answered == 20


def test_where_no_answers_can_be_written(bench: Any, scripted: Any, tmp_path: Path) -> None:
    bench.ask(*TEXTS[:2])
    for out in (tmp_path, tmp_path / "none" / "answers.jsonl"):
        bench.out = out
        with pytest.raises(UsageError):
            bench.run(scripted())


def test_a_full_disk(bench: Any, scripted: Any) -> None:
    resource = pytest.importorskip("resource")
    signal = pytest.importorskip("signal")
    bench.ask(*TEXTS)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def behave(text: str) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, limits[1]))

    try:
        with pytest.raises(
            StorageError, match=r"answers\.jsonl cannot be read or written"
        ) as caught:
            bench.run(scripted(behave=behave))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert "same command again" in caught.value.cure
    kept = bench.rows
    assert 2 <= len(kept) < 20
    assert bench.facts[-1] == Fact(FactKind.STOPPED, done=len(kept), total=20)
    answers = scripted()
    assert bench.run(answers).answered == 20
    assert answers.asked == TEXTS[len(kept) :]


def test_memory_stays_flat(bench: Any, scripted: Any) -> None:
    count = 4_000
    with bench.questions.open("w") as file:
        for number in range(count):
            file.write(json.dumps({"id": f"id-{number}", "question": f"question {number}"}) + "\n")
    answers = scripted(asked=Forgetful())
    bench.events = Forgetful()
    tracemalloc.start()
    try:
        assert bench.run(answers).answered == count
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000, "18 bytes a row, and what is constant"


class Forgetful(list[Any]):
    """A list without memory."""

    def append(self, _: object) -> None:
        pass
