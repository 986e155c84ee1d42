"""Evaluations: what is asked, how often, what becomes of it, and how they go on."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import ScriptedChat, searches

from localrag.answer.prompts import OptimisedPrompt
from localrag.corpus.config import load
from localrag.corpus.workspace import Workspace
from localrag.errors import ModelUnusable, NotFoundError, UsageError, WorkspaceError
from localrag.evaluation import record
from localrag.evaluation.answers import results
from localrag.evaluation.planning import Plan, plan
from localrag.evaluation.runner import Finished, evaluate, forecast
from localrag.evaluation.types import (
    Asking,
    Cause,
    Dataset,
    Event,
    Gold,
    NotMeasured,
    Question,
    Questions,
)
from localrag.methods.catalogue import NAMES, mark, method
from localrag.search.types import Query
from localrag_models.chat import ChatRequest, Reply, ignore, never, overlook
from localrag_models.errors import ServerUnreachable
from localrag_models.store import ModelStore

from ...rows import each

RIGHT, SIGN = "the right one", "渡し守"
DIRECT, GOLD, FIXED = "statute-direct", "statute-gold", "statute-fixed"
_OPTION = re.compile(r"(?:選択肢|option) ([a-h])\W[^<]*?" + RIGHT)


class Knowing(ScriptedChat):
    """Chooses the option that says it is right, after doing what the script says.

    Attributes:
        asked: the user messages, as they came.
        behave: called with each; a text it gives back is the reply, what it raises passes through.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.behave: Callable[[str], str | None] = lambda _: None

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int, int], None] = overlook,
    ) -> Reply:
        asked = request.messages[-1].content
        self.asked.append(asked)
        reply = self.behave(asked)
        if reply is None:
            label = _OPTION.search(asked)
            assert label is not None, asked
            reply = json.dumps({"reason": "it says so", "label": label[1]})
        self._replies = [reply]
        return super().chat(request, on_text, cancelled, on_read)


class Bench:
    """Evaluations over the sample corpus with a model that knows the answers."""

    def __init__(self, home: Path, questions: Questions, model: Knowing) -> None:
        self.workspace = Workspace.locate(home)
        self.questions = questions
        self.model = model
        self.events: list[Event] = []

    def plan(self, *methods: str, settings: Any = None, **options: Any) -> Plan:
        config = load(self.workspace, {"chat.model": "tiny", **(settings or {})})
        return plan(self.workspace, self.questions, "main", config, methods, **options)

    def run(self, *methods: str, run: str = "", retry_failed: bool = False, **o: Any) -> Finished:
        self.model.asked.clear()
        self.events.clear()
        planned = self.plan(*(methods or (DIRECT,)), **o)
        return evaluate(planned, run=run, retry_failed=retry_failed, on_event=self.events.append)

    def runs(self) -> list[tuple[Path, record.Run]]:
        return list(record.recorded(self.workspace))


def question(number: int) -> Question:
    options = [f"wrong one {place} of {number}" for place in range(4)]
    options[number % 4] = f"{RIGHT} of {number}"
    return Question(
        f"q{number}",
        Query(f"{SIGN}の資格は何か ({number})", tuple(options)),
        "abcd"[number % 4],
        context=f"The context of {number}.",
        gold=(Gold("599AC0000000001", "1"),),
        groups={"law": "渡船" if number % 2 else "灯台"},
    )


