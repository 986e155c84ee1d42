"""Citations as written, in every spelling."""

from hypothesis import given
from hypothesis import strategies as st

from localrag.law.citations import LawKind, find_citations
from localrag_indexes.analysis.normalize import to_kanji

from ...growth import assert_linear
from ...rows import each

# What is written; the places found, ranges as first-last, relative words in front of a colon.
TABLE = [
    ("第五条", ["5"]),
    ("第二十七条の三十六", ["27_36"]),
    ("第五条本文及びただし書並びに第七条", ["5", "7"]),
    ("第五条第一項第一号の5億円", ["5.1.1"]),
    ("第404条第2項の3.5％、第1条の1,000円", ["404.2", "1"]),
    ("第二十七条の三十六第一項", ["27_36.1"]),
    ("第二十七条の三十六第一項第二号", ["27_36.1.2"]),
    ("第二十七条の三十六第一項第二号イ", ["27_36.1.2.1"]),
    ("第二十四条の二の二第一項", ["24_2_2.1"]),
    ("第27条の36", ["27_36"]),
    ("第27条の36第1項第2号イ", ["27_36.1.2.1"]),
    ("第２７条の３６第１項", ["27_36.1"]),
    ("第6条 の2第1項第2号", ["6_2.1.2"]),
    ("第 ６ 条の２ 第１項", ["6_2.1"]),
    ("27条の36", ["27_36"]),
    ("27条の36第2項", ["27_36.2"]),
    ("金商法27条2項3号", ["27.2.3"]),
    ("民法七〇九条", ["709"]),
    ("民法七〇九条一項", ["709.1"]),
    ("第二〇三条", ["203"]),
    ("第千四十二条", ["1042"]),
    ("第百条ノ二", ["100_2"]),
    ("第三條", ["3"]),
    ("第三条第二号", ["3..2"]),
    ("第一号の二", ["..1_2"]),
    ("第五条第一項第一号の三ロ", ["5.1.1_3.2"]),
    ("第二号イ(1)", ["..2.1.1"]),
    ("第二号イ（２）(i)", ["..2.1.2.1"]),
    ("第二号ロ（１）（ⅲ）", ["..2.2.1.3"]),
    ("附則第三条", ["suppl/3"]),
    ("附則第二項", ["suppl/.2"]),
    ("附則第三条及び第五条", ["suppl/3", "suppl/5"]),
    ("別表第二", ["別表第二/"]),
    ("別表第2の3", ["別表第二の三/"]),
    ("別表第一第三号", ["別表第一/..3"]),
    ("別表に掲げる", ["別表/"]),
    ("第三条及び第五条", ["3", "5"]),
    ("第三条、第五条又は第七条", ["3", "5", "7"]),
    ("第三条若しくは第五条並びに第七条の二", ["3", "5", "7_2"]),
    ("第五条から第七条まで", ["5-7"]),
    ("第三条及び第五条から第七条まで", ["3", "5-7"]),
    ("第六十三条から第六十三条の四まで", ["63-63_4"]),
    ("第5条～第7条", ["5-7"]),
    ("第三条から前条まで", ["3-前条"]),
    ("第一項から第三項まで", [".1-.3"]),
    ("第三条第一項及び第二項", ["3.1", "3.2"]),
    ("第三条第一項、第三項及び第五項から第八項まで", ["3.1", "3.3", "3.5-3.8"]),
    ("第一項又は第三項", [".1", ".3"]),
    ("第一項第一号又は第三号", [".1.1", ".1.3"]),
    ("第二項第一号から第三号まで", [".2.1-.2.3"]),
    ("第2項第16号・第17号", [".2.16", ".2.17"]),
    ("第2項第10号から第11号まで", [".2.10-.2.11"]),
    ("第２項第１６号、第１７号及び第18号", [".2.16", ".2.17", ".2.18"]),
    ("第一号、第三号及び第五号", ["..1", "..3", "..5"]),
    ("第二号イ又はロ", ["..2.1", "..2.2"]),
    ("第二号イからハまで", ["..2.1-..2.3"]),
    ("第二号イ、ハ及び第三号", ["..2.1", "..2.3", "..3"]),
    ("第三条第一項ただし書及び第二項", ["3.1", "3.2"]),
    ("第六条第一項前段、第七条本文", ["6.1", "7"]),
    ("第四条第一項（第六条において準用する場合を含む。）又は第五項", ["4.1", "6", "4.5"]),
    ("第四条（第三号及び第五号を除く。）", ["4", "4..3", "4..5"]),
    ("第六条各号（第九号及び第十号を除く。）", ["各号:6", "6..9", "6..10"]),
    ("第六条（第一項第一号の建物に係る部分に限る。）", ["6", "6.1.1"]),
    ("第六条（第一項の届出をした者を除く。）", ["6", ".1"]),
    (
        "第九十六条第一項（第一号（第九十五条を除く。）に係る部分に限る。）",
        ["96.1", "96.1.1", "95"],
    ),
    ("第八十五条（免許）第五項", ["85.5"]),
    ("第十条の二から第十二条まで", ["10_2-12"]),
    (
        "第00012345678901234567890条第１2345678901234567項",
        ["12345678901234567890.12345678901234567"],
    ),
    (f"第{'一' * 17}条", ["1" * 17]),
    (f"第{'9' * 9_999}条、第十百条、前十百条", []),
    ("第五条から同第七条まで、同第九条1項、同2項", ["5-7", "9.1", "9.2"]),
    ("第一編第五条及び第二編第一章第七条から第三章第九条まで", ["5", "7-9"]),
    ("第五条の二か月前", ["5"]),
    ("94条の2項、第94条の第10項", ["94.2", "94.10"]),
    ("第5条の2の3項、第5条1項の2号、第7条の3号", ["5_2.3", "5.1.2", "7..3"]),
    ("第94条の2項目", ["94"]),
    ("第5条1項1号は三分の一、2号は二分の一", ["5.1.1", "5.1.2"]),
    ("第5条1項1号は三人。2号は二人、3号機は", ["5.1.1"]),
    ("第七条の第一号被保険者、第7条の2号機", ["7", "7_2"]),
    ("前条及び前二項", ["前条:", "前二項:"]),
    ("同条第二項及び前項", ["同条:.2", "前項:"]),
    ("同条第四項", ["同条:.4"]),
    ("同条第一項及び第四項", ["同条:.1", "同条:.4"]),
    ("同項第三号", ["同項:..3"]),
    ("同号イ", ["同号:"]),
    ("前条第三項", ["前条:.3"]),
    ("前三条", ["前三条:"]),
    ("次条", ["次条:"]),
    ("前二項", ["前二項:"]),
    ("前項各号", ["前項各号:"]),
    ("前各号", ["前各号:"]),
    ("第二条第八項各号", ["各号:2.8"]),
    ("本条第一項", ["本条:.1"]),
    ("この条において", ["この条:"]),
    ("次の各号のいずれか", []),
    ("当該各号に定める", []),
    ("第一号被保険者", []),
    ("様式第六号", []),
    ("昭和二十三年法律第二十五号", []),
    ("第三条例", []),
    ("三条市は", []),
    ("第五条の一部を改正", ["5"]),
    ("第五条の三分の一", ["5"]),
    ("第二号ニ規定スル", ["..2"]),
    ("第二号ニに規定する", ["..2.4"]),
]


