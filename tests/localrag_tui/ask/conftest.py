"""Answers for the scripted engine, on the sample corpus, and how a question is asked."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from textual.app import App
from textual.events import Paste
from textual.pilot import Pilot

from localrag.answer.checking import Mismatch, MismatchKind
from localrag.answer.types import Answer, Citation, Claim, Derivation, Stage, Status, Step, verify
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import PARAGRAPHS, Locator, Triple
from localrag.corpus.workspace import Workspace
from localrag.ops.conversations.store import Conversations
from localrag.search.types import Hit, ModelCall, StageRecord, Trace
from localrag.text.facts import Fact, FactKind
from localrag_tui.ask.transcript import TurnView

_LAW, _ORDER = "599AC0000000001", "599CO0000000002"


class Answers(NamedTuple):
    """What can be answered."""

    supported: Answer
    rejected: Answer
    not_found: Answer
    derived: Answer
    chosen: Answer
    beside: Answer
    stages: tuple[StageRecord, ...]


@pytest.fixture
def answers(bench_home: Path) -> Answers:
    place = Workspace.locate(bench_home).corpus("main")
    with CorpusStore.open(place.store, read_only=True) as store:
        article, rule = (
            store.at(law, Locator(article=number, paragraph="1"), PARAGRAPHS)
            for law, number in ((_LAW, "8"), (_ORDER, "4"))
        )
        assert article is not None
        assert rule is not None
        quoted = verify(store, Citation(article.id, "政令で定める基準を超えるとき"))
        level = verify(store, Citation(rule.id, "平常時の水位に一・五メートルを加えた高さ"))
        made_up = verify(store, Citation(rule.id, "二百メートル", label=rule.header))
    stages = tuple(
        StageRecord(name, (Hit(article, 2.0, 1, name), Hit(rule, 1.0, 2, name)), 0.004, events)
        for name, events in (
            ("resolve", ()),
            ("lexical", (Fact(FactKind.SAID, words="a stage left [red]this out"),)),
        )
    )
    trace = Trace(stages, (ModelCall("tiny", 1204, 812, 96, 4.0),))
    claims = (
        Claim("基準を超えるときは運航できない。", (1,)),
        Claim("水位は一・五メートル増。", (2,)),
    )
    too_high = Mismatch(MismatchKind.FIGURE, "二百メートル")
    return Answers(
        Answer("x", (quoted, level), Status.SUPPORTED, trace, claims),
        Answer(
            "x",
            (quoted, made_up),
            Status.UNSUPPORTED,
            trace,
            (
                replace(claims[0], moved=True),
                Claim("水位は二百メートル。", (2,), (too_high,)),
            ),
        ),
        Answer("", (), Status.NOT_FOUND, trace),
        Answer(
            "かわせみ丸",
            (quoted,),
            Status.SUPPORTED,
            trace,
            derivation=Derivation(
                (
                    Step(
                        "かわせみ丸の進水日は?",
                        "かわせみ丸",
                        "進水日",
                        Triple("かわせみ丸", "進水日", ("1988年4月1日",)),
                        Stage.KNOWLEDGE,
                        1,
                        (Stage.KNOWLEDGE,),
                    ),
                    Step("廃船日は?", "かわせみ丸", "廃船日", tried=(Stage.KNOWLEDGE,)),
                ),
                ("1988年4月1日 < 1999年4月1日",),
            ),
        ),
        Answer("乗せてよい", (quoted,), Status.SUPPORTED, trace, (claims[0],), label="b"),
        Answer(
            quoted.quote,
            (replace(quoted, beside=True),),
            Status.QUOTED,
            Trace(stages),
            absent=("会社法",),
        ),
        stages,
    )


@pytest.fixture
def ask(until: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Types a question and asks it: ``await ask(pilot, "…")``; waits until it has its end."""

    async def put(pilot: Pilot[Any], question: str, *, ends: bool = True) -> None:
        await until(pilot, lambda: pilot.app.screen.query("#question"))
        before = len(pilot.app.screen.query(TurnView))
        pilot.app.post_message(Paste(question))
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: len(pilot.app.screen.query(TurnView)) > before)
        if ends:
            await until(pilot, lambda: pilot.app.screen.query(TurnView).last().progress is None)
        await pilot.pause()

    return put


@pytest.fixture
def told() -> Callable[[App[Any]], str]:
    """What was told beside the screen, without the breaks with which it is shown."""
    return lambda app: " ".join(" ".join(note.message.split()) for note in app._notifications)


@pytest.fixture
def kept(bench_home: Path) -> Iterator[Conversations]:
    """The conversations as another process sees them."""
    with Conversations.open(Workspace.locate(bench_home)) as conversations:
        yield conversations
