"""The page: all of it is made by the server, in the reader's language, and text is text."""

import json
import re
import shutil
from urllib.parse import quote, urlencode

import anyio
import httpx
import pytest
from lxml import html
from tiny_models.scripted import searches

import localrag
from localrag.corpus.workspace import Workspace
from localrag.doors.forgetting import forget_corpus
from localrag.doors.serve.holders import Tokens
from localrag.doors.session import Session

from ....patience import comes
from ....rows import each
from ...word_parts import p, t, word
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
    assert all(link.startswith(("/", "#", "?")) for link in tree.xpath("//@action | //a/@href"))
    tree.make_links_absolute(str(reply.url))
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


async def test_below_an_answer_are_the_nearest_passages(client):
    page = read(await client.get(await asked(client, "所得税の確定申告の期限はいつか。")))
    head = page.xpath("//h3[following-sibling::ul[@class='nearest']]/text()")[-1]
    assert head == "近い条文・文書（回答になるとは限りません）"
    places = page.xpath("//ul[@class='nearest']//a/@href")
    assert len(places) == 5
    beside = read(await client.get(places[0].partition("#")[0]))
    assert beside.xpath("//section[@id='beside']//p[@lang='ja']")


async def test_quotations_come_before_what_a_model_wrote_in_vain(serve, scripted):
    wrong = {"claims": [{"sentences": [1], "text": "水位は九十九メートルである。"}]}
    scripted(json.dumps(searches("渡し守の資格")), json.dumps(wrong))
    async with serve(model=True) as client:
        client.headers.update(BROWSER)
        page = read(await client.get(await asked(client, QUESTION)))
    heads = page.xpath("//h3/text()")
    assert heads[:3] == [
        "原文どおりの引用（回答になるかは確かめてください）",
        "モデルが書いたもの（根拠なし）",
        "引用",
    ]
    quoted = page.xpath("//h3[1]/following-sibling::ul[1]//blockquote")
    assert quoted
    assert page.xpath("//ul[@class='claims']//small[@class='doubtful']")


async def test_notes_on_an_answer_are_words(client):
    page = read(await client.get(await asked(client, "民法709条は何か")))
    notes = page.xpath("//details//li/text()")
    assert any("民法" in note for note in notes)
    assert not any("{" in note for note in notes)


async def test_what_a_citation_names_is_read(client):
    law = read(await client.get("/provision", params={"at": "渡し舟法"}))
    assert len(law.xpath("//ul[@class='parts']//a")) > 10
    several = read(await client.get("/provision", params={"at": "渡し舟法7〜8条"}))
    assert len(several.xpath("//section[@id='beside']/h2")) == 2
    missing = read(await client.get("/provision", params={"at": "渡し舟法99条"}))
    assert "99" in missing.xpath("string(//p[@role='alert'])")
    read(await client.get("/provision", params={"at": "x" * 3000}))


async def test_a_question_is_narrowed_followed_and_saved(client):
    place = await asked(client, QUESTION, law="渡し舟法施行令、渡し舟法", as_of="2026-05-01")
    page = read(await client.get(place))
    assert page.xpath("//input[@id='law']/@value") == ["渡し舟法施行令、渡し舟法"]
    assert page.xpath("//input[@id='as_of']/@value") == ["2026-05-01"]
    cited = page.xpath("//ol[@class='citations']//a/@href")
    assert cited
    assert all("as_of=2026-05-01" in link for link in cited)
    (earlier,) = page.xpath("//input[@name='after']/@value")
    further = read(await client.get(await asked(client, "その罰則は", after=earlier)))
    assert QUESTION in further.xpath("string(//section[@id='answer'])"), "the completed question"
    links = page.xpath("//section[@id='answer']/p/a/@href")
    document, text = [await client.get(link) for link in links]
    assert document.content.startswith(b"PK")
    assert "attachment" in text.headers["content-disposition"]
    assert text.text.startswith(f"> {QUESTION}")
    assert "（令和九十九年" in text.text
    assert (await client.get(f"{place}/answer.exe")).status_code == 404
    unknown = await client.get(await asked(client, QUESTION, law="存在しない法"))
    assert unknown.status_code == 404
    read(unknown)
    wrong = await client.post("/answers", data={"question": QUESTION, "as_of": "昨日"})
    assert wrong.status_code == 400


