"""An invented law with every construction of the readers, and ways to read it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from localrag.corpus.readers import ReadFailure, read
from localrag.corpus.types import Document

from ...word_parts import p, t, word

LAW_ID = "405AC0000009999"
LAW = """\
<Law Era="Heisei" Year="05" Num="999" LawType="Act" Lang="ja" \
PromulgateMonth="11" PromulgateDay="12">\
<LawNum>平成五年法律第九百九十九号</LawNum><LawBody>\
<LawTitle Abbrev="灯台法">灯台の保全に関する法律</LawTitle>\
<EnactStatement>灯台の保全に関する法律をここに公布する。</EnactStatement><TOC>\
<TOCLabel>目次</TOCLabel><TOCChapter Num="1">\
<ChapterTitle>第一章　総則</ChapterTitle></TOCChapter></TOC><Preamble>\
<Paragraph Num="1"><ParagraphNum/><ParagraphSentence>\
<Sentence>光は海を渡る。</Sentence></ParagraphSentence></Paragraph></Preamble>\
<MainProvision><Chapter Num="1"><ChapterTitle>第一章　総則</ChapterTitle>\
<Section Num="1"><SectionTitle>第一節　通則</SectionTitle><Article Num="1">\
<ArticleCaption>（目的）</ArticleCaption><ArticleTitle>第一条</ArticleTitle>\
<Paragraph Num="1"><ParagraphNum/><ParagraphSentence>\
<Sentence Function="main">この法律は、<Ruby>燈<Rt>とう</Rt></Ruby>台を保全する。</Sentence>\
<Sentence Function="proviso">ただし、廃灯を除く。</Sentence></ParagraphSentence>\
</Paragraph></Article></Section></Chapter><Chapter Num="2">\
<ChapterTitle>第二章　保全</ChapterTitle><Article Num="27_36">\
<ArticleCaption>（点検）</ArticleCaption><ArticleTitle>第二十七条の三十六</ArticleTitle>\
<Paragraph Num="1"><ParagraphNum/><ParagraphSentence>\
<Sentence>所有者は、次の事項を点検する。</Sentence></ParagraphSentence><Item Num="1">\
<ItemTitle>一</ItemTitle><ItemSentence><Column Num="1">\
<Sentence>灯器</Sentence></Column><Column Num="2"><Sentence>毎月</Sentence>\
</Column></ItemSentence></Item><Item Num="1_2"><ItemTitle>一の二</ItemTitle>\
<ItemSentence><Sentence>次に掲げる部分</Sentence></ItemSentence><Subitem1 Num="1">\
<Subitem1Title>イ</Subitem1Title><Subitem1Sentence><Sentence>塔</Sentence>\
</Subitem1Sentence><Subitem2 Num="1"><Subitem2Title>（１）</Subitem2Title>\
<Subitem2Sentence><Sentence>基礎</Sentence></Subitem2Sentence></Subitem2>\
</Subitem1></Item></Paragraph><Paragraph Num="2">\
<ParagraphNum>２</ParagraphNum><ParagraphSentence>\
<Sentence>点検の周期は、次の表による。</Sentence></ParagraphSentence><TableStruct><Table>\
<TableRow><TableColumn rowspan="2"><Sentence>灯器</Sentence></TableColumn>\
<TableColumn><Sentence>電球</Sentence></TableColumn></TableRow><TableRow>\
<TableColumn><Sentence>レンズ</Sentence></TableColumn></TableRow></Table>\
</TableStruct><List><ListSentence><Sentence>臨時の点検は別とする。</Sentence>\
</ListSentence></List></Paragraph></Article><Article Num="55:63">\
<ArticleTitle>第五十五条から第六十三条まで</ArticleTitle><Paragraph Num="1">\
<ParagraphNum/><ParagraphSentence><Sentence>削除</Sentence>\
</ParagraphSentence></Paragraph></Article></Chapter></MainProvision>\
<SupplProvision Extract="true">\
<SupplProvisionLabel>附　則</SupplProvisionLabel><Paragraph Num="1">\
<ParagraphCaption>（施行期日）</ParagraphCaption><ParagraphNum>１</ParagraphNum>\
<ParagraphSentence><Sentence>この法律は、公布の日から施行する。</Sentence>\
</ParagraphSentence></Paragraph><Paragraph Num="2">\
<ParagraphNum>２</ParagraphNum><ParagraphSentence>\
<Sentence>旧規則は、廃止する。</Sentence></ParagraphSentence></Paragraph>\
</SupplProvision><SupplProvision AmendLawNum="平成二七年五月二七日法律第三二号">\
<SupplProvisionLabel>附　則</SupplProvisionLabel><Article Num="2">\
<ArticleCaption>（経過措置）</ArticleCaption><ArticleTitle>第二条</ArticleTitle>\
<Paragraph Num="1"><ParagraphNum/><ParagraphSentence>\
<Sentence>なお従前の例による。</Sentence></ParagraphSentence></Paragraph></Article>\
<Article Num="2"><ArticleTitle>第二条</ArticleTitle><Paragraph Num="1">\
<ParagraphNum/><ParagraphSentence><Sentence>重ねて定める。</Sentence>\
</ParagraphSentence></Paragraph></Article></SupplProvision><AppdxTable>\
<AppdxTableTitle>別表第一</AppdxTableTitle>\
<RelatedArticleNum>（第一条関係）</RelatedArticleNum><Item Num="1">\
<ItemTitle>一</ItemTitle><ItemSentence><Sentence>白灯</Sentence></ItemSentence>\
</Item></AppdxTable><AppdxStyle><AppdxStyleTitle>様式第一</AppdxStyleTitle>\
<StyleStruct><Style><Fig src="./pict/a.pdf"/></Style></StyleStruct>\
</AppdxStyle></LawBody></Law>"""

Outcome = Document | ReadFailure


@pytest.fixture
def law_xml() -> str:
    return LAW


@pytest.fixture
def law_id() -> str:
    return LAW_ID


@pytest.fixture
def read_bytes(tmp_path: Path) -> Callable[..., list[Outcome]]:
    """Write a file and read it."""

    def reading(file: str, data: bytes | str, **options: object) -> list[Outcome]:
        path = tmp_path / file
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        outcomes = list(read(path, **options))
        for outcome in outcomes:
            if isinstance(outcome, Document):
                _check_spans(outcome)
        return outcomes

    return reading


@pytest.fixture
def read_one(read_bytes: Callable[..., list[Outcome]]) -> Callable[..., Document]:
    """Write a file with one document, and read it."""

    def reading(file: str, data: bytes | str, **options: object) -> Document:
        (outcome,) = read_bytes(file, data, **options)
        assert isinstance(outcome, Document), outcome
        return outcome

    return reading


@pytest.fixture
def read_failure(read_bytes: Callable[..., list[Outcome]]) -> Callable[..., ReadFailure]:
    """Write an unreadable file, and return the reason."""

    def reading(file: str, data: bytes | str, **options: object) -> ReadFailure:
        (outcome,) = read_bytes(file, data, **options)
        assert isinstance(outcome, ReadFailure), outcome
        assert outcome.source
        assert outcome.cause.endswith(".")
        return outcome

    return reading


def _check_spans(document: Document) -> None:
    ids = [passage.id for passage in document.passages]
    assert len(set(ids)) == len(ids)
    for passage in document.passages:
        assert passage.document_id == document.id
        assert passage.id.startswith(f"{document.id}#")
        assert passage.text
        assert document.text[passage.start : passage.end] == passage.text
    for section in document.sections:
        assert section.title in document.text[section.start : section.end]


@pytest.fixture
def lines(read_one: Callable[..., Document]) -> Callable[..., list[str]]:
    """The lines of a Word file: ``lines(p(t("灯台。")))``."""

    def reading(*body: str, **parts: str) -> list[str]:
        return read_one("a.docx", word(*body, **parts)).text.splitlines()

    return reading


@pytest.fixture
def named(read_one: Callable[..., Document]) -> Callable[..., dict[str, int]]:
    """Omissions of a Word file, with their counts."""

    def reading(*body: str, **parts: str) -> dict[str, int]:
        document = read_one("a.docx", word(p(t("灯台。")), *body, **parts))
        return {one.what: one.count for one in document.omissions}

    return reading