def found(text: str) -> list[str]:
    places = []
    for citation in find_citations(text):
        words = citation.article_word + citation.paragraph_word + citation.item_word
        place = citation.locator.path if citation.locator.subitem == "" or not words else ""
        if citation.last or citation.last_word:
            place += "-" + (citation.last.path if citation.last else citation.last_word)
        places.append(f"{words}:{place}" if words else place)
    return places


@each(("text", "expected"), TABLE)
def test_table_of_citations(text: str, expected: list[str]) -> None:
    assert found(text) == expected


LAWS = [
    ("金融商品取引法第五条", "金融商品取引法", LawKind.NAMED),
    ("法第五条", "法", LawKind.PARENT),
    ("令第五条", "令", LawKind.DECREE),
    ("規則第五条", "規則", LawKind.RULE),
    ("府令第五条", "府令", LawKind.RULE),
    ("同法第五条", "同法", LawKind.SAME),
    ("この法律第五条", "この法律", LawKind.THIS),
    ("規定する法第五条", "法", LawKind.PARENT),
    ("第三条中民法第五条", "民法", LawKind.NAMED),
    ("同項の第五条", "", LawKind.NONE),
    ("許可（第三条の許可をいう。）第五条", "", LawKind.NONE),
    ("電波法 第五条", "電波法", LawKind.NAMED),
    ("「電波法」第五条", "電波法", LawKind.NAMED),
    ("電波法第二編第三章の二第五条", "電波法", LawKind.NAMED),
    ("電波法 第2編 第3章第5条", "電波法", LawKind.NAMED),
    ("第三章第五条", "", LawKind.NONE),
    ("港湾の清掃及び美化に関する法律第五条", "港湾の清掃及び美化に関する法律", LawKind.NAMED),
    (
        "業者は、港湾の清掃及び美化に関する法律第五条",
        "港湾の清掃及び美化に関する法律",
        LawKind.NAMED,
    ),
]


