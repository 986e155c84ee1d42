"""Every reader of names, numbers, citations and words, with every kind of unusual character."""

import unicodedata
from collections.abc import Callable, Iterator

import pytest

import localrag
from localrag.corpus.rows import FoldedText, fold
from localrag.corpus.types import LawRow
from localrag.law.citations import find_citations
from localrag.law.names import LawNames
from localrag.law.typed import read_headings, read_part, short_citations, written_out
from localrag.ops.batch.options import plain_label, read_options
from localrag.search.question.as_of import state_asked
from localrag.search.question.everyday import english_citations, english_places
from localrag.search.question.laws import laws_named
from localrag.search.search import Titles
from localrag.text import dates, quantities
from localrag.text.dates import may_be_same_number
from localrag_indexes.analysis import Analyzer
from localrag_indexes.analysis.normalize import letters_of, normalize, parse_numeral, without_blanks

from ..rows import each
from .ferries import law_xml

ID = "599AC0000000002"
TITLE = "水門、長屋・民宿及びサービス船の管理に関する法律"
NUMBER = "令和九十九年法律第二号"
ARTICLES = [
    ("1", "目的", ["この法律は、水門、長屋・民宿の安全を図ることを目的とする。"]),
    (
        "2",
        "登録",
        [
            "民宿の長は、市町村長の登録を受けなければならない。",
            "前項の登録は、三年ごとに、その更新を受けなければならない。",
        ],
    ),
    ("2_2", "灯火", ["水門の長は、夜間、金色の灯火を掲げなければならない。"]),
    ("3", "報告", ["民宿の長は、毎月、泊めた人の数を市町村長に報告しなければならない。"]),
]
NAMES = LawNames([LawRow(ID, TITLE, NUMBER, "Act", "水門長屋法")])

INVISIBLE = [
    "\u00ad", "\u034f", "\u061c", "\u180e", *map(chr, range(0x200B, 0x2010)),
    *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2060, 0x2065)),
    *map(chr, range(0x2066, 0x2070)), "\ufeff",
]  # fmt: skip
SELECTORS = ["\ufe00", "\ufe0f", "\U000e0100", "\U000e01ef"]
ALIKE = {
    "、": "，､﹐﹑︐︑",
    "・": "･·•‧∙⋅⸱",
    "〜": "～∼〰~",
    "-": "‐‑⁃﹣－−",
    "–": "—―‒─",
    "（": "(﹙︵",
    "）": ")﹚︶",
    "「": "｢﹁",
    "」": "｣﹂",
    " ": "\u00a0\u2003\u202f",
    "。": "｡",
}
RADICALS = {
    "水": "⽔",
    "門": "⾨",
    "長": "⾧⻑",
    "民": "⺠",
    "月": "⽉",
    "二": "⼆",
    "人": "⼈",
    "八": "⼋",
}


def _dressed(text: str) -> Iterator[str]:
    """The text with each unusual character where it can have it."""
    for character in INVISIBLE:
        yield character.join(text)
    for selector in SELECTORS:
        yield "".join(one + selector * ("一" <= one <= "鿿") for one in text)
    for common, others in {**ALIKE, **RADICALS}.items():
        yield from (text.replace(common, other) for other in others if common in text)
    yield unicodedata.normalize("NFD", text)
    yield text.replace("サービス", "ｻｰﾋﾞｽ")
    yield text.replace("サービス", "サ－ビス")
    yield text.replace("令和", "㋿").replace("平成", "㍻")
    yield text.translate({ord("0") + digit: 0x1D7CE + digit for digit in range(10)})


def _state(text: str) -> object:
    asked = state_asked(text, NAMES)
    return asked.day, normalize(asked.text)


def _titles(text: str) -> object:
    return Titles([(1, "水門・長屋")], lambda _: True).named_in(text, "")


