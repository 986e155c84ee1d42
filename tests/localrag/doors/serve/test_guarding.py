"""Who may call, how much at once, and what is noted: bounded and told."""

import json
import logging
import re
from urllib.parse import quote

import anyio
import pytest

from localrag.corpus.config import ServeConfig
from localrag.doors.serve.desk import Desk
from localrag.doors.serve.entrance import Refusing
from localrag.doors.serve.guarding import Gate
from localrag.doors.serve.holders import Holder, Sessions, Tokens
from localrag.doors.serve.http import serve as serve_for_ever
from localrag.doors.serve.listening import names_of
from localrag.errors import ConfigError, UsageError

from ....rows import each


@pytest.fixture
def tokens(tmp_path):
    return Tokens(tmp_path / "tokens.toml")


def test_a_token_is_kept_as_its_digest_alone(tokens, tmp_path):
    token = tokens.add("office", ["main"])
    path = tmp_path / "tokens.toml"
    assert token not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    again = Tokens(path)
    assert again.holder(token) == Holder("office", ("main",))
    assert again.holder(token[:-1]) is None
    assert again.holder("\ud800") is None
    renewed = again.add("office", [])
    assert again.holder(token) is None
    assert Tokens(path).holder(renewed) == Holder("office")


@each("name", ["", "a b", "../x", "a" * 65])
def test_a_token_has_a_plain_name(tokens, name):
    with pytest.raises(UsageError, match="cannot be the name of a token"):
        tokens.add(name, [])


@each("text", ["[office]\n", "office = 3", "[", '[a]\nsha256="x"\ncorpora=[]'])
def test_a_file_of_tokens_that_is_none_is_told(tmp_path, text):
    path = tmp_path / "tokens.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="cannot be read"):
        Tokens(path)


async def test_without_a_valid_token_nothing_is_served(serve, tokens):
    token = tokens.add("office", [])
    async with serve(tokens) as client:
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {token}"}):
            reply = await client.post("/search", json={"query": "a"}, headers=headers)
            assert reply.status_code == 401
            assert reply.headers["www-authenticate"] == "Bearer"
        assert (await client.get("/metrics")).status_code == 401
        assert (await client.get("/health")).status_code == 200
        right = {"authorization": f"bearer {token}"}
        assert (await client.get("/corpora", headers=right)).status_code == 200


async def test_a_token_opens_its_corpora_alone(serve, tokens):
    none = tokens.add("nobody", ["other"])
    async with serve(tokens, none) as client:
        assert (await client.get("/corpora")).json() == {"corpora": []}
        assert (await client.get("/v1/models")).json()["data"] == []
        for corpus in ("main", ""):
            reply = await client.post("/search", json={"query": "a", "corpus": corpus})
            assert reply.status_code == 404
            assert "main" not in reply.json()["error"]["cure"]


