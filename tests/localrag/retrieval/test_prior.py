from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import localrag
from localrag.retrieval.lexical import LexicalMatch, weigh
from localrag.retrieval.types import Query
from localrag.statutes.names import LawNames

NAMES = LawNames.from_rows(
    [
        ("A", "渡船法", "令和九十九年法律第一号", "Act", ""),
        ("B", "渡船法施行令", "令和九十九年政令第一号", "CabinetOrder", ""),
        ("C", "索道法", "令和九十九年法律第二号", "Act", ""),
    ]
)


def no_headings(_: Iterable[str]) -> dict[str, str]:
    """No article stands alone under one."""
    return {}


EQUAL = dict.fromkeys(("A#1", "B#1", "C#1", "A#suppl1/1", "page.md#1"), LexicalMatch(1.0, ""))


def test_all_laws_are_alike() -> None:
    weighed = weigh(EQUAL, Query("運航の基準"), NAMES, no_headings)
    assert weighed["A#1"] == weighed["B#1"] == weighed["C#1"] == 1.0


def test_supplementary_provisions_count_less_unless_asked_for() -> None:
    assert weigh(EQUAL, Query("施行の日"), NAMES, no_headings)["A#suppl1/1"] < 1.0
    assert weigh(EQUAL, Query("附則の施行の日"), NAMES, no_headings)["A#suppl1/1"] == 1.0
    assert weigh(EQUAL, Query("施行の日", ("附則第一条",)), NAMES, no_headings)["A#suppl1/1"] == 1.0


def test_what_is_titled_with_words_of_the_question_counts_more() -> None:
    found = {
        "A#1": LexicalMatch(1.0, "渡船法 第一条（登録の有効期間）"),
        "A#2": LexicalMatch(1.0, "渡船法 第二条（登録の有効期間の満了後の運航の制限）"),
        "A#3": LexicalMatch(1.0, "渡船法 第三条"),
        "page.md#1": LexicalMatch(1.0, "渡し > 登録"),
        "page.md#2": LexicalMatch(1.0, "渡し > 事故"),
    }
    weighed = weigh(found, Query("登録の有効期間は何年か。"), NAMES, no_headings)
    assert weighed["A#1"] == weighed["page.md#1"] > 1.0
    assert weighed["A#2"] == weighed["A#3"] == weighed["page.md#2"] == 1.0


def test_a_heading_over_one_article_is_its_title() -> None:
    found = {"A#1": LexicalMatch(1.0, "渡船法 第一条"), "A#2": LexicalMatch(1.0, "渡船法 第二条")}
    weighed = weigh(found, Query("登録の取消し"), NAMES, lambda _: {"A#2": "登録"})
    assert weighed["A#2"] > weighed["A#1"] == 1.0


def _article(number: int, text: str) -> str:
    return (
        f'<Article Num="{number}"><ArticleTitle>第{"〇一二三四"[number]}条</ArticleTitle>'
        f'<Paragraph Num="1"><ParagraphNum/><ParagraphSentence><Sentence>{text}</Sentence>'
        "</ParagraphSentence></Paragraph></Article>"
    )


def test_the_articles_that_stand_alone_under_a_heading(
    cli: Callable[..., Any], tmp_path: Path, home: Path
) -> None:
    chapters = (
        (
            "総則",
            _article(1, "帆船の検査の手続は、修繕の前に行う。")
            + _article(2, "修繕の費用は、船主の負担とし、修繕の手続の外のものを含む。"),
        ),
        ("修繕", _article(3, "船主は、帆柱その他の部分が朽ちたときは、これを取り替える。")),
    )
    written = "".join(
        f"<Chapter Num='{n}'><ChapterTitle>第{n}章　{title}</ChapterTitle>{text}</Chapter>"
        for n, (title, text) in enumerate(chapters, 1)
    )
    (tmp_path / "595AC0000000003_21170401.xml").write_text(
        '<Law Era="Reiwa" Year="95" Num="3" LawType="Act" Lang="ja"><LawNum>令和九十五年法律第三号'
        f"</LawNum><LawBody><LawTitle>帆船保存法</LawTitle><MainProvision>{written}"
        "</MainProvision></LawBody></Law>",
        encoding="utf-8",
    )
    for arguments in (["init"], ["add", str(tmp_path)], ["index"]):
        assert cli(*arguments).code == 0
    law = "595AC0000000003"
    with localrag.open(home).corpus() as corpus:
        alone = corpus.store.headings_alone([f"{law}#{n}" for n in (1, 2, 3, 4)])
    assert alone == {f"{law}#3": "修繕"}
