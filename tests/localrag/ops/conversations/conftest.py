"""An empty file of conversations, and answers to write into it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from localrag.answer.checking import Mismatch, MismatchKind
from localrag.answer.types import Answer, Citation, Claim, Derivation, Nearest, Stage, Status, Step
from localrag.corpus.database import Database
from localrag.corpus.types import Locator, Passage, Triple
from localrag.corpus.workspace import Workspace
from localrag.ops.conversations.store import CONVERSATIONS, Conversations, Owner
from localrag.search.types import Hit, ModelCall, StageRecord, Trace
from localrag.text.facts import Fact, FactKind

OFF = Fact(FactKind.LEXICAL_OFF)


@pytest.fixture
def workspace(home: Path) -> Workspace:
    return Workspace(home)


@pytest.fixture
def file(workspace: Workspace) -> Database:
    """The file that `conversations` writes; closed with them."""
    return Database(workspace.conversations, CONVERSATIONS, create=True)


@pytest.fixture
def conversations(file: Database, workspace: Workspace) -> Iterator[Conversations]:
    with Conversations(file, Owner(workspace.conversations.with_suffix(".locks"))) as opened:
        yield opened


@pytest.fixture
def answer() -> Callable[..., Answer]:
    """Makes an answer with all possible parts; arguments replace some."""

    def make(**parts: Any) -> Answer:
        known = Stage.KNOWLEDGE
        triple = Triple("渡し舟", "定員", ("十二人",), "台帳", "2021")
        passage = Passage(
            *("F1#8.1", "F1", "paragraphs", "渡し守は…", "渡し舟法 第八条 第一項"),
            *(Locator(article="8", paragraph="1"), 10, 15),
            triple=triple,
        )
        hit = Hit(passage, float("inf"), 1, "lexical", Fact(FactKind.NAMED, other="第八条"))
        values: dict[str, Any] = {
            "text": "二メートル",
            "citations": (
                Citation(
                    *("F1#8.1", "渡し守は", 10, 14, "渡し舟法 第八条", "2026-04-01"), verified=True
                ),
                Citation("F1#9", "ない文", problem=Fact(FactKind.QUOTE_NOT_HELD)),
            ),
            "status": Status.UNSUPPORTED,
            "trace": Trace(
                (StageRecord("lexical", (hit,), 0.1, (OFF,), "option a", "水位"),),
                (ModelCall("tiny", 12, None, 3, 0.5, "verdict a", Fact(FactKind.REPLY_CUT, n=3)),),
            ),
            "claims": (
                Claim(
                    "水位が二メートルを超えるとき。",
                    (1, 2),
                    (Mismatch(MismatchKind.FIGURE, "二メートル"),),
                    moved=True,
                ),
            ),
            "absent": ("会社法",),
            "quotations": (Citation("F1#8.2", "水位が", 20, 23, "第二項", verified=True),),
            "nearest": (Nearest("F1#10", "渡し舟法 第十条", "渡し守は、…"),),
            "label": "b",
            "doubts": (Fact(FactKind.NOT_QUOTED),),
            "derivation": Derivation(
                (
                    Step(
                        "定員は", "渡し舟", "定員", triple, Stage.KNOWLEDGE, 1, (Stage.KNOWLEDGE,)
                    ),
                    Step("船長は", "渡し舟", "船長", tried=(known, Stage.MODEL)),
                ),
                ("10 < 12",),
            ),
        }
        return Answer(**(values | parts))

    return make