@each(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-site"}, 403),
        ({"host": "localhost:8080"}, 200),
        ({"host": "[::1]:8080"}, 200),
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": "[broken"}, 421),
        ({"origin": "http://127.0.0.1"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[broken"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 200),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
    ],
)
async def test_no_page_of_another_site_makes_a_browser_call(serve, headers, status):
    async with serve() as client:
        assert (await client.get("/corpora", headers=headers)).status_code == status


async def test_every_reply_has_its_number_and_lets_a_browser_run_nothing(serve):
    async with serve() as client:
        reply = await client.get("/health", headers={"x-request-id": "of-a-client_1"})
        assert reply.headers["x-request-id"] == "of-a-client_1"
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        other = await client.get("/health", headers={"x-request-id": "a b"})
    assert len(other.headers["x-request-id"]) == 16


@each("length", ["2000", "99999999999999999999999", "-1", "x", "1e9"])
async def test_what_is_too_large_is_not_read(serve, length):
    async def never():
        raise AssertionError("it was read")
        yield b""

    async with serve(max_body_kb=1) as client:
        request = client.build_request("POST", "/search", content=never())
        request.headers.pop("transfer-encoding")
        request.headers["content-length"] = length
        assert (await client.send(request)).status_code == 413


async def test_a_body_without_end_is_cut(serve):
    async def endless():
        while True:
            yield b"a" * 500

    async with serve(max_body_kb=1) as client:
        reply = await client.post(
            "/search", content=endless(), headers={"content-type": "application/json"}
        )
    assert reply.status_code == 413
    assert "1,000 bytes" in reply.json()["error"]["message"]


async def test_a_body_that_does_not_come_is_not_waited_for(serve):
    async def slow():
        yield b"{"
        await anyio.sleep_forever()

    async with serve(patience=0.05) as client:
        reply = await client.post(
            "/search", content=slow(), headers={"content-type": "application/json"}
        )
    assert reply.status_code == 408


async def test_more_calls_than_may_wait_are_refused(serve, monkeypatch):
    free = anyio.Event()

    async def wait(*_):
        await free.wait()
        return b"{}"

    monkeypatch.setattr(Desk, "carry_out", wait)
    statuses = []

    async def call(client):
        reply = await client.post("/search", json={"query": "a"})
        statuses.append(reply.status_code)
        if reply.status_code == 429:
            assert int(reply.headers["retry-after"]) >= 1
            free.set()

    async with serve(queue=2) as client, anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(call, client)
    assert sorted(statuses) == [200, 200, 200, 429]


async def test_a_gate_says_when_to_try_again():
    gate = Gate("asking", 1, 0)
    async with gate.passed():
        with pytest.raises(Refusing) as refused:
            async with gate.passed():
                pass
    assert refused.value.retry_after == 1
    async with gate.passed():
        assert (gate.working, gate.waiting) == (1, 0)


@pytest.mark.parametrize("told", [False, True])
async def test_the_log_tells_what_was_asked_only_where_it_is_to(serve, told, caplog):
    with caplog.at_level(logging.INFO, "localrag_serve"):
        async with serve(log_questions=told) as client:
            await client.post("/search", json={"query": "渡し守の資格"})
            await client.post("/ask", json={"question": "渡し守の資格"})
    lines = [json.loads(record.getMessage()) for record in caplog.records]
    assert [(line["route"], line["status"]) for line in lines] == [("/search", 200), ("/ask", 200)]
    assert all(("渡し守" in line.get("asked", "")) == told for line in lines)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"host": "0.0.0.0"}, "nobody has a token"),
        ({"proxy": "127.0.0.1"}, "nobody has a token"),
        ({"certificate": "cert.pem"}, "needs its private key"),
        ({"certificate": "no-cert.pem", "key": "no-key.pem"}, "cannot be used"),
        ({"host": "192.0.2.1", "token": True}, "unencrypted"),
        ({"host": "192.0.2.1", "token": True, "proxy": "192.0.2.2"}, "cannot be listened on"),
    ],
)
@pytest.mark.usefixtures("loopback")
def test_other_machines_need_tokens_and_tls(session, tmp_path, monkeypatch, settings, words):
    if settings.pop("token", False):
        Tokens(tmp_path / "tokens.toml").add("office", [])
    monkeypatch.setattr(type(session.workspace), "tokens", tmp_path / "tokens.toml")
    session = session.with_settings({f"serve.{name}": value for name, value in settings.items()})
    with pytest.raises(UsageError, match=words):
        serve_for_ever(session, lambda *_: None)


def test_a_server_has_the_names_of_its_address_and_others():
    own = {"127.0.0.1", "localhost", "::1"}
    assert names_of(ServeConfig()) == own
    assert names_of(ServeConfig(names="Tunnel")) == {*own, "tunnel"}
    assert names_of(ServeConfig(host="10.0.0.2", names=" Law.Office ,")) == {
        "10.0.0.2",
        "law.office",
    }
    # What other machines call it is known to them alone; a proxy says what it likes.
    assert not names_of(ServeConfig(host="0.0.0.0"))
    assert not names_of(ServeConfig(proxy="127.0.0.1"))


