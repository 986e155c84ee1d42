"""Stored replies of models replace calls, and can be forgotten."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import searches

from localrag.corpus.config import ChatConfig, Config
from localrag.corpus.workspace import Workspace
from localrag.doors.forgetting import forget_searches
from localrag.methods.toolkit import Remembered, key_of
from localrag.search.types import Query
from localrag_models.chat import Message

ASKED = Query("お客さんを向こう岸に渡す仕事は、だれでもやっていいの")
WRITTEN = searches("渡し守の資格")
NOTHING: dict[str, Any] = {"claims": []}

Play = Callable[..., Any]


@pytest.fixture
def asked(play: Play, sample_home: Any, tmp_path: Path) -> Play:
    """Plays `generative` on the sample corpus, with the memory of this test."""

    def played(*replies: Any, query: Query = ASKED, **settings: Any) -> Any:
        config = Config(chat=ChatConfig(max_tokens=300, **settings))
        memory = tmp_path / "searches"
        return play("generative", query, *replies, home=sample_home, config=config, memory=memory)

    return played


def purposes(played: Any) -> list[str]:
    return [call.purpose for call in played.trace.calls]


def kinds(played: Any) -> list[str]:
    return [one.kind.name for one in played.trace.events]


def test_the_same_question_is_not_written_for_again(asked: Play) -> None:
    first, again = asked(WRITTEN, NOTHING), asked(NOTHING)
    assert (purposes(first), purposes(again)) == (["query", ""], [""])
    assert "REPLY_REMEMBERED" not in kinds(first)
    assert "REPLY_REMEMBERED" in kinds(again)
    hits = [
        [hit.passage.id for stage in one.trace.stages if stage.stage == "written"
         for hit in stage.hits]
        for one in (first, again)
    ]  # fmt: skip
    assert hits[0] == hits[1] != []


@pytest.mark.parametrize(
    "other",
    [{"query": Query("渡し守には、だれがなれるの")}, {"seed": 1}, {"temperature": 0.5}],
    ids=["question", "seed", "temperature"],
)
def test_another_request_is_another(asked: Play, other: dict[str, Any]) -> None:
    asked(WRITTEN, NOTHING)
    assert purposes(asked(WRITTEN, NOTHING, **other)) == ["query", ""]


def test_a_malformed_reply_is_not_kept(asked: Play) -> None:
    asked("malformed", "malformed", NOTHING)
    assert purposes(asked(WRITTEN, NOTHING)) == ["query", ""]


def test_a_damaged_file_is_written_anew(asked: Play, tmp_path: Path) -> None:
    asked(WRITTEN, NOTHING)
    for path in (tmp_path / "searches").iterdir():
        path.write_bytes(b'{"searches": [{"la\xff')
    assert purposes(asked(WRITTEN, NOTHING)) == ["query", ""]
    assert purposes(asked(NOTHING)) == [""]


def test_a_folder_that_cannot_be_written_costs_a_call(asked: Play, tmp_path: Path) -> None:
    (tmp_path / "searches").write_text("a file")
    for _ in range(2):
        assert purposes(asked(WRITTEN, NOTHING)) == ["query", ""]


def test_the_oldest_go_first(tmp_path: Path) -> None:
    memory = Remembered(tmp_path / "searches", most=3)
    for number in range(5):
        memory.put(f"{number}", f"reply {number}")
    assert len(list((tmp_path / "searches").iterdir())) == 3
    assert memory.get("4") == "reply 4"
    assert memory.get("unknown") == ""


def test_forgotten_with_whatever_is_forgotten(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    Remembered(workspace.searches).put("key", "白浜商会の買収")
    assert workspace.searches.stat().st_mode & 0o077 == 0
    forget_searches(workspace)
    assert not workspace.searches.exists()
    forget_searches(workspace)


def test_a_server_and_a_prompt_have_keys_of_their_own() -> None:
    keys = {
        key_of(model, ChatConfig(server=server), (Message(role, text),))
        for model in ("one", "two")
        for server in ("", "http://127.0.0.1:8080/v1")
        for role, text in (("system", "甲"), ("system", "乙"), ("user", "甲\ud800"))
    }
    assert len(keys) == 12
