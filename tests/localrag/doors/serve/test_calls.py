"""A filter is declared once: every door takes it, and it leaves the same everywhere."""

from dataclasses import fields

import pytest
from mcp import Client

import localrag
from localrag.doors.calls import AskCall, Call, Filtered, adapter
from localrag.doors.serve.desk import Desk
from localrag.doors.serve.mcp import server_of
from localrag.errors import UsageError
from localrag.search import MAX_CHARACTERS

from ....rows import each

ASKED = "渡し舟の登録と罰金"
FILTERS = {
    "law": ["渡し舟法"],
    "type": ["Act"],
    "layer": ["articles"],
    "date_from": "2026-01-01",
    "date_to": "2026-12-31",
    "where": ["chapter=罰則"],
}
"""A value of every filter; a new filter needs one."""


def test_every_filter_is_tried_here() -> None:
    assert list(FILTERS) == [one.name for one in fields(Filtered)[len(fields(Call)) :]]


def test_a_question_may_be_as_long_as_the_search_takes() -> None:
    question = adapter(AskCall).json_schema()["properties"]["question"]
    assert question["maxLength"] == MAX_CHARACTERS


@each("name", FILTERS)
async def test_every_door_takes_a_filter(serve, cli, sample_home, session, name) -> None:
    given = FILTERS[name]
    option = f"--{name.removeprefix('date_')}"
    typed = [part for value in ([given] if isinstance(given, str) else given)
             for part in (option, value)]  # fmt: skip
    printed = cli("--home", str(sample_home), "search", ASKED, *typed, "--json").json
    filters, ids = printed["query"]["filters"], [hit["passage"]["id"] for hit in printed["hits"]]
    assert any(filters.values())
    assert ids

    async with serve() as http:
        call = {"query": ASKED, name: given}
        reply = (await http.post("/search", json=call)).json()
        assert reply["query"]["filters"] == filters
        assert [hit["passage"]["id"] for hit in reply["hits"]] == ids
        asked = {"question": ASKED, name: given}
        answer = (await http.post("/ask", json=asked)).json()
        chat = {
            "model": "localrag",
            "messages": [{"role": "user", "content": ASKED}],
            "localrag": {name: given},
        }
        completed = (await http.post("/v1/chat/completions", json=chat)).json()["localrag"]
        assert completed["ignored"] == []
        assert completed["answer"]["citations"] == answer["citations"]
        chat["localrag"] = {name: 1}
        refused = await http.post("/v1/chat/completions", json=chat)
        assert refused.status_code == 400
        assert f"localrag.{name}" in refused.json()["error"]["message"]

    async with Desk(session) as desk, Client(server_of(desk)) as agent:
        told = await agent.call_tool("search", {**call, "characters": 1_000_000})
        assert told.structured_content["query"]["filters"] == filters

    with localrag.open(sample_home).corpus() as corpus:
        value = "; ".join(given) if name == "where" else given
        found = corpus.search(ASKED, **{name: value})
        assert [hit.passage.id for hit in found.hits] == ids


def test_python_refuses_a_wrong_filter(sample_home) -> None:
    with localrag.open(sample_home).corpus() as corpus:
        with pytest.raises(UsageError, match="There is no filter 'lew'"):
            corpus.search(ASKED, lew="渡し舟法")
        with pytest.raises(UsageError, match="date_from"):
            corpus.ask(ASKED, date_from="yesterday")
        assert corpus.search(ASKED, law="渡し舟法").hits
