"""Routes give the JSON of the command line, and every failure is one object that says why."""

import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import tracemalloc
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import anyio
import httpx
import jsonschema
import pytest
from pydantic import TypeAdapter

from localrag.corpus.asked_journal import checked
from localrag.corpus.workspace import Workspace
from localrag.doors.calls import SearchCall
from localrag.doors.serve.desk import Desk
from localrag.doors.serve.http import description
from localrag.doors.serve.work import WORK, Refusal
from localrag.doors.session import Session
from localrag.errors import StorageError
from localrag.language import N_
from localrag_indexes.errors import IndexMissing

from ....patience import PATIENCE, comes
from ....rows import each
from .conftest import QUESTION, WaitingChat


@each(
    ("path", "call", "verb"),
    [
        ("/search", {"query": "渡し守の資格", "law": ["渡し舟法"], "k": 10.0},
         ["search", "渡し守の資格", "--law", "渡し舟法"]),
        ("/show", {"citation": "渡し舟法3条", "as_read_by": "渡し舟法8条"}, None),
        ("/show", {"citation": "渡し舟法8条"}, ["show", "渡し舟法8条"]),
        ("/search", {"query": "罰金", "where": ["kind=Act", "chapter=罰則"]},
         ["search", "罰金", "--where", "kind=Act", "--where", "chapter=罰則"]),
        ("/history", {"citation": "渡し舟法8条"}, ["history", "渡し舟法8条"]),
        ("/check", {"text": "渡し舟法44条", "as_of": "2027-01-01"},
         ["check", "渡し舟法44条", "--as-of", "2027-01-01"]),
        ("/ask", {"question": QUESTION}, ["ask", QUESTION]),
    ],
)  # fmt: skip
async def test_a_route_gives_the_json_of_its_verb(serve, cli, sample_home, path, call, verb):
    async with serve() as client:
        reply = await client.post(path, json=call)
    given = reply.json()
    if verb is None:
        assert reply.status_code == 404
        assert given["error"]["cure"]
        return
    assert reply.status_code == 200
    schema = TypeAdapter(WORK[path[1:]].gives).json_schema(mode="serialization")
    jsonschema.validate(given, schema)
    printed = cli("--home", str(sample_home), *verb, "--json").json
    for stage in (*given.get("trace", ()), *printed.get("trace", ())):
        del stage["seconds"]
    assert given == printed


@each(
    ("path", "content", "status", "words"),
    [
        ("/search", b'{"query": ""}', 400, "at least 1 character"),
        ("/search", b"{", 400, "Invalid JSON"),
        ("/search", b'{"query": "a", "date_from": 0}', 400, "date_from"),
        ("/search", b'{"query": "a", "as_of": "0"}', 400, "2024-04-01"),
        ("/search", b'{"query": "a", "k": "3"}', 400, "k: "),
        ("/search", b'{"query": "\\ud800"}', 400, "hex escape"),
        ("/search", b'{"query": "a", "where": ["Act"]}', 400, "where.0"),
        ("/search", b'{"query": "a", "where": ["kind=Poem"]}', 404, "kind=Poem"),
        ("/search", b'{"query": "a", "where": ["boat=1"]}', 409, "boat"),
        ("/check", b'{"text": ""}', 400, "at least 1 character"),
        ("/search", b'{"query": "a", "corpus": "../../etc"}', 404, "There is no corpus"),
        ("/show", '{"citation": "7条"}'.encode(), 409, "can mean"),
        ("/show", '{"citation": "渡し舟法99条"}'.encode(), 404, "no such provision"),
        ("/show", b'{"citation": "../corpora/main/corpus.sqlite"}', 404, "names no provision"),
        ("/ask", '{"question": "。"}'.encode(), 409, "no word"),
        ("/nothing", b"{}", 404, "nothing at this address"),
        ("/health", b"{}", 405, "method"),
        ("/v1/../search/..%2f..%2fetc%2fpasswd", b"{}", 404, "nothing at this address"),
    ],
)
async def test_what_cannot_be_done_is_said(serve, path, content, status, words):
    async with serve() as client:
        reply = await client.post(
            path, content=content, headers={"content-type": "application/json"}
        )
    error = reply.json()["error"]
    assert reply.status_code == status
    assert words in error["message"]
    assert error["request_id"] == reply.headers["x-request-id"]


async def test_it_says_how_it_is(serve):
    async with serve() as client:
        assert (await client.get("/health")).json() == {"status": "ok"}
        assert (await client.get("/ready")).json() == {"ready": True}
        (corpus,) = (await client.get("/corpora")).json()["corpora"]
        assert corpus["corpus"] == "main"
        await client.post("/search", json={"query": "渡し守の資格"})
        told = (await client.get("/metrics")).text
    assert 'localrag_requests_total{route="/search",status="200"} 1.0' in told
    assert 'localrag_waiting{gate="looking-up"} 0.0' in told
    assert "渡し守" not in told