async def test_beside_a_provision_is_what_depends_on_it_and_its_history(client):
    page = read(await client.get("/provision", params={"at": "渡し舟法8条"}))
    views = page.xpath("//nav[@class='views']/a/@href")
    assert len(views) == 4
    shown = [read(await client.get(link.partition("#")[0])) for link in views]
    texts = [one.xpath("string(//section[@id='beside'])") for one in shown]
    assert "施行令" in texts[1]
    assert "2026-04-01" in texts[2]
    assert "施行前の条文はありません" in texts[3]
    assert [one.xpath("//a[@aria-current]/@href")[0].partition("#")[0] for one in shown] == [
        link.partition("#")[0] for link in views
    ]
    assert shown[1].xpath("//section[@id='beside']//li/a/@href")


MEMO = "渡し舟法第8条第1項によれば、渡し守は運航してはならない。渡し舟法第99条も見よ。"


@each("how", ["pasted", "uploaded", "long"])
async def test_a_text_is_checked(client, how):
    form = read(await client.get("/checks"))
    assert form.xpath("//input[@type='file']")
    fields = {"as_of": "2026-05-01", "text": MEMO}
    if how == "uploaded":
        document = word(p(t(MEMO)))
        reply = await client.post(
            "/checks", data={"text": ""}, files={"file": ("../../覚書.docx", document)}
        )
    else:
        fields["text"] += "あ" * 3_000 * (how == "long")
        reply = await client.post("/checks", data=fields, files={"file": ("", b"")})
    assert reply.status_code == 303
    place = reply.headers["location"].partition("#")[0]
    page = read(await client.get(place))
    assert page.xpath("//h2[@id='found']/text()") == [
        "覚書.docx" if how == "uploaded" else "入力された文章"
    ]
    found = page.xpath("//section[@id='checked']//li")
    assert any("第99条" in one.text_content() for one in found)
    link = page.xpath("//section[@id='checked']//li//a/@href")[0]
    beside = read(await client.get(link.partition("#")[0]))
    assert beside.xpath("//section[@id='beside']//p[@lang='ja']")
    assert beside.xpath("//h2[@id='found']")
    assert (await client.post("/checks", data={"text": " "})).headers["location"] == "/checks"


async def test_what_of_a_file_was_not_read_is_named(serve, home, tmp_path):
    graphic = "<a:graphic><a:graphicData><pic:pic/></a:graphicData></a:graphic>"
    picture = f"<w:r><w:drawing>{graphic}</w:drawing></w:r>"
    source = tmp_path / "guide.docx"
    source.write_bytes(word(p(t("桟橋の手引。"), picture)))
    corpus = localrag.open(home).corpus()
    corpus.add(source)
    corpus.index()
    async with serve(home=Session(Workspace.locate(home))) as client:
        client.headers.update({**BROWSER, "accept-language": "en"})
        page = read(await client.get("/provision", params={"at": "guide.docx#1"}))
    assert page.xpath("//p[@class='state']/small/text()") == ["Not read: 1 picture."]


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
    monkeypatch.setattr("localrag.doors.serve.page._SHORT", 0.0)
    scripted(json.dumps(searches("渡し守の資格")), '{"claims": []}')
    async with serve(model=True) as client:
        client.headers.update(BROWSER)
        place = await asked(client, QUESTION)
        first, again = await client.get(place), await client.get(place)
    page = read(first)
    assert page.xpath("//p[@role='status']")
    assert page.xpath("//p[@class='state']")
    assert not read(again).xpath("//p[@role='status']")


async def test_to_leave_the_page_ends_the_answer(serve, scripted, monkeypatch):
    monkeypatch.setattr("localrag.doors.serve.page._SHORT", 0.0)
    model = scripted(model=WaitingChat())
    async with serve(model=True) as client:
        place = await asked(client, QUESTION)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.get, place)
            await comes(lambda: model.begun)
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


@pytest.fixture
def two_corpora(sample):
    """A workspace with the sample corpus twice, by two names."""
    shutil.copytree(sample / "corpora" / "main", sample / "corpora" / "other")
    shutil.copytree(sample / "indexes" / "main", sample / "indexes" / "other")
    return Session(Workspace.locate(sample))


