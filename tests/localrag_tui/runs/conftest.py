"""Runs that are always the same: batches on disk, an evaluation that has finished, jobs."""

import json
import shutil
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from localrag.answer.types import UNWATCHED, Answer, Citation, Status, Watch
from localrag.corpus.config import load
from localrag.corpus.workspace import Workspace
from localrag.errors import InputError
from localrag.evaluation import record, report
from localrag.evaluation.datasets import loading
from localrag.evaluation.planning import plan
from localrag.evaluation.runner import evaluate
from localrag.ops import batch
from localrag.ops.batch.registry import KnownBatch
from localrag.search.types import Query, Trace
from localrag.text.facts import Fact, FactKind

HOSTILE = "[red]\x1b[2J\u202e悪い[/red] 問"
BEGUN = "2026-11-22T01:00:00+00:00"
# What draws the plot of a report, and what the tests have in its place.
UNDRAWN = ("localrag.evaluation.report.plotted", lambda _: "<svg/>")


class _Scripted:
    """Answers with a passage of the sample; fails where a question says so."""

    parallel = 1

    def __init__(self, workspace: Workspace) -> None:
        from localrag.corpus.store import CorpusStore

        with CorpusStore.open(workspace.corpus("main").store, read_only=True) as store:
            _key, self._passage = next(iter(store.passages()))

    def answer(self, query: Query, watch: Watch = UNWATCHED) -> Answer:
        watch.require()
        if "失敗" in query.text:
            raise InputError(f"It broke: {HOSTILE}", "Mend [b]it[/b].")
        end = self._passage.start + 3
        quote = self._passage.text[:3]
        held = Citation(self._passage.id, quote, self._passage.start, end, "第一条", verified=True)
        rejected = Citation(
            self._passage.id, HOSTILE, 0, 0, "第二条", problem=Fact(FactKind.QUOTE_NOT_HELD)
        )
        return Answer(f"{query.text} {HOSTILE}", (held, rejected), Status.SUPPORTED, Trace((), ()))


@pytest.fixture
def workspace(bench_home: Path) -> Workspace:
    """That of the application."""
    return Workspace.locate(bench_home)


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    """Writes a table of questions: ``table(120)``, ``table(texts=[…])``."""

    def write(n: int = 3, *, texts: list[str] | None = None, name: str = "questions") -> Path:
        path = tmp_path / f"{name}.jsonl"
        texts = texts or [f"渡し舟を運航してはならないのはどのときか。{i}" for i in range(n)]
        rows = [{"id": f"q{i}", "question": text} for i, text in enumerate(texts, 1)]
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        path.write_text("".join(lines), encoding="utf-8")
        return path

    return write


@pytest.fixture
def done_batch(
    workspace: Workspace, table: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., KnownBatch]:
    """Runs a batch to its end; of its rows those fail that say so (失敗)."""

    def make(*texts: str, name: str = "answers") -> KnownBatch:
        questions = table(texts=list(texts) or ["渡し舟とは", "これは失敗", HOSTILE], name=name)

        @contextmanager
        def opener(*_: object) -> Any:
            yield _Scripted(workspace)

        out = questions.with_name(f"{name}.out.jsonl")
        for module in ("registry", "running"):
            monkeypatch.setattr(f"localrag.ops.batch.{module}.now", lambda: BEGUN)
        batch.run(workspace, "main", load(workspace), questions, out, opener=opener)
        return next(one for one in batch.known(workspace) if one.out == out.resolve())

    return make


@pytest.fixture(scope="session")
def evaluated(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with questions and a workspace that holds their evaluation; never write to it."""
    folder = tmp_path_factory.mktemp("evaluated")
    shutil.copytree(sample_home, folder / "home")
    workspace, file = Workspace.locate(folder / "home"), folder / "ferries.jsonl"
    options = ["水位が政令で定める基準を超えるとき", "晴天のとき", "夜のとき", "祭りのとき"]
    rows = [
        {
            "id": f"q{n}",
            "question": f"渡し舟を運航してはならないのはどのときか（{n}）。",
            "options": options,
            "answer": "abcd"[n % 4],
        }
        for n in range(12)
    ]
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    file.write_text("".join(lines), encoding="utf-8")
    questions = loading.load(workspace, str(file))
    planned = plan(workspace, questions, "main", load(workspace), ["statute-lexical"], orders=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*UNDRAWN)
        run = evaluate(planned, run="first").folder
        begun = record.read(run)
        assert begun is not None
        record.write(run, replace(begun, started=BEGUN, finished=BEGUN, machine="two cores"))
        evaluation = record.evaluation_of(run)
        entries = tuple(
            replace(
                entry,
                made_with={"method": entry.method},
                results=tuple(
                    replace(one, spent=replace(one.spent, seconds=0.25)) for one in entry.results
                ),
            )
            for entry in evaluation.entries
        )
        report.write(replace(evaluation, date=BEGUN, machine="two cores", entries=entries), run)
    return folder


@pytest.fixture
def done_evaluation(evaluated: Path, workspace: Workspace, tmp_path: Path) -> Path:
    """The folder of a small evaluation without a model that has finished, with fixed dates."""
    shutil.copy(evaluated / "ferries.jsonl", tmp_path)
    shutil.copytree(evaluated / "home" / "runs", workspace.runs, dirs_exist_ok=True)
    return workspace.runs / "eval" / "ferries" / "first"


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """No report has its plot drawn, which takes longest: the workbench draws one of its own."""
    monkeypatch.setattr(*UNDRAWN)


@pytest.fixture(autouse=True)
def same_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times are shown in UTC, wherever the tests run."""
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