READERS: dict[str, tuple[str, Callable[[str], object]]] = {
    "terms": (f"{TITLE}第2条の2と水門、長屋・民宿", Analyzer().terms),
    "letters": (f"「{TITLE}」、長屋・民宿", letters_of),
    "words without blanks": ("水門 長屋・民宿サービス", without_blanks),
    "names compared": ("水門・長屋－サービス", fold),
    "names in a text": ("人の水門・長屋サービス", lambda text: FoldedText(text).folded),
    "titles in a text": ("人は水門・長屋を見た。", _titles),
    "law": (TITLE, NAMES.lookup),
    "law by its number": (NUMBER, NAMES.lookup),
    "law numbers": (
        "平成十八年内閣府・総務省令第八号",
        lambda text: may_be_same_number(text, "平成18年内閣府・総務省令第8号"),
    ),
    "laws in a text": (
        f"「{TITLE}」の長",
        lambda text: [one.law_ids for one in NAMES.find_names(text)],
    ),
    "laws named": (
        f"{TITLE}では、長屋・民宿は",
        lambda text: [one.law_ids for one in laws_named(text, NAMES)],
    ),
    "citations": (
        f"{TITLE}（{NUMBER}）第二条の二第一項、第三条及び第8条〜第18条",
        lambda text: [(one.law.text, one.locator, one.last) for one in find_citations(text)],
    ),
    "citations in a question": (
        "水門長屋2の2①、3〜8条は",
        lambda text: normalize(written_out(text, NAMES)),
    ),
    "short citations": (
        "人は水門長屋法2の2①により",
        lambda text: [written for *_, written in short_citations(text, NAMES)],
    ),
    "headings": ("第二編 第八章の2", read_headings),
    "part of a law": (f"{TITLE} 第二編", lambda text: read_part(text, NAMES)),
    "English citations": (
        "Articles 8–18 and Article 2-2 of the Civil Code",
        lambda text: [one.place for one in english_citations(text, laws_named(text, NAMES))],
    ),
    "English places": (
        "Article 96(1) – (3)",
        lambda text: [one.place for one in english_places(text)],
    ),
    "day": ("令和二年八月二日", dates.read_day),
    "day in ISO form": ("2020-08-02", dates.read_day),
    "days in a text": (
        "平成二年八月二日から",
        lambda text: [str(one.value) for one in dates.find(text)],
    ),
    "day of the law": (f"令和二年八月二日時点の{TITLE}の長は", _state),
    "quantities": ("二十八人", lambda text: str(quantities.read(text))),
    "numerals": ("二十八", parse_numeral),
    "labels of options": (
        "① 水門|② 長屋",
        lambda text: plain_label("".join(read_options(text.split("|")).labels)),
    ),
}


@each("reader", READERS)
def test_every_reader_reads_every_character(reader: str) -> None:
    text, read = READERS[reader]
    meant = read(text)
    assert meant
    assert {ascii(other): read(other) for other in _dressed(text) if read(other) != meant} == {}


@each("character", [*INVISIBLE, *SELECTORS])
def test_a_citation_stands_where_the_text_has_it(character: str) -> None:
    text = character.join(f"人は、{TITLE}第二条の二第一項により")
    (cited,) = find_citations(text)
    assert text[cited.start : cited.end] == cited.text
    assert cited.text.replace(character, "").endswith("第二条の二第一項")
    (named,) = NAMES.find_names(text)
    assert text[named.start : named.end].replace(character, "") == TITLE


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[localrag.Corpus]:
    """The law above and a note with radicals, indexed; never write to it."""
    home = tmp_path_factory.mktemp("characters")
    folder = home / "texts"
    folder.mkdir()
    xml = law_xml(ARTICLES).replace("渡し舟法", TITLE).replace("法律第一号", "法律第二号")
    (folder / f"{ID}_20200401_000000000000000.xml").write_text(xml, encoding="utf-8")
    (folder / "覚書.txt").write_text("⺠宿の⻑⽼は、⽉に⼆度、橋守に会う。", encoding="utf-8")
    with localrag.open(home / "home").corpus() as made:
        made.add(folder)
        made.index()
        yield made


def test_a_provision_is_shown(corpus: localrag.Corpus) -> None:
    for target in (f"{TITLE}2条の2", "水門長屋2の2", f"{TITLE}（{NUMBER}）第二条の二"):
        for written in _dressed(target.replace("水門長屋2の2", f"{TITLE}第2条の2")):
            assert corpus.show(written).passage.locator.article == "2_2", ascii(written)


def test_a_question_and_a_search_find_it(corpus: localrag.Corpus) -> None:
    for written in _dressed(f"{TITLE}第二条の二の灯火は、何色か。"):
        assert corpus.search(written).hits[0].passage.id == f"{ID}#2_2", ascii(written)
    for written in _dressed("民宿、長老・橋守"):
        assert corpus.search(written).hits[0].passage.document_id == "覚書.txt", ascii(written)


def test_what_is_quoted_is_the_source_as_it_is(corpus: localrag.Corpus) -> None:
    answer = corpus.ask("民宿の長老は誰に会うか。")
    assert answer.citations[0].quote == "⺠宿の⻑⽼は、⽉に⼆度、橋守に会う。"
    assert answer.citations[0].verified


def test_a_text_is_checked_as_with_common_characters(corpus: localrag.Corpus) -> None:
    right = (
        f"{TITLE}第二条第一項は、「民宿の長は、市町村長の登録を受けなければならない。」と定める。"
    )
    wrong = f"{TITLE}第88条第二項による。"
    for text, verdict in ((right, "holds"), (wrong, "does-not-hold")):
        for written in _dressed(text):
            report = corpus.check(written)
            told = {one.verdict.value for one in report.findings if one.part.value != "law"}
            assert told == {verdict}, ascii(written)
            for one in report.findings:
                assert written[one.place.start : one.place.end].strip() == one.said
