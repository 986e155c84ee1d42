"""The page: all of it is made by the server, in the reader's language, and text is text."""

import re

import anyio
import pytest
from lxml import html

from localrag.forgetting import forget_corpus
from localrag.serve.holders import Tokens
from localrag.session import Session
from localrag.workspace import Workspace

from .conftest import QUESTION, WaitingChat

BROWSER = {
    "accept": "text/html,*/*",
    "accept-language": "ja,en;q=0.5",
    "origin": "http://127.0.0.1",
}


def read(reply):
    tree = html.fromstring(reply.text)
    # Whatever is pointed at is there, and nothing runs.
    ids = tree.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert set(tree.xpath("//@for | //@aria-labelledby | //@aria-describedby")) <= set(ids)
    assert not tree.xpath("//script | //@style | //@onclick")
    assert all(link.startswith(("/", "#")) for link in tree.xpath("//@action | //a/@href"))
    return tree


async def asked(client, question, **fields):
    reply = await client.post("/answers", data={"question": question, **fields})
    assert reply.status_code == 303
    return reply.headers["location"].partition("#")[0]


@pytest.fixture
async def client(serve):
    async with serve() as client:
        client.headers.update(BROWSER)
        yield client


async def test_from_a_question_to_a_provision_and_its_references(client):
    home = read(await client.get("/"))
    assert home.get("lang") == "ja"
    place = await asked(client, QUESTION)
    page = read(await client.get(place))
    assert page.xpath("//h2[@id='answered']/text()") == [QUESTION]
    assert "一・五メートル" in page.xpath("string(//ol[@class='citations'])")
    cited = page.xpath("//ol[@class='citations']//a/@href")[0]
    for _ in range(3):
        assert cited.endswith("#beside")
        page = read(await client.get(cited.partition("#")[0]))
        assert page.xpath("//h2[@id='answered']/text()") == [QUESTION]
        assert page.xpath("//section[@id='beside']//p[@lang='ja']")
        cited = page.xpath("//section[@id='beside']//li/a/@href")[0]


async def test_notes_on_an_answer_are_words(client):
    page = read(await client.get(await asked(client, "民法709条は何か")))
    notes = page.xpath("//details//li/text()")
    assert any("民法" in note for note in notes)
    assert not any("{" in note for note in notes)


async def test_what_a_citation_names_is_read(client):
    law = read(await client.get("/provision", params={"at": "渡し舟法"}))
    assert len(law.xpath("//ul[@class='parts']//a")) > 10
    several = read(await client.get("/provision", params={"at": "渡し舟法7〜8条"}))
    assert len(several.xpath("//section[@id='beside']/h3")) == 2
    missing = read(await client.get("/provision", params={"at": "渡し舟法99条"}))
    assert "99" in missing.xpath("string(//p[@role='alert'])")
    read(await client.get("/provision", params={"at": "x" * 3000}))


async def test_the_language_is_chosen_and_remembered(client):
    reply = await client.get("/?lang=en")
    assert read(reply).get("lang") == "en"
    assert "localrag-language=en" in reply.headers["set-cookie"]
    assert read(await client.get("/")).get("lang") == "en"
    assert read(await client.get("/?lang=xx")).get("lang") == "ja"


async def test_text_is_never_markup(client):
    question = "<script>alert(1)</script> 渡し舟 \"'&"
    page = read(await client.get(await asked(client, question)))
    assert page.xpath("//h2[@id='answered']/text()") == [question]
    reply = await client.get("/provision", params={"at": "<img src=x onerror=alert(1)>"})
    assert "<img" not in reply.text
    read(reply)


async def test_an_answer_that_takes_long_is_awaited_on_the_page(serve, scripted, monkeypatch):
    monkeypatch.setattr("localrag.serve.page._SHORT", 0.0)
    scripted('{"claims": []}', '{"claims": []}')
    async with serve(model=True) as client:
        client.headers.update(BROWSER)
        place = await asked(client, QUESTION)
        first, again = await client.get(place), await client.get(place)
    page = read(first)
    assert page.xpath("//p[@role='status']")
    assert page.xpath("//p[@class='status']")
    assert not read(again).xpath("//p[@role='status']")


async def test_to_leave_the_page_ends_the_answer(serve, scripted, monkeypatch):
    monkeypatch.setattr("localrag.serve.page._SHORT", 0.0)
    model = scripted(model=WaitingChat())
    async with serve(model=True) as client:
        place = await asked(client, QUESTION)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.get, place)
            while not model.begun:
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
    assert model.ended


async def test_a_browser_signs_in_with_a_token(serve, tmp_path):
    tokens = Tokens(tmp_path / "tokens.toml")
    token, other = tokens.add("office", ["main"]), tokens.add("guest", ["main"])
    async with serve(tokens) as client:
        client.headers.update(BROWSER)
        reply = await client.get("/")
        assert (reply.status_code, reply.headers["location"]) == (303, "/sign-in")
        wrong = await client.post("/sign-in", data={"token": "wrong"})
        assert wrong.status_code == 401
        assert read(wrong).xpath("//p[@role='alert']")
        right = await client.post("/sign-in", data={"token": token})
        assert re.search("httponly; .*samesite=strict", right.headers["set-cookie"].lower())
        assert "office" in read(await client.get("/")).xpath("string(//header)")
        place = await asked(client, QUESTION)
        # Another holder does not see what this one asked.
        seen = await client.get(place, headers={"authorization": f"Bearer {other}"})
        assert seen.status_code == 404
        await client.post("/sign-out")
        assert (await client.get(place)).status_code == 303


async def test_failures_are_pages_for_browsers(client):
    reply = await client.get("/answers/none")
    assert reply.status_code == 404
    assert read(reply).xpath("//h1")
    reply = await client.post("/answers", content=b"\xff", headers={"content-type": "x"})
    assert reply.status_code == 400
    read(reply)
    assert (await client.post("/answers", data={"question": " "})).headers["location"] == "/"
    style = await client.get("/style.css")
    assert style.headers["content-type"].startswith("text/css")


async def test_answers_go_with_the_corpus_that_they_quote(serve, sample):
    workspace = Workspace.locate(sample)
    async with serve(home=Session(workspace)) as client:
        client.headers.update(BROWSER)
        place = await asked(client, QUESTION)
        assert (await client.get(place)).status_code == 200
        forget_corpus(workspace, "main")
        gone = await client.get(place)
    assert gone.status_code == 404
    assert "渡し舟" not in gone.text