def test_the_command_line_makes_a_token(cli, sample):
    outcome = cli("serve", "--add-token", "office", "--for", "main", "--json")
    made = outcome.json
    assert made["corpora"] == ["main"]
    assert Tokens(sample / "tokens.toml").holder(made["token"]) == Holder("office", ("main",))
    assert cli("serve", "--add-token", "x", "--for", "none").code == 3
    assert cli("serve", "--add-token", "").code == 2, "an empty variable starts no server"
    assert cli("serve", "--corpus", "none").code == 3, "no other corpus answers in its place"
    assert cli("serve", "--for", "main").code == 2
    assert cli("serve", "--add-token", "x", "--for", "").code == 2, "an empty variable is no corpus"
    assert cli("serve", "--socket", "s", "--port", "0").code == 2
    assert cli("mcp", "--port", "0").code == 2
    plain = cli("serve", "--add-token", "b")
    assert Tokens(sample / "tokens.toml").holder(plain.out.strip()) == Holder("b")


PAGE = {"accept": "text/html", "origin": "http://127.0.0.1"}


def test_a_session_ends_by_itself():
    clock = [0.0]
    sessions = Sessions(lambda: clock[0])
    office = Holder("office", ("main",))
    first = sessions.begin(office)
    clock[0] = 6 * 3600
    second = sessions.begin(office)
    assert first != second
    assert sessions.holder(first) == sessions.holder(second) == office
    clock[0] = 12 * 3600
    assert sessions.holder(first) is None
    assert sessions.holder(second) == office
    sessions.end(second)
    assert sessions.holder(second) is None
    assert sessions.holder("\ud800") is None


def test_a_holder_ends_no_session_of_another():
    sessions = Sessions()
    kept, first = sessions.begin(Holder("office")), sessions.begin(Holder("guest"))
    for _ in range(100):
        last = sessions.begin(Holder("guest"))
    assert sessions.holder(kept) == Holder("office")
    assert sessions.holder(first) is None
    assert sessions.holder(last) == Holder("guest")


async def test_a_cookie_holds_a_session_and_never_the_token(serve, tokens):
    token = tokens.add("office", [])
    async with serve(tokens) as client:
        client.headers.update(PAGE)
        for signed_in in (
            await client.post("/sign-in", data={"token": token}),
            await client.get("/sign-in", params={"token": token}),
        ):
            told = signed_in.headers["set-cookie"].lower()
            assert all(word in told for word in ("httponly", "samesite=strict", "path=/"))
            assert token not in signed_in.headers["set-cookie"]
            assert signed_in.headers["location"] == "/"
        session = client.cookies["localrag-session"]
        assert (await client.get("/corpora")).status_code == 200
        # It opens the page of this browser; it is no token.
        bearer = {"authorization": f"Bearer {session}"}
        client.cookies.clear()
        as_token = {"cookie": f"localrag-session={token}"}
        for headers in (bearer, {}, as_token):
            reply = await client.get("/corpora", headers=headers)
            assert reply.headers["location"] == "/sign-in"


async def test_a_session_that_is_left_is_over(serve, tokens):
    token = tokens.add("office", [])
    async with serve(tokens) as client:
        client.headers.update(PAGE)
        await client.post("/sign-in", data={"token": token})
        kept = {"cookie": f"localrag-session={client.cookies['localrag-session']}"}
        assert (await client.get("/corpora", headers=kept)).status_code == 200
        await client.post("/sign-out")
        client.cookies.clear()
        reply = await client.get("/corpora", headers=kept)
        assert reply.headers["location"] == "/sign-in"


