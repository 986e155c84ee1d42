"""Which definitions reach a provision: a wrong one would be a wrong citation."""

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Locator
from localrag.corpus.workspace import Workspace
from localrag.errors import NotFoundError, UsageError
from localrag.law.delegations import filled_in
from localrag.search.contents import Part
from localrag.search.provision import Provision, citation_of, look_up, show

from ..windmills import LAW, XML, provision


@pytest.fixture
def store(cli: Callable[..., Any], tmp_path: Path, home: Path) -> Iterator[CorpusStore]:
    file = tmp_path / f"{LAW}_21170401.xml"
    file.write_text(XML, encoding="utf-8")
    for arguments in (["init"], ["add", str(file)], ["index"]):
        assert cli(*arguments).code == 0
    with CorpusStore.open(Workspace.locate(home).corpus("main").store, read_only=True) as store:
        yield store


def _terms(view: Provision) -> dict[str, str]:
    return {term.term: term.passage.locator.article for term in view.terms}


def test_a_definition_for_the_chapter_ends_with_the_chapter(store: CorpusStore) -> None:
    assert _terms(show(store, "風車組合法2条")) == {"風車業者": "1", "点検": "1"}
    assert _terms(show(store, "風車組合法3条")) == {"風車業者": "1"}


def test_a_law_that_is_added_while_the_store_is_open_is_found(
    store: CorpusStore, cli: Callable[..., Any], tmp_path: Path
) -> None:
    with pytest.raises(NotFoundError):
        show(store, "水車組合法1条")
    file = tmp_path / "598AC0000000008_21170401.xml"
    other = XML.replace("風車", "水車").replace("法律第七号", "法律第八号")
    file.write_text(other, encoding="utf-8")
    assert cli("add", str(file)).code == 0
    assert show(store, "水車組合法1条").document.title == "水車組合法"


def test_a_licence_is_shown_as_what_the_other_provision_requires(
    cli: Callable[..., Any], tmp_path: Path, home: Path
) -> None:
    file = tmp_path / f"{LAW}_21170401.xml"
    ban = "第一条の免許を受けない者は、風車を回してはならない。第四条の場合も同様とする。"
    file.write_text(XML.replace("風車業者は、点検の記録を、公告の方法により示す。", ban), "utf-8")
    for arguments in (["init"], ["add", str(file)], ["index"]):
        assert cli(*arguments).code == 0
    with CorpusStore.open(Workspace.locate(home).corpus("main").store, read_only=True) as store:
        kinds = [(link.kind, link.words) for link in show(store, "風車組合法2条").refers_to]
        assert kinds == [("requires", "第一条"), ("refers", "第四条")]
        assert [link.kind for link in show(store, "風車組合法1条").referred_by] == ["requires"]
    assert "[licence or notification: 第一条]" in cli("show", "風車組合法1条").out


def test_definitions_that_come_later_or_in_another_division_do_not_reach(
    store: CorpusStore,
) -> None:
    assert not {"公告", "記録"} & set(_terms(show(store, "風車組合法2条")))


def test_place_and_passage(store: CorpusStore) -> None:
    view = show(store, f"{LAW}#3")
    assert view.place == ("第二章　組合",)
    assert view.document.title == "風車組合法"
    assert view.passage.text.startswith("第三条")


def test_a_provision_is_cited_as_lawyers_do(store: CorpusStore) -> None:
    def cited(place: str) -> str:
        passage = store.by_id(f"{LAW}#{place}")
        assert passage
        return citation_of(store, passage)

    assert cited("3") == cited("3.1") == "風車組合法第3条"
    assert cited("suppl1/1") == "風車組合法附則（令和九八年五月一日法律第九号）第1条"
    assert cited("appendix1/") == "風車組合法附則（令和九八年五月一日法律第九号）別表第一"
    assert cited("appendix2/") == "風車組合法別表第二"


def test_what_is_there_instead(store: CorpusStore) -> None:
    with pytest.raises(NotFoundError, match="state of 2117-04-01") as missing:
        show(store, "風車組合法2条の3")
    assert f"({LAW}#2)" in missing.value.cure
    assert f"({LAW}#3)" in missing.value.cure
    with pytest.raises(NotFoundError, match="no such provision"):
        show(store, f"{LAW} あ")
    with pytest.raises(NotFoundError, match="'7' is not the number of a provision"):
        show(store, "風車組合法2条7")
    with pytest.raises(NotFoundError, match=r"^風車組合法2条7o9: '7o9' is not the number"):
        show(store, "風車組合法2条7o9")
    with pytest.raises(NotFoundError, match="風車組合法88条"):
        show(store, "風車組合法2条及び風車組合法88条")


def test_candidates_are_told_apart(store: CorpusStore) -> None:
    view = show(store, "風車組合法 附則1条")
    assert view.passage.id == f"{LAW}#suppl1/1"
    with pytest.raises(UsageError) as several:
        show(store, "風車組合法1条から3条まで")
    assert f"風車組合法 第二条 ({LAW}#2)" in several.value.cure