@pytest.fixture
def bench(sample: Path, tiny_chat: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Six questions."""
    pytest.importorskip("llama_cpp")
    pytest.importorskip("scipy")
    ModelStore(Workspace.locate(sample).models).add(tiny_chat, name="tiny", kind="chat")
    model = Knowing()
    monkeypatch.setattr("localrag.methods.answering.open_chat", lambda *_: model)
    dataset = Dataset("ferries", "Ferries", "nowhere", "none", "choices", ())
    questions = Questions(dataset, "train", "0" * 64, tuple(map(question, range(6))))
    return Bench(sample, questions, model)


def labels(finished: Finished) -> list[str]:
    return [result.chosen for entry in finished.evaluation.entries for result in entry.results]


def test_every_question_in_every_order(bench: Bench) -> None:
    finished = bench.run(orders=4)
    entry = finished.evaluation.entries[0]
    assert (finished.asked, len(bench.model.asked)) == (24, 24)
    assert [(one.question, one.order) for one in entry.results] == [
        (f"q{number}", order) for order in range(4) for number in range(6)
    ]
    assert {result.score for result in entry.results} == {1.0}
    assert labels(finished) == list("abcdab") * 4
    assert [one.shown for one in entry.results] == list("abcdabdabcdacdabcdbcdabc")
    assert {result.cause for result in entry.results} == {None}
    assert all(one.spent.calls == 1 and one.spent.prompt for one in entry.results)
    for file in ("run.json", "report.md", "report.json"):
        assert (finished.folder / file).is_file()


def test_asked_once(bench: Bench) -> None:
    first = bench.run(DIRECT, FIXED)
    again = bench.run(DIRECT, FIXED)
    assert (again.asked, bench.model.asked) == (0, [])
    assert again.evaluation == first.evaluation, "its date is that of its end"
    assert again.folder == first.folder
    more = bench.run(DIRECT, FIXED, orders=2)
    assert len(bench.model.asked) == more.asked == 12
    assert more.folder != first.folder
    assert len(bench.runs()) == 2


def test_a_limit_shares_its_answers(bench: Bench) -> None:
    assert bench.run(limit=2).asked == 2
    finished = bench.run(limit=4)
    assert (finished.asked, labels(finished)) == (2, list("abcd"))
    assert bench.run().asked == 2
    finished = bench.run(limit=3)
    assert (finished.asked, labels(finished)) == (0, list("abc"))
    assert len(finished.evaluation.questions.questions) == 3


def test_it_goes_on_where_it_stopped(bench: Bench) -> None:
    def interrupt(_: str) -> None:
        if len(bench.model.asked) == 9:
            raise KeyboardInterrupt

    bench.model.behave = interrupt
    with pytest.raises(KeyboardInterrupt):
        bench.run(DIRECT, GOLD, orders=2)
    [(folder, run)] = bench.runs()
    assert not run.finished
    assert not (folder / "report.md").exists()
    bench.model.behave = lambda _: None
    finished = bench.run(DIRECT, GOLD, orders=2)
    assert (finished.asked, finished.folder) == (24 - 8, folder)
    [(_, run)] = bench.runs()
    assert run.finished


def test_a_run_whose_failures_are_asked_again_is_not_finished(bench: Bench) -> None:
    bench.model.behave = lambda asked: "nonsense" if "(2)" in asked else None
    bench.run()

    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    bench.model.behave = interrupt
    with pytest.raises(KeyboardInterrupt):
        bench.run(retry_failed=True)
    [(folder, run)] = bench.runs()
    assert run.finished == ""
    assert (folder / "report.json").exists()
    with pytest.raises(UsageError, match="is not finished"):
        record.evaluation_of(folder)
    bench.model.behave = lambda _: None
    bench.run(retry_failed=True)
    assert record.evaluation_of(folder).entries[0].results[2].score == 1


def test_gold_is_given_its_context_in_every_order(bench: Bench) -> None:
    bench.run(GOLD, orders=2)
    assert len(bench.model.asked) == 12
    assert all("The context of" in asked for asked in bench.model.asked)


def test_other_settings_are_asked_anew(bench: Bench) -> None:
    bench.run(DIRECT, FIXED)
    assert bench.run(DIRECT, settings={"retrieval.k": 3}).asked == 0, "it does not search"
    assert bench.run(FIXED, settings={"retrieval.k": 3}).asked == 6
    assert bench.run(DIRECT, settings={"chat.max_tokens": 300}).asked == 6
    assert bench.run(DIRECT, settings={"chat.timeout": 5.0}).asked == 0
    bench.questions = replace(bench.questions, sha256="1" * 64)
    assert bench.run(DIRECT).asked == 6


def test_failures_are_results(bench: Bench) -> None:
    def malformed(asked: str) -> str | None:
        return '{"reason": "so", "label": "z"}' if "(2)" in asked else None

    bench.model.behave = malformed
    finished = bench.run()
    failed = finished.evaluation.entries[0].results[2]
    assert (failed.failure, failed.cause, failed.score) == ("ReplyInvalid", Cause.REPLY, 0.0)
    assert (failed.spent.calls, failed.spent.retries) == (2, 2), "a failed row keeps its trace"
    assert bench.run().asked == 0
    bench.model.behave = lambda _: None
    mended = bench.run(retry_failed=True)
    assert (mended.asked, labels(mended)) == (1, list("abcdab"))


def test_what_may_have_passed_is_asked_again_by_itself(bench: Bench) -> None:
    def dies_once(asked: str) -> str | None:
        if "(1)" in asked:
            raise ServerUnreachable("Nobody answers.", "Start it.")
        return "nonsense" if "(2)" in asked else None

    bench.model.behave = dies_once
    finished = bench.run(orders=2)
    failed = finished.evaluation.entries[0].results
    assert [(one.failure, one.transient) for one in failed[1:3]] == [
        ("ServerUnreachable", True),
        ("ReplyInvalid", False),
    ]
    [told] = forecast(bench.plan(DIRECT, orders=2))
    assert (told.done, told.left, told.calls) == (10, 2, 2)
    bench.model.behave = lambda _: None
    again = bench.run(orders=2)
    assert (again.asked, again.folder) == (2, finished.folder)
    assert again.evaluation.entries[0].results[1].score == 1
    assert again.evaluation.entries[0].results[2].failure == "ReplyInvalid"
    assert bench.run(orders=2).asked == 0


def test_a_reply_mended_by_the_retry(bench: Bench) -> None:
    bench.model.behave = lambda _: "nonsense" if len(bench.model.asked) == 1 else None
    first = bench.run().evaluation.entries[0].results[0]
    assert (first.score, first.spent.calls, first.spent.retries) == (1.0, 2, 1)


def test_wrong_answers_have_a_cause_and_searches_a_recall(bench: Bench) -> None:
    bench.model.behave = lambda asked: json.dumps(
        {"reason": "", "label": "a"} if "(1)" in asked else {"reason": "", "label": "b"}
    )
    finished = bench.run(DIRECT, FIXED)
    direct, fixed = finished.evaluation.entries
    assert direct.results[1].cause is Cause.REASONING
    assert not direct.results[1].recall
    assert fixed.results[1].cause in (Cause.SEARCH, Cause.REASONING)
    assert set(fixed.results[1].recall) == {"lexical", "evidence"}, "dense had no vectors"
    assert 0 < fixed.results[1].lengths["evidence"] <= fixed.results[1].lengths["lexical"]
    assert any("BM25 replaces" in str(note) for note in fixed.results[1].notes)


def test_what_the_corpus_lacks_is_looked_up(bench: Bench) -> None:
    held = question(0).gold[0]
    missing = (Gold(held.document, "999"), Gold("渡し舟の手引"))
    first, second, third, *others = bench.questions.questions
    asked = (replace(first, gold=missing), replace(second, gold=(held, *missing)), third)
    bench.questions = replace(bench.questions, questions=(*asked, *others))
    bench.model.behave = lambda _: json.dumps({"reason": "", "label": "c"})
    evaluation = bench.run(DIRECT, FIXED, limit=3).evaluation
    assert evaluation.lacking == {"q0": missing, "q1": missing}
    direct, fixed = evaluation.entries
    assert fixed.results[0].cause is Cause.CORPUS
    assert fixed.results[1].cause is not Cause.CORPUS
    assert direct.results[0].cause is Cause.REASONING
    assert bench.run(DIRECT).evaluation.lacking == {}, "nothing is searched"


def test_questions_alike_with_other_texts_are_refused_for_gold(bench: Bench) -> None:
    first, *others = bench.questions.questions
    twin = replace(first, id="twin", context="Another context.")
    bench.questions = replace(bench.questions, questions=(first, *others, twin))
    with pytest.raises(UsageError, match="'q0' and 'twin' are the same question"):
        bench.plan(GOLD)
    assert GOLD in {one.name for one in bench.plan("all").left_out}
    bench.plan(DIRECT)
    same = replace(twin, context=first.context)
    bench.questions = replace(bench.questions, questions=(first, *others, same))
    bench.plan(GOLD)


def test_another_server_may_run_another_model(bench: Bench) -> None:
    def folder(model: str, server: str) -> Path:
        settings = {"chat.model": model, "chat.server": server}
        return bench.plan(DIRECT, settings=settings).setups[0].folder

    here, there = "http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"
    assert folder("openai:x", here) != folder("openai:x", there)
    assert folder("openai:x", here) == folder("openai:x", f"{here}/")
    assert folder("ollama:x", "") == folder("ollama:x", "http://127.0.0.1:11434")
    assert folder("ollama:x", here) != folder("ollama:x", "")
    assert folder("tiny", here) == folder("tiny", there)


def test_a_dead_server_stops_its_entry_alone(
    bench: Bench, tiny_chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ModelStore(bench.workspace.models).add(tiny_chat, name="dead", kind="chat")
    dead = Knowing()

    def fail(_: str) -> None:
        raise ServerUnreachable("Nobody answers.", "Start it.")

    dead.behave = fail
    models = {"tiny": bench.model, "dead": dead}
    monkeypatch.setattr(
        "localrag.methods.answering.open_chat", lambda _, config, *__: models[config.chat.model]
    )
    finished = bench.run(models=("dead", "tiny"), orders=2)
    assert [entry.name for entry in finished.evaluation.entries] == [f"{DIRECT} (tiny)"]
    assert list(finished.stopped) == [f"{DIRECT} (dead)"]
    [told] = finished.evaluation.not_measured
    assert (told.name, told.cause, told.cure) == (
        f"{DIRECT} (dead)",
        "Nobody answers.",
        "Start it.",
    )
    assert [one.name for one in bench.events if isinstance(one, NotMeasured)] == [
        f"{DIRECT} (dead)"
    ]
    [(_, run)] = bench.runs()
    assert not run.finished
    assert "Nobody answers" in run.entries[0].stopped
    with pytest.raises(ModelUnusable, match="Nobody answers"):
        bench.run(models=("dead",))
    dead.behave = lambda _: None
    again = bench.run(models=("dead", "tiny"), orders=2)
    assert (again.asked, again.stopped, len(again.evaluation.entries)) == (12, {}, 2)
    assert [run.finished != "" for _, run in bench.runs()] == [True, False]


def test_a_missing_model_is_told_before_anything_is_asked(bench: Bench) -> None:
    with pytest.raises(ModelUnusable, match="not installed"):
        bench.run(models=("tiny", "none"))
    assert bench.model.asked == []
    assert bench.runs() == []


def test_what_cannot_be_run(bench: Bench) -> None:
    with pytest.raises(UsageError, match="needs a writing model"):
        bench.plan(DIRECT, settings={"chat.model": ""})
    with pytest.raises(UsageError, match="Did you mean statute-direct"):
        bench.plan("statute-derict")
    with pytest.raises(UsageError, match="No methods to evaluate"):
        bench.plan()
    with pytest.raises(UsageError, match="orders"):
        bench.plan(DIRECT, orders=5)
    config = load(bench.workspace, {"chat.model": "tiny"})
    with pytest.raises(NotFoundError, match="no corpus 'none'") as caught:
        plan(bench.workspace, bench.questions, "none", config, [FIXED])
    assert "localrag add PATH --corpus none" in caught.value.cure
    plan(bench.workspace, bench.questions, "none", config, [DIRECT])
    without = [replace(one, context="") for one in bench.questions.questions]
    bench.questions = replace(bench.questions, questions=tuple(without))
    with pytest.raises(UsageError, match="the dataset has none"):
        bench.plan(GOLD)


def test_all_names_what_it_leaves_out(bench: Bench) -> None:
    planned = bench.plan("all", settings={"chat.model": ""})
    assert DIRECT in {one.name for one in planned.left_out}
    wordy = [one for one in planned.left_out if not method(one.name).chooses]
    assert all("chooses between no options" in one.cause for one in wordy)
    assert all("--model" in one.cure for one in planned.left_out if one not in wordy)
    assert {setup.method.needs_model for setup in planned.setups} == {False}
    assert len(bench.plan("all").setups) == len(NAMES) - len(wordy)


def test_names_are_plain(bench: Bench) -> None:
    with pytest.raises(UsageError, match="name of a run"):
        bench.run(run="../elsewhere")
    dataset = replace(bench.questions.dataset, name="../ferries")
    bench.questions = replace(bench.questions, dataset=dataset)
    with pytest.raises(UsageError, match="name of a dataset"):
        bench.plan(DIRECT)


def test_a_run_by_name(bench: Bench) -> None:
    first = bench.run(run="before")
    assert first.evaluation.id == "before"
    assert bench.run(run="before").folder == first.folder
    written = (first.folder / "run.json").read_bytes()
    with pytest.raises(UsageError, match=r"differs in orders, chat\.seed") as caught:
        bench.run(run="before", orders=2, settings={"chat.seed": 1})
    assert "another name" in caught.value.cure
    assert (first.folder / "run.json").read_bytes() == written
    assert bench.model.asked == []
    assert bench.run(run="after", orders=2).folder != first.folder
    (first.folder / "run.json").write_text("torn")
    with pytest.raises(UsageError, match="holds something else"):
        bench.run(run="before")
    assert (first.folder / "run.json").read_text() == "torn"
    record.write(first.folder, bench.runs()[0][1])
    found = record.find(bench.workspace, "before")
    assert found == record.find(bench.workspace, "ferries/before") == first.folder
    with pytest.raises(NotFoundError, match="localrag eval list"):
        record.find(bench.workspace, "none")


def test_a_prompt_optimised_on_these_questions_is_told(bench: Bench) -> None:
    provenance = {
        "seen": " ".join(
            mark(one.query.text, one.query.options) for one in bench.questions.questions
        )
    }
    OptimisedPrompt("seen", "Write a query.", provenance).save(bench.workspace.prompts)
    OptimisedPrompt("unseen", "Write a query.").save(bench.workspace.prompts)
    bench.model.behave = lambda asked: (
        json.dumps(searches("渡し守"))
        if len(bench.model.asked) % 2
        else json.dumps({"reason": "", "label": "a"})
    )
    seed = OptimisedPrompt("seed", "Write a query.")
    provenance = {"is_seed": True, "digest": seed.digest}
    replace(seed, provenance=provenance).save(bench.workspace.prompts)
    finished = bench.run("statute-gepa", settings={"method.query_prompt": "seed"}, limit=2)
    for one in finished.evaluation.entries[0].results:
        assert any("optimisation found no better" in str(note) for note in one.notes)
    for name, told in (("seen", True), ("unseen", False)):
        finished = bench.run("statute-gepa", settings={"method.query_prompt": name}, limit=2)
        notes = finished.evaluation.entries[0].results[0].notes
        assert any("optimised on this question" in str(note) for note in notes) is told


def test_a_forecast_writes_nothing(bench: Bench) -> None:
    bench.run(limit=2)
    before = sorted(bench.workspace.runs.rglob("*"))
    direct, fixed = forecast(bench.plan(DIRECT, FIXED, orders=2))
    assert (direct.done, direct.left, direct.calls) == (2, 10, 10)
    assert direct.prompt > 0
    assert (fixed.done, fixed.left, fixed.calls, fixed.prompt) == (0, 12, 12, 0)
    assert sorted(bench.workspace.runs.rglob("*")) == before


def test_what_is_being_asked_is_told(bench: Bench) -> None:
    bench.run(DIRECT, GOLD, orders=2)
    told = [one for one in bench.events if isinstance(one, Asking)]
    assert told[0] == Asking(DIRECT, 0, 2, 1, 4)
    assert told[-1] == Asking(GOLD, 1, 2, 4, 4)


ANSWERED = json.dumps(
    {
        "row": 1,
        "line": 1,
        "id": "q1",
        "question": question(1).query.text,
        "options": question(1).query.options,
        "status": "supported",
        "label": "b",
        "answer": "",
        "seconds": 1,
    },
    ensure_ascii=False,
)


def test_an_answer_is_read(tmp_path: Path) -> None:
    path = tmp_path / "order-0.jsonl"
    path.write_text(f"{ANSWERED}\n", encoding="utf-8")
    assert results(path, questions(), 0, method(DIRECT))[1].score == 1


@each(
    "line",
    [
        "nonsense",
        "[]",
        '{"row": 1}',
        '{"row": 1, "status": "failed", "error": {}}',
        ANSWERED.replace("資格", "許可"),
        ANSWERED.replace('"row": 1', '"row": 0'),
        ANSWERED.replace('"row": 1', '"row": true'),
        ANSWERED.replace('"label": "b"', '"label": ""'),
        ANSWERED.replace('"label": "b"', '"label": "e"'),
        ANSWERED.replace('"seconds": 1', '"seconds": NaN'),
        ANSWERED.replace('"seconds": 1', '"seconds": -1'),
        re.sub('"question": "[^"]*"', '"question": null', ANSWERED),
        "[" * 100_000,
    ],
)
def test_damaged_answers_are_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "order-0.jsonl"
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(WorkspaceError, match="line 1 is no answer") as caught:
        results(path, questions(), 0, method(DIRECT))
    assert "Delete that line" in caught.value.cure


def test_a_line_cut_off_is_none(tmp_path: Path) -> None:
    path = tmp_path / "order-0.jsonl"
    path.write_text('{"row": 1, "id')
    assert results(path, questions(), 0, method(DIRECT)) == {}
    assert results(tmp_path / "none", questions(), 0, method(DIRECT)) == {}


def questions() -> Sequence[Question]:
    return [question(1)]