@each(
    ("headers", "status"),
    [
        ({"origin": "http://127.0.0.1"}, 303),
        ({"sec-fetch-site": "same-origin"}, 303),
        ({}, 403),
        ({"origin": "http://127.0.0.1:9000"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
    ],
)
async def test_no_other_page_sends_a_form_with_the_cookie(serve, tokens, headers, status):
    token = tokens.add("office", [])
    async with serve(tokens) as client:
        await client.post("/sign-in", data={"token": token})
        sent = await client.post("/answers", data={"question": "渡し守"}, headers=headers)
    assert sent.status_code == status


async def test_no_other_page_signs_a_browser_in(serve, tokens):
    token = tokens.add("office", [])
    led = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    async with serve(tokens) as client:
        shown = await client.get("/sign-in", params={"token": token}, headers=led)
    assert shown.status_code == 200
    assert "set-cookie" not in shown.headers
    assert token not in shown.text


async def test_without_a_token_nothing_is_learnt(serve, tokens):
    tokens.add("office", [])
    async with serve(tokens) as client:
        assert (await client.get("/health")).json() == {"status": "ok"}
        for path in ("/ready", "/metrics", "/corpora", "/openapi.json", "/v1/models", "/none", "/"):
            reply = await client.get(path)
            assert reply.status_code == 401, path
            page = await client.get(path, headers={"accept": "text/html"})
            assert page.headers["location"] == "/sign-in"
        for path in ("/sign-in", "/style.css"):
            reply = await client.get(path, params={"at": "渡し舟法8条", "corpus": "main"})
            assert reply.status_code == 200
            assert "渡し舟" not in reply.text


async def test_a_token_for_no_corpus_learns_nothing(serve, tmp_path, tokens):
    with pytest.raises(UsageError, match="no name of a corpus"):
        tokens.add("nobody", [""])
    # An earlier version has written one.
    token = tokens.add("nobody", ["x"])
    path = tmp_path / "tokens.toml"
    path.write_text(path.read_text().replace('"x"', '""'))
    calls = {
        "/search": {"query": "渡し守"},
        "/show": {"citation": "渡し舟法8条"},
        "/ask": {"question": "渡し守の資格は何か。"},
        "/check": {"text": "渡し舟法8条"},
        "/v1/chat/completions": {
            "model": "localrag",
            "messages": [{"role": "user", "content": "渡し守の資格は何か。"}],
        },
    }
    async with serve(Tokens(path), token) as client:
        replies = [await client.post(to, json=call) for to, call in calls.items()]
        replies += [
            await client.post(to, json={**call, "corpus": ""}) for to, call in calls.items()
        ]
        assert {reply.status_code for reply in replies} <= {404}
        replies += [await client.get(to) for to in ("/", "/corpora", "/v1/models", "/ready")]
        replies += [await client.get("/v1/models/localrag"), await client.get("/metrics")]
        replies += [await client.get("/provision", params={"at": "渡し舟法8条"})]
    for reply in replies:
        text = re.sub('</?main|id="main"|href="#main"', "", reply.text)
        assert "main" not in text, reply.url


async def test_figures_are_for_holders_of_every_corpus(serve, tokens):
    one, every = tokens.add("guest", ["main"]), tokens.add("office", [])
    async with serve(tokens, one) as client:
        assert (await client.get("/metrics")).status_code == 403
        right = {"authorization": f"Bearer {every}"}
        assert (await client.get("/metrics", headers=right)).status_code == 200


async def test_a_line_of_the_log_is_one_line(serve, caplog):
    hostile = "a\n\r\u2028\u2029\x85\u202e{}"
    with caplog.at_level(logging.INFO, "localrag_serve"):
        async with serve(log_questions=True) as client:
            await client.post("/search", json={"query": hostile})
            await client.get("/" + quote(hostile))
    for record in caplog.records:
        line = record.getMessage()
        assert line.isprintable()
        assert len(line.splitlines()) == 1
    assert json.loads(json.loads(caplog.records[0].getMessage())["asked"])["query"] == hostile
