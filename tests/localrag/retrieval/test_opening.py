"""Where a term leads that no law defines, and that a part of a law has for its heading."""

from collections.abc import Iterator

import pytest

import localrag
from localrag.facts import FactKind

SHORE, HARBOUR, ROPES, PIERS = (f"59{year}AC000000000{year}" for year in (5, 6, 7, 8))
NUMBERS = "〇一二三四五六七"

# By their ids the titles of laws and, for each of their parts, the kind, the heading and articles.
# The first two are codes: they are divided into books.
LAWS = {
    SHORE: (
        "岸法",
        [
            ("Part", "編　総則", ["岸は、水に接する地とする。"]),
            ("Part", "編　係留", ["船を岸に留めた者は、綱を張る。", "係留の綱は、二本とする。"]),
            ("Part", "編　引船契約", ["引船は、船を引くことを約して行う。"]),
        ],
    ),
    HARBOUR: (
        "港法",
        [
            ("Part", "編　通則", ["係留は、港において行う。"]),
            ("Part", "編　係留", ["係留は、届け出てする。"]),
            ("Part", "編　引船", ["引船は、届け出てする。"]),
        ],
    ),
    ROPES: (
        "綱に関する法律",
        [
            ("Chapter", "章　係留", ["係留は、綱による。"]),
            ("Chapter", "章　綱の検査", ["検査は、毎年行う。"]),
            ("Chapter", "章　届出", ["届出は、書面でする。"]),
        ],
    ),
    PIERS: (
        "桟橋法",
        [
            ("Chapter", "章　浮桟橋", ["水に浮かべた台は、岸に綱で結ぶ。", "浮桟橋は、木で造る。"]),
            ("Chapter", "章　届出", ["届出は、口頭でする。"]),
        ],
    ),
}


def _written(law_id: str, title: str, parts: list[tuple[str, str, list[str]]]) -> str:
    body, article = "", 0
    for number, (kind, heading, texts) in enumerate(parts, 1):
        body += f'<{kind} Num="{number}"><{kind}Title>第{NUMBERS[number]}{heading}</{kind}Title>'
        for text in texts:
            article += 1
            body += (
                f'<Article Num="{article}"><ArticleTitle>第{NUMBERS[article]}条</ArticleTitle>'
                '<Paragraph Num="1"><ParagraphNum/><ParagraphSentence>'
                f"<Sentence>{text}</Sentence></ParagraphSentence></Paragraph></Article>"
            )
        body += f"</{kind}>"
    return (
        f'<Law Era="Reiwa" Year="{law_id[1:3]}" Num="{int(law_id[5:])}" LawType="Act" Lang="ja">'
        f"<LawNum>令和{law_id[1:3]}年法律第{int(law_id[5:])}号</LawNum>"
        f"<LawBody><LawTitle>{title}</LawTitle><MainProvision>{body}</MainProvision></LawBody></Law>"
    )


@pytest.fixture(scope="module")
def laws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[localrag.Corpus]:
    folder = tmp_path_factory.mktemp("opening")
    (folder / "xml").mkdir()
    for law_id, (title, parts) in LAWS.items():
        file = folder / "xml" / f"{law_id}_21170401.xml"
        file.write_text(_written(law_id, title, parts), encoding="utf-8")
    with localrag.open(folder / "home").corpus() as corpus:
        corpus.add(folder / "xml")
        corpus.index()
        yield corpus


@pytest.mark.parametrize(
    ("question", "article"),
    [
        # Of several laws the code, of several codes the first made.
        ("係留とは", f"{SHORE}#2"),
        ("港法の係留とは何か", f"{HARBOUR}#2"),
        # Of one law alone.
        ("浮桟橋って何", f"{PIERS}#1"),
    ],
)
def test_the_first_article_under_the_heading_is_quoted_first(
    laws: localrag.Corpus, question: str, article: str
) -> None:
    reply = laws.ask(question)
    assert reply.citations[0].passage_id.startswith(article)
    assert FactKind.NOT_DEFINED in [one.kind for one in reply.trace.events]
    (found,) = [hit for hit in laws.search(question).hits if hit.passage.id == article]
    assert "named" in str(found.reason)


@pytest.mark.parametrize(
    "question",
    [
        # The first code has 引船契約: what the second says need not be what is meant.
        "引船とは",
        # Two laws, and neither is a code.
        "届出とは",
        "旅券法の係留とは",
    ],
)
def test_a_heading_that_does_not_tell_the_law_leads_nowhere(
    laws: localrag.Corpus, question: str
) -> None:
    assert laws.search(question).named == ()
