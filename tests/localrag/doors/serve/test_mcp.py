"""An agent asks: with the JSON of the command line, in words, and bounded."""

import json
import shutil
import socket
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from tiny_models.scripted import searches

from localrag.corpus.config import ServeConfig
from localrag.corpus.workspace import Workspace
from localrag.doors.serve.desk import Desk
from localrag.doors.serve.holders import Tokens
from localrag.doors.serve.mcp import application, server_of
from localrag.doors.session import Session

from ....patience import PATIENCE, comes
from ....rows import each
from .conftest import QUESTION, WaitingChat, answer

ARTICLE = "599AC0000000001#8"


@pytest.fixture
async def agent(desk):
    async with Client(server_of(desk)) as client:
        yield client


async def asked(agent, name, **arguments):
    result = await agent.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


@each(
    ("call", "verb"),
    [
        (("search", {"query": "渡し守の資格", "k": 3}), ["search", "渡し守の資格", "-k", "3"]),
        (("show", {"citation": "渡し舟法8条"}), ["show", "渡し舟法8条"]),
        (("show", {"citation": "渡し舟法7〜8条"}), ["show", "渡し舟法7〜8条"]),
        (("show", {"citation": "渡し舟法"}), ["show", "渡し舟法"]),
        (("history", {"citation": "渡し舟法8条"}), ["history", "渡し舟法8条"]),
        (("check", {"text": "渡し舟法8条、99条"}), ["check", "渡し舟法8条、99条"]),
        (("ask", {"question": QUESTION}), ["ask", QUESTION]),
    ],
)
async def test_a_tool_gives_the_json_of_its_verb(agent, cli, sample_home, call, verb):
    name, arguments = call
    given = await asked(agent, name, **arguments, characters=1_000_000)
    printed = cli("--home", str(sample_home), *verb, "--json").json
    for stage in (*given.get("trace", ()), *printed.get("trace", ())):
        del stage["seconds"]
    assert given == printed


async def test_every_tool_says_what_it_takes_and_gives(agent):
    tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
    assert tools.keys() == {
        "search", "show", "resolve", "history", "affected", "pending", "diff", "check", "ask",
        "corpora", "more",
    }  # fmt: skip
    for tool in tools.values():
        assert tool.description
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        assert tool.annotations.read_only_hint
    assert tools["search"].input_schema["required"] == ["query"]
    # Clients that ask a person for a number ask for one: it is never "a number or nothing".
    given = tools["search"].input_schema["properties"]
    assert given["k"]["type"] == given["characters"]["type"] == "integer"
    assert given["as_of"]["type"] == "string"
    # All of it is read before the first question is.
    assert sum(len(json.dumps(tool.input_schema)) for tool in tools.values()) < 12_000


async def test_a_long_result_is_cut_and_can_be_gone_on_with(agent):
    whole = await asked(agent, "search", query="渡し舟", k=10, characters=1_000_000)
    assert "cut" not in whole
    shown = await asked(agent, "search", query="渡し舟", k=10, characters=3_000)
    assert len(json.dumps(shown, ensure_ascii=False)) <= 3_000
    hits = next(cut for cut in shown["cut"] if cut["part"] == "hits")
    assert hits == {"part": "hits", "shown": len(shown["hits"]), "of": len(whole["hits"])}
    first = {"tool": "search", "arguments": {"query": "渡し舟", "k": 10}}
    more = await asked(agent, "more", **first, part="hits", start=hits["shown"], characters=3_000)
    assert more["value"][0]["passage"]["id"] == whole["hits"][hits["shown"]]["passage"]["id"]
    text = await asked(agent, "more", **first, part="hits.0.passage.text")
    assert text["value"] == whole["hits"][0]["passage"]["text"]
    assert text["next"] is None


async def test_what_a_citation_means_is_told(agent):
    certain, missing = (await asked(agent, "resolve", citation="渡し舟法8条、99条"))["citations"]
    (place,) = certain["candidates"]
    assert (place["passage_id"], place["locator"]) == (ARTICLE, "8")
    assert missing["candidates"] == []
    assert missing["problem"]
    assert missing["nearest"]
    (several,) = (await asked(agent, "resolve", citation="7条"))["citations"]
    assert len(several["candidates"]) > 1


