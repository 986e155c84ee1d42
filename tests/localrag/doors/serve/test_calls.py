"""A filter is declared once: every door takes it, and it leaves the same everywhere."""

from dataclasses import dataclass, fields
from typing import Annotated

import pytest
from mcp import Client

import localrag
from localrag.corpus.types import Label
from localrag.doors.calls import AskCall, Call, CliOption, Filtered, Narrows, SearchCall, adapter
from localrag.doors.serve.desk import Desk
from localrag.doors.serve.mcp import server_of
from localrag.errors import NotFoundError, UsageError
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


def _chapters(store, titles: tuple[str, ...]) -> tuple[Label, ...]:
    return tuple(Label("chapter", title) for title in titles)


@dataclass(frozen=True, kw_only=True, eq=False)
class ChapterCall(SearchCall):
    """A call with one filter more."""

    chapter: Annotated[
        tuple[str, ...],
        CliOption(metavar="TITLE", names=("--chapter",)),
        Narrows("where", _chapters),
    ] = ()


def test_a_field_of_a_call_is_a_whole_filter(session) -> None:
    call = ChapterCall.of(query=ASKED, chapter=["罰則"], where=["kind=Act"])
    with session.corpus() as corpus:
        filters = call.filters(corpus.store)
        found = corpus.search(call.as_query(corpus.store))
        same = corpus.search(ASKED, where="kind=Act; chapter=罰則")
    assert filters.where == (Label("kind", "Act"), Label("chapter", "罰則"))
    assert found.hits
    assert [hit.passage.id for hit in found.hits] == [hit.passage.id for hit in same.hits]


def test_a_part_of_a_law_narrows_a_search(session) -> None:
    with session.corpus() as corpus:
        whole = corpus.search("渡し舟", 50, law="渡し舟法").hits
        for written, articles in (
            ("渡し舟法7〜9条", {"7", "8", "9"}),
            ("渡し舟法第8条", {"8"}),
            ("渡し舟法第四章", {"13", "14", "15"}),
        ):
            found = corpus.search("渡し舟", 50, law=written)
            assert {hit.passage.locator.article for hit in found.hits} <= articles, written
            assert found.hits, written
        both = corpus.search("渡し舟", 50, law=["渡し舟法8条", "渡し舟法施行令"])
        documents = {hit.passage.document_id for hit in both.hits}
        assert len(documents) == 2
        assert {
            hit.passage.locator.article
            for hit in both.hits
            if hit.passage.document_id == whole[0].passage.document_id
        } <= {"8"}
        for wrong in ("渡し舟法第九章", "渡し舟法99条", "幽霊法"):
            with pytest.raises(NotFoundError):
                corpus.search("渡し舟", law=wrong)


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
