"""The page of a document in what other programs and browsers are answered."""

import json
from pathlib import Path

import pytest
from lxml import html
from mcp import Client
from printed_pages import PrintedPages

from localrag.corpus.workspace import Workspace
from localrag.doors.serve.desk import Desk
from localrag.doors.serve.mcp import server_of
from localrag.doors.session import Session

QUESTION = "渡し舟の運航を休むときは、誰に届け出るか。"


@pytest.fixture
def session(cli, home: Path, tmp_path: Path) -> Session:
    """A workspace with a document of two pages; a sentence runs from the first to the second."""
    printed = PrintedPages()
    for half in (
        "渡し舟の船頭は、運航を休むときは、あらかじめその旨を桟橋の",
        "管理者に届け出なければならない。",
    ):
        printed.page()
        printed.text(60, 740, half)
    file = tmp_path / "手引.pdf"
    file.write_bytes(printed.to_bytes())
    for arguments in (["init"], ["add", str(file)], ["index"]):
        assert cli(*arguments).code == 0
    return Session(Workspace.locate(home))


@pytest.mark.anyio
async def test_mcp(session: Session) -> None:
    async with Desk(session) as desk, Client(server_of(desk)) as agent:
        result = await agent.call_tool("ask", {"question": QUESTION})
    (citation, *_) = json.loads(result.content[0].text)["citations"]
    assert [citation[name] for name in ("label", "page", "last_page")] == ["手引 1–2頁", 1, 2]


@pytest.mark.anyio
async def test_the_html_page(session: Session, serve) -> None:
    async with serve(home=session) as client:
        client.headers.update({"accept": "text/html", "origin": "http://127.0.0.1"})
        reply = await client.post("/answers", data={"question": QUESTION})
        page = await client.get(reply.headers["location"].partition("#")[0])
    cited = html.fromstring(page.text).xpath("string(//ol[@class='citations'])")
    assert "手引 1–2頁" in cited