async def test_corpora(agent):
    (corpus,) = (await asked(agent, "corpora"))["corpora"]
    assert (corpus["corpus"], corpus["documents"], corpus["index"]) == ("main", 12, "fresh")


@each(
    ("name", "arguments", "words"),
    [
        ("search", {"query": ""}, "query: String should have at least 1 character"),
        ("search", {"query": "a", "k": 1000}, "less than or equal to 100"),
        ("search", {"query": "a", "path": "/etc/passwd"}, "path: Extra inputs"),
        ("search", {"query": "\ud800"}, "hex escape"),
        ("search", {"query": "a", "corpus": "../main"}, "There is no corpus '../main'"),
        ("search", {"query": "a", "corpus": "none"}, "There is no corpus 'none'"),
        ("search", {"query": "title:x^2 AND *"}, None),
        ("show", {"citation": "渡し舟法99条"}, "99"),
        ("show", {"citation": "../../localrag.toml"}, "names no provision"),
        (
            "diff",
            {"law": "渡し舟法", "before": "x", "after": "y"},
            "before: Value error",
        ),
        ("ask", {"question": "。"}, "UsageError: "),
        ("show", {"citation": "渡し舟法8条", "characters": 10}, "characters: "),
        ("more", {"tool": "ask", "arguments": {"question": "a"}, "part": "text"}, "tool: "),
        ("more", {"tool": "show", "arguments": {}, "part": "text"}, "citation: Field required"),
        (
            "more",
            {"tool": "show", "arguments": {"citation": "渡し舟法8条"}, "part": "hits.*.text"},
            "There is: passage, document",
        ),
        (
            "more",
            {"tool": "show", "arguments": {"citation": "渡し舟法99条"}, "part": "passage.text"},
            "NotFoundError: ",
        ),
    ],
)
async def test_what_cannot_be_done_is_said(agent, name, arguments, words):
    result = await agent.call_tool(name, arguments)
    assert result.is_error == (words is not None)
    assert words is None or words in result.content[0].text


GIVEN = {
    "search": {"query": "渡し守の資格"},
    "show": {"citation": "渡し舟法8条"},
    "resolve": {"citation": "渡し舟法8条"},
    "history": {"citation": "渡し舟法8条"},
    "diff": {"law": "渡し舟法", "before": "2026-05-01", "after": "2027-01-01"},
    "check": {"text": "渡し舟法8条"},
    "ask": {"question": QUESTION},
    "corpora": {},
    "more": {"tool": "show", "arguments": {"citation": "渡し舟法8条"}, "part": "passage.text"},
}


@each("name", GIVEN)
async def test_null_says_that_something_is_not_given(agent, name):
    tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
    schema = tools[name].input_schema
    optional = schema["properties"].keys() - set(schema.get("required", ()))
    assert optional
    plain = await agent.call_tool(name, GIVEN[name])
    nulls = await agent.call_tool(name, {**GIVEN[name], **dict.fromkeys(optional)})
    told = [plain.structured_content or {}, nulls.structured_content or {}]
    for stage in (*told[0].get("trace", ()), *told[1].get("trace", ())):
        del stage["seconds"]
    assert told[0] == told[1]
    # The sample has one text of each law: there is nothing to compare.
    assert plain.is_error == nulls.is_error == (name == "diff")
    assert "UsageError" not in nulls.content[0].text
    for required in schema.get("required", ()):
        refused = await agent.call_tool(name, {**GIVEN[name], required: None})
        assert refused.is_error
        assert refused.content[0].text.startswith(f"UsageError: {required}: ")


async def test_an_unforeseen_error_tells_nothing(agent, monkeypatch, caplog):
    async def fail(*_):
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(Desk, "carry_out", fail)
    told = await agent.call_tool("resolve", {"citation": "渡し舟法8条"})
    assert told.is_error
    with pytest.raises(MCPError) as of_resource:
        await agent.read_resource("localrag://provision/main/599AC0000000001%238")
    for words in (told.content[0].text, str(of_resource.value)):
        assert "Unexpected error" in words
        assert "secret" not in words
    assert [record.name for record in caplog.records].count("localrag_serve") == 2
    assert "/secret/path" in caplog.text