async def test_without_a_corpus_it_is_not_ready(serve, session, tmp_path):
    empty = type(session)(session.workspace.locate(tmp_path / "empty"))
    async with serve(home=empty) as client:
        reply = await client.get("/ready")
        assert (reply.status_code, reply.json()) == (503, {"ready": False})
        assert (await client.post("/search", json={"query": "a"})).status_code == 404


def test_the_description_names_every_route_and_all_that_it_names_is_there():
    told = description()
    assert {f"/{name}" for name in WORK} < told["paths"].keys()
    text = json.dumps(told)
    schemas = told["components"]["schemas"]
    for reference in text.split('"#/components/schemas/')[1:]:
        assert reference.partition('"')[0] in schemas
    assert told["paths"]["/search"]["post"]["responses"]["429"]


async def test_an_unforeseen_error_tells_nothing_but_its_number(serve, monkeypatch):
    async def fail(*_):
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(Desk, "carry_out", fail)
    async with serve() as client:
        reply = await client.post("/search", json={"query": "a"})
    assert reply.status_code == 500
    assert "secret" not in reply.text
    assert reply.json()["error"]["request_id"]


async def test_a_question_ends_when_its_client_goes(serve, scripted):
    model = scripted(model=WaitingChat())
    async with serve(model=True) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: client.post("/ask", json={"question": QUESTION}))
        await comes(lambda: model.begun)
        tasks.cancel_scope.cancel()
    assert model.ended


async def test_processes_look_up_and_one_that_is_killed_is_replaced(session):
    call = SearchCall(query="渡し守の資格", k=1)
    async with Desk(session, 1) as desk:
        first = json.loads(await desk.carry_out("search", call))
        killed = await desk.ready()
        os.kill(killed, signal.SIGKILL)
        again = json.loads(await desk.carry_out("search", call))
        assert await desk.ready() != killed
    assert first["hits"] == again["hits"]


async def test_an_error_names_no_path_of_the_machine(serve, sample, caplog):
    store = sample / "corpora" / "main" / "corpus.sqlite"
    store.write_bytes(b"no database" * 1_000)
    calls = {
        "/search": {"query": "渡し守の資格"},
        "/show": {"citation": "渡し舟法8条"},
        "/ask": {"question": QUESTION},
        "/v1/chat/completions": {
            "model": "localrag",
            "messages": [{"role": "user", "content": QUESTION}],
        },
    }
    with caplog.at_level(logging.INFO, "localrag_serve"):
        async with serve(home=Session(Workspace.locate(sample))) as client:
            replies = [await client.post(path, json=call) for path, call in calls.items()]
            replies += [await client.get("/corpora")]
            pages = {"accept": "text/html"}
            beside = await client.get("/provision", params={"at": "渡し舟法8条"}, headers=pages)
    assert {reply.status_code for reply in replies} == {503}
    for reply in (*replies, beside):
        assert "corpus.sqlite is damaged" in reply.text
        assert str(sample) not in reply.text
        assert sample.parent.name not in reply.text
    lines = [json.loads(record.getMessage()) for record in caplog.records]
    assert len(lines) == len(replies) + 1
    assert all(str(store) in line["problem"] for line in lines)


@each(
    ("error", "words"),
    [
        (StorageError(N_("{path} is full."), path=Path("/home/a b/law/x.sqlite")), "x.sqlite is"),
        (StorageError(N_("{name}: no."), name="/home/a b/x.gguf"), "x.gguf: no."),
        (
            StorageError(N_("No ({why})."), why=OSError(2, "No such file", "/home/a b/x")),
            "file: x)",
        ),
        (StorageError(N_("No ({why})."), why=ValueError("in '/home/a/law/x'")), "in 'x')"),
        (StorageError(N_("No ({why})."), why=IndexMissing(Path("/home/a b/x"))), "index in x)"),
        (StorageError(N_("No ({why})."), why=r"C:\Users\a\x.toml: bad"), "(x.toml: bad)"),
        (StorageError(N_("No."), N_("See ~/law/localrag.toml")), "See localrag.toml"),
        (StorageError(N_("GET /v1/models has them, 民法709/710条")), "GET /v1/models has them"),
        (StorageError(N_("{url} is gone"), url="http://127.0.0.1:9/api/tags"), "9/api/tags is"),
    ],
)
def test_every_kind_of_path_is_left_out(error, words):
    refusal = Refusal.of(error)
    assert words in str(refusal)
    assert not re.search(r"home|Users|~", str(refusal))
    assert bool(refusal.within) == (str(refusal) != str(error))


PROGRAM = [sys.executable, "-m", "localrag", "--set", "serve.patience=2"]


