"""Provisions as others have them read: marked, and never where the words do not stand."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.errors import NotFoundError
from localrag.page.markdown import markdown
from localrag.page.provision import filed_provisions
from localrag.search.provision import LookedUp, show

LAW = "598AC0000000008"


def _article(number: int, *paragraphs: str) -> str:
    written = "".join(
        f'<Paragraph Num="{at}"><ParagraphNum>{"２" if at > 1 else ""}</ParagraphNum>'
        f"<ParagraphSentence><Sentence>{text}</Sentence></ParagraphSentence></Paragraph>"
        for at, text in enumerate(paragraphs, start=1)
    )
    title = f"第{'〇一二三四五六七八'[number]}条"
    return f'<Article Num="{number}"><ArticleTitle>{title}</ArticleTitle>{written}</Article>'


XML = f"""<?xml version="1.0" encoding="UTF-8"?>
<Law Era="Reiwa" Year="98" Num="8" LawType="Act" Lang="ja"><LawNum>令和九十八年法律第八号</LawNum>
<LawBody><LawTitle>凧揚法</LawTitle><MainProvision>
{
    _article(
        1,
        "知事は、凧の届出を受ける。ただし、県の凧は、知事の許可による。",
        "知事は、県の凧を除く。",
    )
}
{
    _article(
        2,
        "前条第一項及び第二項の規定は、市について準用する。この場合において、同条第一項ただし書中"
        "「知事」とあるのは「市長」と、「県」とあるのは「市」と、同条第二項中「府」とあるのは「市」と"
        "読み替えるものとする。",
    )
}
{_article(3, "第二条中「ただし書」とあるのは、「本文」と読み替えるものとする。")}
{
    _article(
        4,
        "第一条（第二項を除く。）中「知事」とあるのは「村長」と、「知事の許可」とあるのは"
        "「村の許し」と、海底法第五条中「海」とあるのは「空」とする。",
    )
}
{
    _article(
        5,
        "第一章の規定は、村に準用する。この場合において、これらの規定中「知事」とあるのは"
        "「村長」とする。",
    )
}
<Article Num="7"><ArticleTitle>第七条</ArticleTitle><Paragraph Num="1"><ParagraphNum/>
<ParagraphSentence><Sentence>削除</Sentence></ParagraphSentence></Paragraph></Article>
<Article Num="8:9"><ArticleTitle>第八条から第九条まで</ArticleTitle>
<Paragraph Num="1"><ParagraphNum/><ParagraphSentence>
<Sentence>削除</Sentence></ParagraphSentence></Paragraph></Article>
<Article Num="10"><ArticleTitle>第十条</ArticleTitle><Paragraph Num="1"><ParagraphNum/>
<ParagraphSentence><Sentence>第七条、第九条、第三条及び凧揚法別表第二による。</Sentence>
</ParagraphSentence></Paragraph></Article>
{_article(6, "第一条第一項（凧に係る部分に限る。）中「知事」とあるのは「町長」とする。")}
</MainProvision>
<AppdxTable Num="2"><AppdxTableTitle>別表第二　糸（第十条関係）</AppdxTableTitle></AppdxTable>
</LawBody></Law>
"""


@pytest.fixture
def store(cli: Callable[..., Any], tmp_path: Path, home: Path) -> Iterator[CorpusStore]:
    file = tmp_path / f"{LAW}_21170401.xml"
    file.write_text(XML, encoding="utf-8")
    for arguments in (["init"], ["add", str(file)], ["index"]):
        assert cli(*arguments).code == 0
    with CorpusStore.open(Workspace.locate(home).corpus("main").store, read_only=True) as store:
        yield store


def test_only_the_part_that_is_named_is_replaced(store: CorpusStore) -> None:
    text = show(store, "凧揚法1条1項", as_read_by="凧揚法2条").as_read
    assert text is not None
    assert text.text == "第一条　知事は、凧の届出を受ける。ただし、市の凧は、市長の許可による。"
    assert [piece for piece in text.pieces if piece.replaced] == [("市", "県"), ("市長", "知事")]
    assert not text.left_out


def test_words_that_do_not_stand_there_are_told_and_never_replaced(store: CorpusStore) -> None:
    view = show(store, "凧揚法1条2項", as_read_by="凧揚法2条")
    text = view.as_read
    assert text is not None
    written = markdown(filed_provisions(store, LookedUp((view,))))
    assert "**Made by code, not the text of a law" in written
    assert "## Replacements not made\n\n- 「府」→「市」" in written
    assert text.text == show(store, "凧揚法1条2項").passage.text
    ((words),) = text.left_out
    assert (words.replaced, words.replacing, words.times) == ("府", "市", 0)


def test_the_longest_words_go_first_and_what_is_excepted_stays(store: CorpusStore) -> None:
    text = show(store, "凧揚法1条", as_read_by="凧揚法4条").as_read
    assert text is not None
    assert text.text.split("\n") == [
        "第一条　村長は、凧の届出を受ける。ただし、県の凧は、村の許しによる。",
        "２　知事は、県の凧を除く。",
    ]


def test_a_reading_of_a_reading(store: CorpusStore) -> None:
    text = show(store, "凧揚法2条", as_read_by="凧揚法3条").as_read
    assert text is not None
    assert "同条第一項本文中" in text.text


def test_a_limit_that_code_cannot_follow_is_told(store: CorpusStore) -> None:
    for by in ("凧揚法5条", "凧揚法6条"):
        text = show(store, "凧揚法1条1項", as_read_by=by).as_read
        assert text is not None
        assert all(not piece.replaced for piece in text.pieces)
        assert [words.times for words in text.left_out] == [None]


def test_who_reads_it_otherwise_is_shown(store: CorpusStore) -> None:
    view = show(store, "凧揚法1条1項")
    assert [link.label for link in view.read_by] == [
        "凧揚法 第二条",
        "凧揚法 第四条",
        "凧揚法 第六条",
    ]
    reads = show(store, "凧揚法4条").reads
    assert [(of.link.label, of.link.exists) for of in reads] == [
        ("凧揚法 第一条", True),
        ("海底法", False),
    ]
    assert [words.times for of in reads for words in of.words] == [2, 1, None]
    assert not show(store, "凧揚法5条").reads[0].told


def test_what_has_no_words_read_otherwise_is_an_error(store: CorpusStore) -> None:
    with pytest.raises(NotFoundError, match="has no words of") as caught:
        show(store, "凧揚法1条", as_read_by="凧揚法1条")
    assert "第二条" in str(caught.value.cure)


def test_the_command_marks_what_is_replaced(store: CorpusStore, cli: Callable[..., Any]) -> None:
    shown = cli("show", "凧揚法1条1項", "--as-read-by", "凧揚法2条").out
    assert "Made by code, not the text of a law: 凧揚法 第二条 replaces the words." in shown
    assert "【市】〔県〕の凧は、【市長】〔知事〕の許可" in shown
    missing = cli("show", "凧揚法1条2項", "--as-read-by", "凧揚法2条").out
    assert "「府」→「市」  (these words are not found there)" in missing
    plain = cli("show", "凧揚法1条1項").out
    assert "localrag show 凧揚法第一条第一項 --as-read-by 凧揚法第二条" in plain
    found = cli("show", "凧揚法1条1項", "--as-read-by", "凧揚法2条", "--json").json
    assert found["as_read"]["text"].endswith("市長の許可による。")
    (first, second) = cli("show", "凧揚法2条", "--json").json["reads"]
    assert (first["kind"], first["part"], first["locator"]) == ("reads", "ただし書", "1.1")
    assert second["readings"] == [{"replaced": "府", "replacing": "市", "times": 0}]


def test_deleted_articles_are_told(store: CorpusStore, cli: Callable[..., Any]) -> None:
    links = show(store, "凧揚法10条").refers_to
    assert [(link.label, link.exists, link.deleted) for link in links] == [
        ("凧揚法 第七条", True, True),
        ("凧揚法 第八条から第九条まで", True, True),
        ("凧揚法 第三条", True, False),
        ("凧揚法 別表第二　糸（第十条関係）", True, False),
    ]
    assert "凧揚法 第八条から第九条まで  [第九条]  (deleted)" in cli("show", "凧揚法10条").out
    assert show(store, "凧揚法9条").is_deleted