async def test_an_error_names_no_path_of_the_machine(sample, caplog):
    store = sample / "corpora" / "main" / "corpus.sqlite"
    store.write_bytes(b"no database" * 1_000)
    session = Session(Workspace.locate(sample))
    async with Desk(session) as desk, Client(server_of(desk)) as agent:
        told = [await agent.call_tool(name, GIVEN[name]) for name in ("show", "ask", "corpora")]
        with pytest.raises(MCPError) as of_resource:
            await agent.read_resource("localrag://provision/main/599AC0000000001%238")
    for words in (*(result.content[0].text for result in told), str(of_resource.value)):
        assert "corpus.sqlite is damaged" in words
        assert str(sample) not in words
    assert str(store) in caplog.text


@pytest.fixture
def over_http(listening, tmp_path):
    """Serves the protocol on a socket, and gives a client that may hold a token."""

    @asynccontextmanager
    async def open_(desk, tokens=None, *, of_owner=False, **settings):
        tokens = Tokens(tmp_path / "none.toml") if tokens is None else tokens
        app = application(desk, ServeConfig(**settings), tokens, of_owner=of_owner)
        async with listening(app, lifespan="on") as path:
            yield lambda token="": httpx.AsyncClient(
                transport=httpx.AsyncHTTPTransport(uds=str(path)),
                base_url="http://127.0.0.1:8081",
                headers=SPOKEN | ({"authorization": f"Bearer {token}"} if token else {}),
                timeout=PATIENCE,
            )

    return open_


SPOKEN = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
BEGINS = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


async def begun(client):
    reply = await client.post("/mcp", json=BEGINS)
    assert reply.status_code == 200
    session = {"mcp-session-id": reply.headers["mcp-session-id"]}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    await client.post("/mcp", json=ready, headers=session)
    return session


async def called(client, session, name, **arguments):
    params = {"name": name, "arguments": arguments}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    reply = await client.post("/mcp", json=call, headers=session)
    if reply.status_code != 200:
        return reply.status_code
    line = next(line for line in reply.text.splitlines() if line.startswith("data: {"))
    return json.loads(line[len("data: ") :])["result"]


async def test_over_http_a_token_is_needed_and_opens_its_corpora_alone(desk, over_http, tmp_path):
    tokens = Tokens(tmp_path / "tokens.toml")
    office, guest = tokens.add("office", ["main"]), tokens.add("guest", ["other"])
    async with (
        over_http(desk, tokens) as client_of,
        client_of() as nobody,
        client_of("wrong") as wrong,
        client_of(office) as holder,
        client_of(guest) as other,
    ):
        for client in (nobody, wrong):
            for reply in (await client.post("/mcp", json=BEGINS), await client.get("/mcp")):
                assert reply.status_code == 401
                assert reply.headers["www-authenticate"] == "Bearer"
                assert "main" not in reply.text
        session = await begun(holder)
        shown = await called(holder, session, "show", citation="渡し舟法8条")
        assert shown["structuredContent"]["passage"]["id"] == ARTICLE
        # The session of one holder is none for another.
        assert await called(other, session, "corpora") == 404
        own = await begun(other)
        assert (await called(other, own, "corpora"))["structuredContent"] == {"corpora": []}
        for corpus in ("main", "", None):
            for name in ("show", "ask", "more"):
                given = {**GIVEN[name], "corpus": corpus}
                if name == "more":
                    given = {**GIVEN[name], "arguments": {**GIVEN["show"], "corpus": corpus}}
                refused = await called(other, own, name, **given)
                assert refused["isError"]
                text = refused["content"][0]["text"]
                assert "There is no corpus" in text
                assert ("main" in text) == (corpus == "main")


async def test_over_http_the_owner_needs_no_token_on_a_socket(desk, over_http):
    async with over_http(desk, of_owner=True) as client_of, client_of() as client:
        shown = await called(client, await begun(client), "show", citation="渡し舟法8条")
    assert shown["structuredContent"]["passage"]["id"] == ARTICLE