def test_each_of_several_delegations_leads_to_what_fills_it_in(
    cli: Callable[..., Any], tmp_path: Path, home: Path
) -> None:
    act, order = "597AC0000000003", "597CO0000000004"
    article = (
        "水車業者は、政令で定める期間内に、水車の大きさが政令で定める額未満であるとき又は"
        "政令で定めるものであるとき及び政令で定める場合には、政令で定める数の届出を"
        "国土交通省令で定めるところにより行う。"
    )
    filling = (
        "水車法第一条に規定する政令で定めるものは、木の水車とする。",
        "水車法第一条に規定する政令で定める額は、十円とする。",
        "水車法第一条に規定する政令で定める数は、三とする。",
        "水車法第一条の政令で定める期間は、四月とする。",
        "水車法第一条の政令で定める場合は、渇水の場合とする。",
    )
    for name, title, kind, number, articles in (
        (act, "水車法", "Act", "法律第三号", (article,)),
        (order, "水車法施行令", "CabinetOrder", "政令第四号", filling),
    ):
        body = "".join(provision(n, text) for n, text in enumerate(articles, 1))
        (tmp_path / f"{name}_21170401.xml").write_text(
            f'<Law Era="Reiwa" Year="97" Num="3" LawType="{kind}" Lang="ja">'
            f"<LawNum>令和九十七年{number}</LawNum><LawBody><LawTitle>{title}</LawTitle>"
            f"<MainProvision>{body}</MainProvision></LawBody></Law>",
            encoding="utf-8",
        )
    for arguments in (["init"], ["add", str(tmp_path)], ["index"]):
        assert cli(*arguments).code == 0
    with CorpusStore.open(Workspace.locate(home).corpus("main").store, read_only=True) as store:
        left = [of for of in store.references_from(act, Locator("", "1")) if of.law_id]
        filled = [filled_in(store, of) for of in left]
        assert [of.source.article if of else "" for of in filled] == ["4", "2", "1", "5", "3"]
        view = show(store, "水車法1条")
    assert {link.document_id for link in view.filled_in_by} == {order}
    # That there is an order says less than its provisions do; of the ordinance there is nothing.
    assert [(link.label, link.exists) for link in view.refers_to] == [("国土交通省令", False)]


def _titles(parts: tuple[Part, ...]) -> list[str]:
    return [part.title for part in parts]


def test_a_list_and_a_range_are_looked_up_one_by_one(store: CorpusStore) -> None:
    found = look_up(store, "風車組合1〜3条")
    assert [view.passage.locator.path for view in found.provisions] == ["1", "2", "3"]
    found = look_up(store, "風車組合法1条から4条まで、2条", most=2)
    assert [view.passage.locator.path for view in found.provisions] == ["1", "2"]
    assert found.left_out == 2
    assert look_up(store, f"{LAW}#3").provisions == (show(store, "風車組合3"),)
    with pytest.raises(UsageError, match="names 3 provisions"):
        show(store, "風車組合1〜3条")


def test_a_law_is_looked_up_as_its_contents(store: CorpusStore) -> None:
    contents = look_up(store, "風車組合法").contents
    assert contents
    assert contents.place == ()
    assert contents.document.id == LAW
    assert _titles(contents.parts)[:2] == ["第一章　総則", "第二章　組合"]
    chapter = contents.parts[1]
    assert (chapter.first, chapter.last) == (Locator("", "3"), Locator("", "4"))
    assert [part.passage_id for part in chapter.parts] == [f"{LAW}#3", f"{LAW}#4"]
    assert look_up(store, LAW).contents == contents


@pytest.mark.parametrize("written", ["風車組合法 第二章", "風車組合2章", f"{LAW} 第２章"])
def test_a_part_of_a_law_is_looked_up_by_its_headings(store: CorpusStore, written: str) -> None:
    contents = look_up(store, written).contents
    assert contents
    assert contents.place == ("第二章　組合",)
    assert _titles(contents.parts) == ["第三条", "第四条"]


def test_a_part_that_is_not_there_says_what_is(store: CorpusStore) -> None:
    with pytest.raises(NotFoundError, match="風車組合法 has no 第9章") as missing:
        look_up(store, "風車組合法 第九章")
    assert "第二章 組合" in missing.value.cure
    with pytest.raises(NotFoundError, match="no law called 海底法"):
        look_up(store, "海底法第一章")
    with pytest.raises(NotFoundError, match="has no 第2章第1節"):
        look_up(store, "風車組合法 第二章第一節")