async def test_with_two_corpora_citations_are_read_in_the_one_that_was_asked(serve, two_corpora):
    async with serve(home=two_corpora) as client:
        client.headers.update(BROWSER)
        place = await asked(client, QUESTION, corpus="other")
        page = read(await client.get(place))
        cited = page.xpath("//ol[@class='citations']//a/@href")[0]
        assert "corpus=other" in cited
        page = read(await client.get(cited.partition("#")[0]))
        assert page.xpath("//section[@id='beside']//p[@lang='ja']")
        # What is read beside it may be of the other one; the answer stays of its own.
        beside = read(await client.get(place, params={"at": "渡し舟法8条", "corpus": "main"}))
        assert beside.xpath("//section[@id='beside']//p[@lang='ja']")
        assert beside.xpath("//h2[@id='answered']/text()") == [QUESTION]
        links = beside.xpath("//ol[@class='citations']//a/@href")
        assert links
        assert all("corpus=other" in link for link in links)
        other = read(await client.get("/provision", params={"at": "渡し舟法8条", "corpus": "none"}))
        assert other.xpath("//p[@role='alert']")


HOSTILE = (
    "", "main", "other", "../main", "x" * 3_000, "\0", "\ud800", "\u202e", "\r\nX: y", "<x>", "#",
    "%", "渡し舟法8条", "渡し舟法7〜8条", "渡し舟法", "8条", "599AC0000000001#", "{{7*7}}", "\\",
    "//",
)  # fmt: skip


async def test_whatever_is_asked_of_the_page_it_does_not_break(serve, two_corpora):
    """Every route, with each value in the place of each parameter, and with two of them."""
    async with serve(home=two_corpora) as client:
        client.headers.update(BROWSER)
        answer = await asked(client, QUESTION, corpus="main")
        pages = ("/", "/provision", answer, "/answers/none", "/sign-in", "/style.css", "/none")
        pages += ("/checks", "/checks/none", f"{answer}/answer.md")
        for one, other in zip(HOSTILE, (*HOSTILE[7:], *HOSTILE[:7]), strict=True):
            values = [quote(value, errors="surrogatepass") for value in (one, other)]
            query = "&".join(
                f"{name}={value}"
                for name in ("at", "corpus", "lang", "token", "as_of", "view")
                for value in values
            )
            for path in pages:
                reply = await client.get(f"{path}?{query}")
                assert reply.status_code < 500, (path, query)
                if reply.headers["content-type"].startswith("text/html"):
                    read(reply)
            fields = {"question": [one, other], "corpus": [other, one], "token": [one, other]}
            fields |= {name: [one, other] for name in ("law", "as_of", "after", "text", "file")}
            body = urlencode(fields, doseq=True, errors="surrogatepass")
            for path in ("/answers", "/checks", "/sign-in", "/sign-out", "/", answer):
                reply = await client.post(path, content=body)
                assert reply.status_code < 500, (path, body)
                if "/answers/" in reply.headers.get("location", ""):
                    given = await client.get(reply.headers["location"].partition("#")[0])
                    assert given.status_code < 500, body
                # One that signs out has to sign in again; this client has its token.
                client.cookies.clear()


@each(
    "path",
    ["//evil.example/x", "/\\evil.example/x", "/%5Cevil.example", "///evil.example", "/%0A/evil"],
)
async def test_every_link_stays_on_this_server(serve, path):
    async with serve() as client:
        client.headers.update(BROWSER)
        url = httpx.URL("http://127.0.0.1/").copy_with(raw_path=path.encode())
        reply = await client.get(url)
    assert reply.status_code == 404
    for link in html.fromstring(reply.text).xpath("//@href | //@action"):
        assert re.match(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*$|#|data:,$", link), link


async def test_names_in_documents_turn_no_line_round(serve, cli, home, tmp_path):
    text = "# 手引\u202eexe.\u2028題\n\n渡し舟の点検は毎朝行う。\n"
    (tmp_path / "guide.md").write_text(text, encoding="utf-8")
    assert cli("init").code == 0
    assert cli("add", str(tmp_path / "guide.md")).code == 0
    assert cli("index").code == 0
    async with serve(home=Session(Workspace.locate(home))) as client:
        client.headers.update(BROWSER)
        page = read(await client.get(await asked(client, "渡し舟の点検はいつ行うか")))
        place = page.xpath("//ol[@class='citations']//a/@href")[0]
        reply = await client.get(place.partition("#")[0])
        assert reply.status_code == 200
        shown = read(reply)
    for name in (
        *page.xpath("//li/p/a/text()"),
        *shown.xpath("//h2/text() | //p[@class='place']//text()"),
    ):
        assert not re.search("[\u202e\u2028]", name)


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