async def test_over_http_what_is_sent_is_bounded(desk, over_http, tmp_path, short):
    tokens = Tokens(tmp_path / "none.toml")
    token = tokens.started()
    bounds = {"patience": 0.05, "max_body_kb": 1}
    async with over_http(desk, tokens, **bounds) as client_of, client_of(token) as client:
        head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token.encode()
        json_ = b"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        assert (await answer(short / "s", head + json_)).startswith(b"HTTP/1.1 408 ")
        assert (await client.post("/mcp", content=b" " * 2_000)).status_code == 413
        for headers, status in (
            ({"host": "evil.example"}, 421),
            ({"origin": "http://evil.example"}, 403),
            ({"sec-fetch-site": "cross-site"}, 403),
        ):
            reply = await client.post("/mcp", content=b"{}", headers=headers)
            assert reply.status_code == status


async def test_a_provision_is_a_resource(agent):
    (template,) = (await agent.list_resource_templates()).resource_templates
    assert template.uri_template == "localrag://provision/{corpus}/{id}{?as_of}"
    read = await agent.read_resource(
        "localrag://provision/main/599AC0000000001%238?as_of=2026-01-01"
    )
    view = json.loads(read.contents[0].text)
    assert view["passage"]["id"] == ARTICLE
    assert (
        view["passage"]["text"].startswith("（運航の制限）") or "第八条" in view["passage"]["text"]
    )
    for uri in (
        "localrag://provision/main/nothing",
        "localrag://provision/..%2Fmain/599AC0000000001%238",
        "localrag://provision/main/599AC0000000001%238?as_of=never",
        "file:///etc/passwd",
    ):
        with pytest.raises(MCPError):
            await agent.read_resource(uri)


async def test_an_answer_of_a_model_tells_how_it_comes_along(session, scripted):
    scripted(json.dumps(searches("渡し守の資格")), '{"claims": []}')
    told = []

    async def progress(done, total, message):
        told.append((done, message))

    async with (
        Desk(session.with_settings({"chat.model": "scripted"})) as desk,
        Client(server_of(desk)) as agent,
    ):
        result = await agent.call_tool("ask", {"question": QUESTION}, progress_callback=progress)
        quoted = await asked(agent, "ask", question=QUESTION, model=False)
    assert result.structured_content["calls"][0]["model"] == "scripted"
    assert quoted["calls"] == []
    assert [done for done, _ in told] == list(range(1, len(told) + 1))
    assert {"words", "model: 1"} <= {message for _, message in told}


async def test_an_answer_that_is_cancelled_ends(session, scripted):
    model = scripted(model=WaitingChat())
    async with (
        Desk(session.with_settings({"chat.model": "scripted"})) as desk,
        Client(server_of(desk)) as agent,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(agent.call_tool, "ask", {"question": QUESTION})
        await comes(lambda: model.begun)
        tasks.cancel_scope.cancel()
    assert model.ended


async def test_over_standard_input_and_output(sample_home: Path):
    """It needs no network at all: where a namespace can be had, not even the loopback address."""
    apart = ["unshare", "--net", "--map-root-user"]
    if not shutil.which("unshare") or subprocess.run([*apart, "true"], check=False).returncode:
        apart = []
    command, *arguments = [*apart, sys.executable, "-m", "localrag", "--home", str(sample_home)]
    server = StdioServerParameters(
        command=command, args=[*arguments, "mcp"], env={"LC_ALL": "C.UTF-8"}
    )
    async with Client(server) as agent:
        found = await asked(agent, "search", query="渡し守の資格", k=1)
        cited = await asked(agent, "resolve", citation="渡し舟法8条")
    assert found["hits"][0]["passage"]["text"]
    assert cited["citations"][0]["candidates"]


@pytest.mark.usefixtures("loopback")
def test_a_port_that_is_taken_is_told(cli, sample_home: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = cli("--home", str(sample_home), "mcp", "--http", "--port", str(port))
    assert refused.code == 2
    assert f"port {port}, cannot be listened on" in refused.err
    assert "--port" in refused.err
