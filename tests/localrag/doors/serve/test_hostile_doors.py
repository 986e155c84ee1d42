"""A hostile name of a file, at the doors for other programs."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import html
from mcp import Client

from localrag.corpus.workspace import Workspace
from localrag.doors.serve.desk import Desk
from localrag.doors.serve.mcp import server_of
from localrag.doors.session import Session

ACTS = "\r\x0b\x0c\x1b\x85\u2028\u2029\u202e\u2066"
FORGED = "# 民法 第七百九条"
QUESTION = "灯台の鐘はいつ鳴らすか"


@pytest.fixture
def papers(cli: Callable[..., Any], home: Path, tmp_path: Path) -> Session:
    cli("init")
    path = tmp_path / "papers.zip"
    with zipfile.ZipFile(path, "w") as archive:
        text = f"# 鐘\u202e\u2028{FORGED}\n\n灯台の鐘は霧の日に三度鳴らす。\n"
        archive.writestr(f"手引{ACTS}\n{FORGED}\n129AC0000000089#709.md", text)
    assert cli("add", str(path)).code == 0
    assert cli("index").code == 0
    return Session(Workspace.locate(home))


def unsafe(text: str) -> set[str]:
    """What of a text acts, and lines that are forged."""
    acting = {char for char in ACTS if char in text}
    return acting | {line for line in text.split("\n") if line.startswith((FORGED, "129AC"))}


async def test_the_page(serve: Any, papers: Session) -> None:
    async with serve(home=papers) as client:
        client.headers["accept"] = "text/html"
        asked = await client.post("/answers", data={"question": QUESTION})
        answer = await client.get(asked.headers["location"].partition("#")[0])
        tree = html.fromstring(answer.text)
        (cited, *_) = tree.xpath("//ol[@class='citations']//a")
        shown = await client.get(answer.url.join(cited.get("href").partition("#")[0]))
        assert "霧の日に三度" in shown.text
        for page in (answer, shown):
            assert unsafe(html.fromstring(page.text).text_content()) == set()


async def test_openai(serve: Any, papers: Session) -> None:
    async with serve(home=papers) as client:
        messages = [{"role": "user", "content": QUESTION}]
        sent = {"model": "localrag/main", "messages": messages}
        reply = await client.post("/v1/chat/completions", json=sent)
        content = reply.json()["choices"][0]["message"]["content"]
        assert "霧の日に三度" in content
        assert unsafe(content) == set()


async def test_http(serve: Any, papers: Session) -> None:
    async with serve(home=papers) as client:
        reply = await client.post("/search", json={"query": QUESTION})
        assert (reply.status_code, unsafe(reply.text)) == (200, set())


async def test_mcp(papers: Session) -> None:
    async with Desk(papers) as desk, Client(server_of(desk)) as agent:
        for tool, arguments in (("search", {"query": QUESTION}), ("ask", {"question": QUESTION})):
            result = await agent.call_tool(tool, arguments)
            assert not result.is_error
            assert unsafe(result.content[0].text) == set()
            assert "霧の日に三度" in json.dumps(result.structured_content, ensure_ascii=False)