def test_of_parts_that_are_called_alike_none_is_chosen(
    cli: Callable[..., Any], tmp_path: Path, home: Path
) -> None:
    law_id = "597AC0000000009"
    chapters = [
        f'<Part Num="{n}"><PartTitle>第{"〇一二"[n]}編　帆</PartTitle><Chapter Num="1">'
        f"<ChapterTitle>第一章　布</ChapterTitle>{provision(n, text)}</Chapter></Part>"
        for n, text in enumerate(("削除", "縫う。"), 1)
    ]
    (tmp_path / f"{law_id}_21170401.xml").write_text(
        '<Law Era="Reiwa" Year="97" Num="9" LawType="Act" Lang="ja"><LawNum>令和九十七年法律第九号'
        f"</LawNum><LawBody><LawTitle>帆布法</LawTitle><MainProvision>{''.join(chapters)}"
        "</MainProvision></LawBody></Law>",
        encoding="utf-8",
    )
    for arguments in (["init"], ["add", str(tmp_path)], ["index"]):
        assert cli(*arguments).code == 0
    with CorpusStore.open(Workspace.locate(home).corpus("main").store, read_only=True) as store:
        with pytest.raises(UsageError, match="第1章 can mean 2 parts") as several:
            look_up(store, "帆布法第一章")
        assert "帆布法 第一編 帆 第一章 布" in several.value.cure
        contents = look_up(store, "帆布法 第二編第一章").contents
        assert contents
        assert contents.place == ("第二編　帆", "第一章　布")
        assert show(store, "帆布1").is_deleted
        assert not show(store, "帆布2").is_deleted
    assert "is deleted" in cli("show", "帆布1").out
    assert cli("show", "帆布1", "--json").json["deleted"] is True


def test_links_say_what_the_corpus_lacks(store: CorpusStore) -> None:
    links = {link.words: link for link in show(store, "風車組合法3条").refers_to}
    assert not links["海底法第五条"].exists
    assert links["第二条"].exists


def test_what_cannot_be_shown(store: CorpusStore) -> None:
    with pytest.raises(NotFoundError, match="風車組合法77条"):
        show(store, "風車組合法77条")
    with pytest.raises(UsageError, match="law of 4 articles"):
        show(store, "風車組合法")
    with pytest.raises(UsageError, match="names 2 provisions"):
        show(store, "風車組合法2条及び3条")
    with pytest.raises(NotFoundError, match="names no provision, document or subject"):
        show(store, "風車")


def test_the_id_of_a_document_shows_its_beginning_unless_it_is_a_statute(
    cli: Callable[..., Any], tmp_path: Path, store: CorpusStore
) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_text('{"id": "白岬灯台", "text": "岬に立つ。"}\n', encoding="utf-8")
    assert cli("add", str(file)).code == 0
    assert show(store, "白岬灯台").passage.text == "岬に立つ。"
    with pytest.raises(UsageError, match="not a provision"):
        show(store, LAW)


def test_triples_are_shown_by_document_and_by_subject_with_what_else_is_known(
    cli: Callable[..., Any], tmp_path: Path, store: CorpusStore
) -> None:
    rows = [
        "凪 (女優)\t職業\t女優",
        "凪 (灯台)\t高さ\t9m",
        "凪 (女優)\t別名\tなぎさ",
        "波\t種類\t犬",
    ]
    file = tmp_path / "facts.tsv"
    file.write_text("\n".join(rows), encoding="utf-8")
    assert cli("add", str(file)).code == 0
    assert show(store, "波").passage.text == "波の種類は犬。"
    assert show(store, "風車組合法2条").known == ()
    for target in ("facts.tsv:1", "凪 (女優)", "なぎさ"):
        view = show(store, target)
        assert view.passage.text == "凪 (女優)の職業は女優。"
        assert [one.triple.objects for one in view.known] == [("なぎさ",)]
    with pytest.raises(UsageError, match="can mean 2 subjects") as several:
        show(store, "凪")
    assert "凪 (女優), 凪 (灯台)" in several.value.cure


def test_the_name_of_a_file_in_a_zip_finds_its_document(
    cli: Callable[..., Any], tmp_path: Path, home: Path
) -> None:
    """With several of this name the error lists them; an id that is written whole goes first."""
    assert cli("init").code == 0
    for archive, members in {"a": ["手引.txt", "案内/注意.md"], "b": ["規約.txt"]}.items():
        with zipfile.ZipFile(tmp_path / f"{archive}.zip", "w") as made:
            for member in members:
                made.writestr(member, f"{member}の文。")
        assert cli("add", str(tmp_path / f"{archive}.zip")).code == 0
    for name in ("手引.txt", "注意.md", normalize("NFD", "手引.txt")):
        assert normalize("NFC", name) in cli("show", name).out
    (tmp_path / "手引.txt").write_text("別の手引の文。", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as made:
        made.writestr("規約.txt", "別の規約の文。")
    assert cli("add", str(tmp_path / "c.zip"), str(tmp_path / "手引.txt")).code == 0
    assert "別の手引の文。" in cli("show", "手引.txt").out
    refused = cli("show", "規約.txt")
    assert refused.code == 2
    assert "b.zip!規約.txt" in refused.err
    assert "c.zip!規約.txt" in refused.err
    assert cli("show", "別紙.txt").code == 3
