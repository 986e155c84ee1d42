"""Conversations that some workbench has kept, and the dialogue that shows them."""

import time
from collections.abc import Callable, Iterator

import pytest

from localrag.answer.types import Answer, Citation, Claim, Status
from localrag.corpus.workspace import Workspace
from localrag.ops.conversations.store import Conversations
from localrag.search.types import Query, Trace
from localrag_tui.conversations import ConversationList, ConversationsDialogue

HOSTILE = "[red]赤[/red] \x1b[31m\u202e[@click=app.bell]x"


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The clock on the wall is that of the store."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def workspace(bench_home) -> Workspace:
    """The workspace with the sample corpus: one without any opens with another dialogue."""
    return Workspace(bench_home)


@pytest.fixture
def keep(workspace) -> Callable[[], dict[str, int]]:
    """Keeps five conversations, a state each, and gives their ids by title; the last is newest."""

    def write() -> dict[str, int]:
        with Conversations.open(workspace) as kept:
            ids = {title: kept.new(title).id for title in ("川", "茶会", "ferry", HOSTILE, "")}
            for number, title in enumerate(["川", "茶会", "ferry", HOSTILE]):
                for _ in range(number + 1):
                    turn = kept.begin(ids[title], Query(f"{title}の水位は？"), "main", "", "")
                if title == "川":
                    kept.finish(turn.id, ANSWER, 1)
                if title == "茶会":
                    kept.cancel(turn.id)
                if title == "ferry":
                    kept.fail(turn.id, "x")
            # Years ago, a day each; the last question of the fourth was interrupted.
            kept._db.write(
                "UPDATE conversations SET changed = '2019-05-0' || id || 'T12:00:00.000000+00:00'"
            )
        return ids

    return write


@pytest.fixture
def opened(until):
    """Opens the dialogue: ``dialogue, chosen = await opened(app, pilot)``."""

    async def open_(app, pilot):
        chosen = []
        dialogue = ConversationsDialogue()
        await until(pilot, lambda: app.screen.is_mounted)
        app.push_screen(dialogue, chosen.append)
        await until(pilot, lambda: settled(dialogue))
        return dialogue, chosen

    return open_


def settled(dialogue) -> bool:
    """Whether the dialogue shows what it found, or that it found nothing."""
    return any(listed.shown for listed in dialogue.query(ConversationList)) or bool(
        dialogue.query(".-nothing")
    )


ANSWER = Answer(
    "二メートル",
    (Citation("F1#8", "渡し守は", 0, 4, "渡し舟法 第八条", verified=True),),
    Status.SUPPORTED,
    Trace(),
    (Claim("水位が二メートルを超えるとき。", (1,)),),
)