@each(("text", "law", "kind"), LAWS)
def test_law_part(text: str, law: str, kind: LawKind) -> None:
    last = find_citations(text)[-1]
    assert (last.law.text, last.law.kind) == (law, kind)
    if law:
        assert text[last.law.start : last.law.end] == law


def test_law_number_stands_between_name_and_provision() -> None:
    (citation,) = find_citations("会社法（平成十七年法律第八十六号）第二条第一号に規定する")
    assert citation.law.text == "会社法"
    assert citation.law.number == "平成十七年法律第八十六号"
    assert citation.text == "会社法（平成十七年法律第八十六号）第二条第一号"


def test_a_law_number_tells_a_law_however_its_name_ends() -> None:
    (citation,) = find_citations("単位は、大学設置基準（昭和三十一年文部省令第二十八号）第五条")
    law = citation.law
    assert (law.text, law.kind, law.number) == (
        "大学設置基準",
        LawKind.NAMED,
        "昭和三十一年文部省令第二十八号",
    )
    (owner,) = find_citations("所有者（昭和三十一年法律第二十八号の所有者をいう。）第五条")
    assert owner.law.kind is LawKind.NONE
    (inside,) = find_citations("所有者（旧所有者である者で昭和三十一年法律第二十八号のもの）第五条")
    assert inside.law.kind is LawKind.NONE


def test_members_of_a_list_share_the_law() -> None:
    first, second = find_citations("会社法第三条及び第五条")
    assert first.law == second.law
    assert second.continues == 0


def test_what_stands_for_the_law_is_part_of_a_citation() -> None:
    text = "民法第五条、同第七条及び第二編第九条。第三編第二章第十条と、共同第三条。"
    assert [one.text for one in find_citations(text)] == [
        "民法第五条",
        "同第七条",
        "第二編第九条",
        "第三編第二章第十条",
        "第三条",
    ]


def test_lists_end_with_the_line() -> None:
    _, second = find_citations("第三条第一項\n及び第二項")
    assert second.continues == -1
    assert second.locator.article == ""


numbers = st.integers(1, 1999)
branches = st.lists(st.integers(2, 99), max_size=2)


@given(numbers, branches, st.integers(0, 40), st.integers(0, 40), st.sampled_from("kaf"))
def test_any_provision_in_any_spelling_reads_back(
    article: int, branch: list[int], paragraph: int, item: int, spelling: str
) -> None:
    wide = str.maketrans("0123456789", "０１２３４５６７８９")

    def number(value: int) -> str:
        if spelling == "k":
            return to_kanji(value)
        return str(value) if spelling == "a" else str(value).translate(wide)

    text = f"第{number(article)}条" + "".join(f"の{number(b)}" for b in branch)
    text += f"第{number(paragraph)}項" if paragraph else ""
    text += f"第{number(item)}号" if item else ""
    (citation,) = find_citations(f"…{text}の規定")
    assert citation.text == text
    assert citation.locator.article == "_".join(map(str, [article, *branch]))
    assert citation.locator.paragraph == (str(paragraph) if paragraph else "")
    assert citation.locator.item == (str(item) if item else "")


@given(st.text(alphabet="第一二十条項号のイロ、及び前同次（）「」法令0９ \n各附則別表からまで"))
def test_any_text_is_read_without_fail_and_spans_are_true(text: str) -> None:
    for citation in find_citations(text):
        assert text[citation.start : citation.end] == citation.text
        assert citation.text


@each("text", ["憲法前文第二項", "憲法前文2項", "憲法前文 第２項"])
def test_paragraphs_of_a_preamble_are_places_of_it(text: str) -> None:
    (citation,) = find_citations(text)
    assert (citation.law.text, citation.locator.division) == ("憲法", "前文")
    assert (citation.locator.article, citation.locator.paragraph) == ("", "2")
    # Alone it is a word.
    assert find_citations("憲法前文の趣旨") == []


@each(
    "piece",
    [
        "第",
        "「",
        "（",
        "一",
        "1",
        "法",
        "前",
        "第一条",
        "第一条及び",
        "第一条（",
        "第一条の",
        "第一号イ及び",
        "附則",
        "、",
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    assert_linear(lambda size: find_citations(piece * (size // len(piece))), 10_000)


@each(
    "before",
    [
        "令和5年(受)第709号",
        "最判令和5年第5号",
        "第十号・同第十一号",
        "甲第3号証",
        "第709号事件",
        "平成30年(ワ)第1号判決",
    ],
)
def test_a_number_before_a_law_is_no_part_of_its_name(before: str) -> None:
    cited = find_citations(f"{before}民法第9条")[-1]
    assert (cited.law.text, cited.locator.path) == ("民法", "9")
