"""What an index has after a change is what it has when it is built from nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

import localrag
from localrag.corpus.ingest.add import add
from localrag.corpus.ingest.remove import remove_documents
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Locator
from localrag.corpus.workspace import Workspace
from localrag.search.indexing.index import index

TITLES = ("渡し舟法", "渡し舟法施行令", "桟橋法", "湖水法")
LEFT = {
    "渡し舟法": "渡し舟は、桟橋法第一条から第三条までの桟橋に着き、湖水法第二条に従う。"
    "政令で定める旗を掲げる。",
    "渡し舟法施行令": "法第一条の政令で定める旗は、白い旗とし、桟橋法第二条の旗と並べる。",
    "桟橋法": "この法律において「桟橋」とは、渡し舟法第二条の桟橋をいう。前条の桟橋を含む。",
    "湖水法": "湖の舟には、渡し舟法第一条及び昭和九十九年法律第一号の規定を準用する。",
}


def law_xml(number: int, title: str, text: str, articles: int) -> str:
    kind = "CabinetOrder" if title.endswith("令") else "Act"
    provisions = "".join(
        f'<Article Num="{n}"><ArticleTitle>第{"〇一二三四五六七八九"[n]}条</ArticleTitle>'
        f'<Paragraph Num="1"><ParagraphNum/><ParagraphSentence><Sentence>{text}</Sentence>'
        f"</ParagraphSentence></Paragraph></Article>"
        for n in range(1, articles + 1)
    )
    name = "政令" if kind == "CabinetOrder" else "法律"
    return (
        f'<Law Era="Showa" Lang="ja" LawType="{kind}" Num="{number}" Year="99">'
        f"<LawNum>昭和九十九年{name}第{'〇一二三四'[number]}号</LawNum><LawBody>"
        f"<LawTitle>{title}</LawTitle><MainProvision>{provisions}</MainProvision></LawBody></Law>"
    )


def law_id(number: int) -> str:
    return f"399{'CO' if number == 2 else 'AC'}0000000{number:03}"


@pytest.fixture
def workspace(home: Path) -> Workspace:
    place = Workspace.locate(home)
    place.init()
    return place


def write(
    folder: Path, number: int, *, articles: int = 3, day: str = "20200401", more: str = ""
) -> Path:
    folder.mkdir(exist_ok=True)
    title = TITLES[number - 1]
    path = folder / f"{law_id(number)}_{day}.xml"
    path.write_text(law_xml(number, title, LEFT[title] + more, articles), encoding="utf-8")
    return path


def links(workspace: Workspace) -> list[object]:
    """Everything that references and definitions say, from each law and to it."""
    with CorpusStore.open(workspace.corpus("main").store, read_only=True) as store:
        assert store.check() == []
        found: list[object] = []
        for law in store.laws():
            found += store.references_from(law.law_id, Locator())
            found += store.definitions_in(law.law_id)
            found.append([law.law_id, *store.references_to(law.law_id, Locator())])
            for number in "123456":
                found.append([number, *store.references_to(law.law_id, Locator(article=number))])
        return found


def both(workspace: Workspace) -> tuple[list[object], list[object]]:
    """The links after a change, and those found from nothing."""
    assert not index(workspace, "main").skipped
    updated = links(workspace)
    index(workspace, "main", rebuild=True)
    return updated, links(workspace)


CHANGES: dict[str, Callable[[Workspace, Path], object]] = {
    "a law is changed": lambda _, laws: write(laws, 1, more="桟橋法第三条も同じ。"),
    "a law that ranges lead into is longer": lambda _, laws: write(laws, 3, articles=5),
    "a law that ranges lead into is shorter": lambda _, laws: write(laws, 3, articles=2),
    "a law comes": lambda _, laws: write(laws, 4),
    "a law goes": lambda where, _: remove_documents(where, "main", [law_id(3)]),
    "an order goes": lambda where, _: remove_documents(where, "main", [law_id(2)]),
    "a state comes": lambda _, laws: write(laws, 3, articles=4, day="20240401"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_update_finds_what_a_rebuild_finds(
    workspace: Workspace, tmp_path: Path, change: str
) -> None:
    laws = tmp_path / "laws"
    for number in (1, 2, 3):
        write(laws, number)
    add(workspace, "main", [laws])
    index(workspace, "main")
    before = links(workspace)
    CHANGES[change](workspace, laws)
    add(workspace, "main", [laws] if "goes" not in change else [])
    updated, anew = both(workspace)
    assert updated == anew
    assert updated != before


def test_only_what_may_have_changed_is_read(workspace: Workspace, tmp_path: Path) -> None:
    laws = tmp_path / "laws"
    for number in (1, 2, 3):
        write(laws, number)
    add(workspace, "main", [laws])
    first = index(workspace, "main")
    write(laws, 3, more="以上。")
    add(workspace, "main", [laws])
    second = index(workspace, "main")
    assert 0 < second.references < first.references


def hits(workspace: Workspace, query: str) -> list[tuple[str, str]]:
    corpus = localrag.open(workspace.home).corpus()
    return [(hit.passage.id, hit.passage.text) for hit in corpus.search(query, 20).hits]


def test_only_the_articles_that_changed_are_indexed_again(
    workspace: Workspace, tmp_path: Path
) -> None:
    laws = tmp_path / "laws"
    for number in (1, 2, 3):
        write(laws, number, articles=9)
    add(workspace, "main", [laws])
    assert index(workspace, "main").passages == 27
    path = write(laws, 3, articles=9)
    path.write_text(
        path.read_text(encoding="utf-8").replace("前条の桟橋を含む。", "前条の浮標を含む。", 1),
        encoding="utf-8",
    )
    add(workspace, "main", [laws])
    assert index(workspace, "main").passages == 1
    updated = hits(workspace, "浮標 桟橋")
    assert "浮標" in updated[0][1]
    assert [text for _, text in updated].count(updated[0][1]) == 1
    index(workspace, "main", rebuild=True)
    anew = hits(workspace, "浮標 桟橋")
    assert (anew[0], sorted(anew)) == (updated[0], sorted(updated))
    assert index(workspace, "main").skipped


def test_another_store_in_its_place_is_indexed_from_nothing(
    workspace: Workspace, tmp_path: Path
) -> None:
    laws = tmp_path / "laws"
    for number in (1, 2, 3):
        write(laws, number, articles=9)
    add(workspace, "main", [laws])
    index(workspace, "main")
    store = workspace.corpus("main").store
    for file in store.parent.glob(f"{store.name}*"):
        file.unlink()
    # The same keys, other words.
    for number in (1, 2, 3):
        write(laws, number, articles=9, more="浮標も同じ。")
    add(workspace, "main", [laws])
    assert index(workspace, "main").passages == 27
    assert "浮標" in hits(workspace, "浮標")[0][1]
