"""Batches over the sample corpus with scripted answers."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from localrag.answer.types import UNWATCHED, Answer, Citation, Status, Watch
from localrag.corpus.config import load
from localrag.corpus.workspace import Workspace
from localrag.ops.batch import BatchReport, run
from localrag.ops.batch.types import Event
from localrag.search.types import ModelCall, Query, StageRecord, Trace
from localrag.text.facts import Fact, FactKind

Behaviour = Callable[[str], None]

LEFT_OUT = Fact(FactKind.NO_SUCH_LAW, name="渡し舟法")


@dataclass
class Scripted:
    """Answers every question with its own text, after a script.

    Attributes:
        asked: the questions, in order.
        behave: called with each question; its error becomes the outcome.
    """

    parallel: int = 1
    behave: Behaviour = field(default=lambda _: None)
    asked: list[str] = field(default_factory=list)
    opened: int = 0
    _lock: Any = field(default_factory=Lock)

    @contextmanager
    def open(self, *_: object) -> Iterator["Scripted"]:
        self.opened += 1
        yield self

    def answer(self, query: Query, watch: Watch = UNWATCHED) -> Answer:
        with self._lock:
            self.asked.append(query.text)
        self.behave(query.text)
        watch.require()
        quote = Citation("page#1", query.text, 0, len(query.text), "頁", verified=True)
        stage = StageRecord("lexical", (), 0.001, (LEFT_OUT,) if "note" in query.text else ())
        call = ModelCall("tiny", prompt=100, cached=80, completion=7, seconds=0.5)
        return Answer(query.text, (quote,), Status.SUPPORTED, Trace((stage,), (call,)))


@dataclass
class Bench:
    """One batch: its questions, its file of answers, its events."""

    workspace: Workspace
    questions: Path
    out: Path
    events: list[Event] = field(default_factory=list)

    def write(self, *lines: str) -> None:
        self.questions.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def ask(self, *texts: str) -> None:
        self.write(*(json.dumps({"question": text}, ensure_ascii=False) for text in texts))

    def run(self, answers: Scripted, **options: Any) -> BatchReport:
        settings = options.pop("settings", {})
        self.events.clear()
        return run(
            self.workspace,
            "main",
            load(self.workspace, settings),
            self.questions,
            self.out,
            on_event=self.events.append,
            opener=answers.open,
            **options,
        )

    @property
    def rows(self) -> list[dict[str, Any]]:
        with self.out.open(encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    @property
    def facts(self) -> list[Fact]:
        return self.told(Fact)

    def told(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def bench(sample: Path, tmp_path: Path) -> Bench:
    """A batch over the sample corpus, without questions."""
    return Bench(Workspace.locate(sample), tmp_path / "questions.jsonl", tmp_path / "answers.jsonl")


@pytest.fixture
def scripted() -> type[Scripted]:
    """Scripted answers instead of a model."""
    return Scripted
