"""Small invented laws as files, and a workspace to add them to."""

from collections.abc import Callable
from pathlib import Path

import pytest

from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace

LawWriter = Callable[..., Path]


@pytest.fixture
def workspace(home: Path) -> Workspace:
    """The workspace of this test, initialised."""
    place = Workspace.locate(home)
    place.init()
    return place


@pytest.fixture
def laws(tmp_path: Path) -> Path:
    """An empty folder for law files."""
    folder = tmp_path / "laws"
    folder.mkdir()
    return folder


@pytest.fixture
def write_law(laws: Path) -> LawWriter:
    """Writes a law: ``write_law(3, "渡し舟は…", articles=4, date="20260401")``."""

    def write(
        number: int, text: str = "舟を出す者", *, articles: int = 2, date: str = "20260401"
    ) -> Path:
        path = laws / f"599AC{number:010}_{date}.xml"
        path.write_text(law_xml(number, text, articles), encoding="utf-8")
        return path

    return write


@pytest.fixture
def filled(workspace: Workspace, laws: Path, write_law: LawWriter) -> Workspace:
    """A workspace whose corpus "main" has two laws and a note, not yet indexed."""
    write_law(1, "舟を出す者", articles=3)
    write_law(2, "橋を架ける者", articles=2)
    (laws / "note.md").write_text("# 覚書\n\n桟橋は朝に開く。", encoding="utf-8")
    add(workspace, "main", [laws])
    return workspace


def law_xml(number: int, text: str, articles: int) -> str:
    """One law in the form that e-Gov publishes."""
    provisions = "".join(
        f'<Article Num="{n}"><ArticleTitle>第{n}条</ArticleTitle>'
        f'<Paragraph Num="1"><ParagraphNum/><ParagraphSentence>'
        f"<Sentence>{text}は、前条の規定により{n}番の届出をしなければならない。</Sentence>"
        f"</ParagraphSentence></Paragraph></Article>"
        for n in range(1, articles + 1)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<Law Era="Reiwa" Lang="ja" LawType="Act" Num="{number}" Year="100">'
        f"<LawNum>令和九十九年法律第{number}号</LawNum><LawBody><LawTitle>試験第{number}号法</LawTitle>"
        f"<MainProvision>{provisions}</MainProvision></LawBody></Law>"
    )