@contextmanager
def started(home, *command):
    """A server in a process of its own: what it says of itself, and afterwards its lines."""
    lines = []
    with subprocess.Popen(
        [*PROGRAM, "--home", str(home), "--set", "serve.processes=1", *command, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={"LC_ALL": "C.UTF-8", "PATH": ""},
    ) as server:
        try:
            told = "".join(iter(server.stdout.readline, "}\n")) + "}"
            yield json.loads(told), lines
        finally:
            server.terminate()
        lines += server.stderr
        assert server.wait() == 0


@pytest.mark.usefixtures("loopback")
def test_over_the_loopback_address(sample_home):
    """Requests that no client in this process can send: cut, slow, huge, no HTTP at all."""
    with started(sample_home, "serve", "--port", "0") as (server, told):
        bearer = {"authorization": f"Bearer {server['token']}"}
        _bounded(server["address"], server["token"])
        with httpx.Client(base_url=server["address"], timeout=PATIENCE) as client:
            searched = {"query": "渡し守の資格", "k": 1}
            assert client.post("/search", json=searched).status_code == 401
            reply = client.post("/search", json=searched, headers=bearer)
            assert reply.json()["hits"]
    log = [json.loads(line) for line in told if line.startswith("{")]
    assert not any("resource_tracker" in line for line in told), "all is let go of in order"
    assert {line["status"] for line in log} == {200, 401, 408, 413}
    assert not any("渡し守" in json.dumps(line, ensure_ascii=False) for line in log)
    assert not any(server["token"] in line for line in told)


@pytest.mark.usefixtures("loopback")
@pytest.mark.parametrize("door", [("serve",), ("mcp", "--http")])
def test_another_account_reads_nothing_at_a_port(sample_home, as_another, door):
    """Whoever has no token gets none of the workspace's words, at either door."""
    asks = """
import sys, urllib.request, urllib.error
for path in ("", "corpora", "mcp", "provision?at=1", "v1/models", "ready", "metrics"):
    try:
        print(urllib.request.urlopen(sys.argv[1] + path).url)
    except urllib.error.HTTPError as error:
        print(error.code)
"""
    with started(sample_home, *door, "--port", "0") as (server, _told):
        assert server["token"]
        address = server["address"].removesuffix("mcp")
        tried = as_another(sys.executable, "-I", "-c", asks, address)
    assert tried.stdout.split() == ["401"] * 7


def _bounded(address, token):
    host, port = address.removeprefix("http://").rstrip("/").split(":")

    def sent(*pieces):
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
            for piece in pieces:
                connection.sendall(piece)
            return b"".join(islice(iter(lambda: connection.recv(65536), b""), 1_000))

    head = b"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    head += b"Authorization: Bearer " + token.encode() + b"\r\n"
    assert b" 408 " in sent(head + b"Content-Length: 100\r\n\r\n{")
    assert b" 413 " in sent(head + b"Content-Length: 100000000\r\n\r\n" + b"a" * 65536)
    chunk = b"10000\r\n" + b"a" * 65536 + b"\r\n"
    assert b" 413 " in sent(head + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 20)
    # A head that never ends is let go of without a word.
    assert sent(b"GET /health HTTP/1.1\r\nHost:") == b""
    assert b" 400 " in sent(b"\x16\x03\x01nonsense\r\n\r\n")


async def test_what_was_looked_up_is_remembered_as_long_as_the_corpus_is_the_same(
    serve, cli, sample, session, monkeypatch
):
    own = type(session)(session.workspace.locate(sample))
    call = {"query": "渡し守の資格", "k": 2}
    async with serve(home=own) as client:
        first = (await client.post("/search", json=call)).content
        monkeypatch.setattr("localrag.doors.serve.desk.Reader.carry_out", lambda *_: b"{}")
        assert (await client.post("/search", json=call)).content == first
        assert (await client.post("/search", json={**call, "k": 3})).json() == {}
        # With a document less it is another corpus.
        assert cli("remove", "599M60000800003").code == 0
        assert (await client.post("/search", json=call)).json() == {}


async def test_what_is_remembered_of_long_calls_is_not_their_text(session, monkeypatch):
    async def checked(*_: object) -> bytes:
        return b"{}"

    monkeypatch.setattr("localrag.doors.serve.desk.Checks.carry_out", checked)
    async with Desk(session) as desk:
        tracemalloc.start()
        for number in range(30):
            call = WORK["check"].takes(text=f"{number}".rjust(100_000))
            assert await desk.carry_out("check", call) == b"{}"
        kept, _most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert kept < 500_000


async def test_questions_are_journalled_however_often_they_are_asked(serve, sample):
    workspace = Workspace.locate(sample)
    own = Session(workspace).with_settings({"journal.questions": True})
    async with serve(home=own) as client:
        for _ in range(2):
            assert (await client.post("/ask", json={"question": QUESTION})).status_code == 200
        await client.post("/search", json={"query": QUESTION})
    assert checked(workspace).questions == 2
