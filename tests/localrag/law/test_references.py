"""References that invented laws make."""

from collections.abc import Callable

from localrag.corpus.links import REFERENCES, Reference
from localrag.corpus.types import Document
from localrag.law.definitions import extract_definitions
from localrag.law.names import LawNames
from localrag.law.references import extract_references

from ...growth import assert_linear
from ...rows import each

ACT, ORDER, OTHER = "501AC0000000001", "501CO0000000002", "502AC0000000004"


def at(document: Document, names: LawNames, source: str) -> list[tuple[str, str, str, str]]:
    """(words, kind, law, target) of the references of one provision."""
    return [
        (
            document.text[r.start : r.end],
            r.kind,
            r.law_id or f"?{r.law_name}",
            r.target.path + (f"-{r.target_end.path}" if r.target_end else ""),
        )
        for r in extract_references(document, names)
        if r.source.path == source and r.kind in REFERENCES
    ]


def test_items_paragraphs_and_subitems(act: Document, names: LawNames) -> None:
    assert at(act, names, "2.2.1") == [("第三条第一項", "refers", ACT, "3.1")]
    assert at(act, names, "2.2.2") == [("前号", "refers", ACT, "2.2.1")]
    assert at(act, names, "3_2.1") == [
        ("前条第三項", "refers", ACT, "3.3"),
        ("第二条第二項各号", "refers", ACT, "2.2"),
    ]


def test_mutatis_mutandis(act: Document, names: LawNames) -> None:
    assert at(act, names, "3.3") == [
        ("前条", "applies-mutatis-mutandis", ACT, "2"),
        ("前二項", "applies-mutatis-mutandis", ACT, "3.1-3.2"),
        ("前項", "refers", ACT, "3.2"),
    ]


def test_other_laws_and_ranges(act: Document, names: LawNames) -> None:
    assert at(act, names, "4.1") == [
        ("民法第七百九条", "refers", "129AC0000000089", "709"),
        ("第七百十条", "refers", "129AC0000000089", "710"),
    ]
    assert at(act, names, "5.1") == [
        ("第三条から前条まで", "refers", ACT, "3-4"),
        ("次条", "refers", ACT, "6"),
    ]


def test_quoted_words_of_an_amendment_are_no_references(act: Document, names: LawNames) -> None:
    assert [words for words, *_ in at(act, names, "6.1")] == [
        "第十条から第十二条まで",
    ]


def test_labels_are_no_references(act: Document, names: LawNames) -> None:
    labels = {"第一条", "第二条", "第十条"}
    starts = {r.start for r in extract_references(act, names)}
    assert not any(
        passage.start in starts and act.text.startswith(tuple(labels), passage.start)
        for passage in act.passages
    )


def test_delegations_name_the_order_they_leave_it_to(act: Document, names: LawNames) -> None:
    assert at(act, names, "2.1") == [("政令で定め", "delegates", ORDER, "")]
    assert at(act, names, "3.1") == [("内閣府令で定め", "delegates", "501M50000000003", "")]


def test_an_order_fills_in_what_the_act_left_to_it(order: Document, names: LawNames) -> None:
    assert at(order, names, "1.1")[0][1:] == ("delegated-by", ACT, "2.1")
    assert at(order, names, "2.1") == [
        ("法第三条第一項", "delegated-by", ACT, "3.1"),
        ("法第三条の二", "refers", ACT, "3_2"),
        ("第三項", "delegated-by", ACT, "3.3"),
    ]
    assert at(order, names, "3.1") == [
        ("前条", "refers", ORDER, "2"),
        ("内閣府令で定め", "delegates", "?内閣府令", ""),
    ]


def test_supplementary_provisions(act: Document, names: LawNames) -> None:
    assert at(act, names, "suppl1/2.1") == [
        ("附則第一条", "refers", ACT, "suppl1/1"),
        ("第三条第一項", "refers", ACT, "3.1"),
    ]
    # A bare article in the supplement of an amending law is of that law.
    assert at(act, names, "suppl2/1.1") == [
        ("第二条", "refers", "?令和三年法律第九号", "2"),
        ("附則第二条", "refers", ACT, "suppl2/2"),
    ]


def test_appendices_of_the_law_itself(act: Document, names: LawNames) -> None:
    assert ("別表", "refers", ACT, "appendix1/") in at(act, names, "12.1")


def test_names_that_a_law_defines(names: LawNames, statute: Callable[..., Document]) -> None:
    lines = [
        (
            "1.1",
            "第一条　港湾の清掃及び美化に関する法律（令和二年法律第四号。"
            "以下「清掃法」という。）の定めによる。",
        ),
        ("2.1", "第二条　清掃法第三条及び改正前の民法（以下「旧民法」という。）第五条を除く。"),
        (
            "3.1",
            "第三条　海底法（平成三年法律第九十九号。以下この条において「法」という。）第七条、"
            "同法第八条",
        ),
        ("4.1", "第四条　旧民法第九条、灯台管理法第三条に規定する灯火に関する内閣府令第二条"),
    ]
    document = statute("509AC0000000099", "船灯法", lines)
    assert at(document, names, "2.1") == [
        ("清掃法第三条", "refers", OTHER, "3"),
        ("民法（以下「旧民法」という。）第五条", "refers", "?民法", "5"),
    ]
    assert [row[2:] for row in at(document, names, "3.1")] == [("?海底法", "7"), ("?海底法", "8")]
    (old, ordinance) = at(document, names, "4.1")
    assert old[2].startswith("?")
    assert ordinance[2:] == ("502M50000000005", "2")


def test_the_supplement_of_a_law_by_name_is_the_original_one(
    names: LawNames, statute: Callable[..., Document]
) -> None:
    lines = [("1.1", "第一条　総則"), ("suppl2/1.1", "第一条　船灯法附則第三条、附則第二条")]
    document = statute("509AC0000000096", "船灯法", lines, {"suppl2": "附則（令和三年法律第九号）"})
    known = LawNames.from_rows([("509AC0000000096", "船灯法", "", "Act", "")])
    targets = [r.target.path for r in extract_references(document, known)]
    assert targets == ["suppl1/3", "suppl1/2"]


def test_an_order_without_a_title_or_definition_asks_its_enabling_clause(
    names: LawNames, statute: Callable[..., Document]
) -> None:
    lines = [
        (
            "enact/",
            "内閣は、港湾の清掃及び美化に関する法律第三条の規定に基づき、この政令を制定する。",
        ),
        ("1.1", "第一条　法第三条の政令で定める者は、次のとおりとする。"),
    ]
    rows = [*names.rows.values(), ("509CO0000000001", "清掃船令", "", "CabinetOrder", "")]
    document = statute("509CO0000000001", "清掃船令", lines)
    references = extract_references(document, LawNames.from_rows(rows))
    assert [(r.kind, r.law_id) for r in references if r.source.article] == [("delegated-by", OTHER)]


def test_acts_that_the_corpus_lacks_are_not_mistaken_for_others(
    names: LawNames, statute: Callable[..., Document]
) -> None:
    lines = [
        ("1.1", "第一条　民法第五条及び海底法に規定する方法により、同法第六条の申請をする。"),
        ("2.1", "第二条　民法第五条において準用する第七条、第一条において準用する第二条第一項"),
        ("3.1", "第三条　民法第五条において準用するこの法律第一条"),
    ]
    document = statute("509AC0000000095", "船灯法", lines)
    assert [row[2:] for row in at(document, names, "1.1")] == [
        ("129AC0000000089", "5"),
        ("?海底法", "6"),
    ]
    assert [row[2:] for row in at(document, names, "2.1")] == [
        ("129AC0000000089", "5"),
        ("129AC0000000089", "7"),
        ("129AC0000000089", "1"),
        ("129AC0000000089", "2.1"),
    ]
    assert [row[2:] for row in at(document, names, "3.1")] == [
        ("129AC0000000089", "5"),
        ("509AC0000000095", "1"),
    ]


def test_tables_that_replace_words_of_other_laws(
    names: LawNames, statute: Callable[..., Document]
) -> None:
    lines = [
        ("1.1", "第一条　技術的読替えは、次の表のとおりとする。"),
        ("1.1", "第四十五条第一項\t第五十条\t第三条"),
    ]
    document = statute("509AC0000000098", "船灯準用令", lines)
    assert extract_references(document, names) == []


def test_treaties_and_laws_that_are_not_at_hand(
    names: LawNames, statute: Callable[..., Document]
) -> None:
    lines = [
        ("1.1", "第一条　パリ条約第二条及び第一条の規定は、北海協定第二条（１）の例による。"),
        ("2.1", "第二条　北海協定（以下「協定」という。）第二条（１）若しくは（２）又は第一条"),
        ("3.1", "第三条（名）　潮流の観測に関する法律により行う同法第一条による。"),
        ("4.1", "第四条　別表第一の各項、前条"),
    ]
    document = statute("509AC0000000094", "船灯法", lines)
    assert [row[2:] for row in at(document, names, "2.1")] == [
        ("?北海協定", "2"),
        ("?北海協定", "1"),
    ]
    assert [row[2:] for row in at(document, names, "3.1")] == [
        ("?潮流の観測に関する法律", "1"),
    ]
    assert [row[0] for row in at(document, names, "4.1")] == ["前条"]
    assert [row[2:] for row in at(document, names, "1.1")] == [
        ("?パリ条約", "2"),
        ("?パリ条約", "1"),
        ("?北海協定", "2"),
    ]


def test_a_range_may_end_where_it_is_written(
    names: LawNames, statute: Callable[..., Document]
) -> None:
    own = "509AC0000000093"
    lines = [
        ("1.1", "第一条　総則"),
        ("2.1", "第二条　第一条からこの条まで"),
        ("2.2", "２　前項"),
        ("2.3", "３　第一項から本項まで"),
        ("2.4", "４　末尾"),
        ("3.1", "第三条　末尾"),
    ]
    document = statute(own, "船灯法", lines)
    assert [row[2:] for row in at(document, names, "2.1")] == [(own, "1-2")]
    assert [row[2:] for row in at(document, names, "2.3")] == [(own, "2.1-2.3")]


@each(
    "piece",
    [
        "第一条",
        "法第一条の政令で定め",
        "「",
        "「第三条」",
        "（以下「法」という。）",
        "同法第一条、",
        "以下同じ。）",
        "前項（",
        "\t第一条",
    ],
)
def test_hostile_text_takes_linear_time(
    names: LawNames, statute: Callable[..., Document], piece: str
) -> None:
    def extract(size: int) -> None:
        document = statute(ORDER, "灯台管理法施行令", [("1.1", piece * (size // len(piece)))])
        extract_references(document, names)
        extract_definitions(document)

    assert_linear(extract, 7_500)


def test_other_documents_have_none(names: LawNames) -> None:
    document = Document("x", "灯台", "text", "灯台管理法第三条", "x.txt")
    assert extract_references(document, names) == []


def test_references_are_plain_values(act: Document, names: LawNames) -> None:
    for reference in extract_references(act, names):
        assert isinstance(reference, Reference)
        assert act.text[reference.start : reference.end]


def test_forms_and_appendices_by_their_labels(
    names: LawNames, statute: Callable[..., Document]
) -> None:
    own = "509AC0000000092"
    labels = {
        "suppl1": "附則",
        "appendix1": "別表第一（第一条関係）",
        "appendix2": "別記第三号様式（第一条関係）",
        "appendix3": "附則 別表第一",
        "appendix4": "様式第四",
        "appendix5": "第四号様式",
    }
    lines = [
        ("1.1", "第一条　別表第一及び附則別表第一並びに様式第三号、第三号様式及び様式第九による。"),
        ("2.1", "第二条　灯台管理法施行規則様式第二、同令別記様式、「様式第三」とする。様式第四"),
        ("3.1", "第三条　灯台管理法別表第二"),
        ("suppl1/1.1", "第一条　附則別表第一"),
        *[(f"{division}/", label) for division, label in labels.items() if division != "suppl1"],
    ]
    document = statute(own, "船灯規則", lines, labels)
    assert at(document, names, "1.1") == [
        ("別表第一", "refers", own, "appendix1/"),
        ("附則別表第一", "refers", own, "appendix3/"),
        ("様式第三号", "refers", own, "appendix2/"),
        ("第三号様式", "refers", own, "appendix2/"),
    ]
    # 様式第四 can mean two of them.
    assert at(document, names, "2.1") == [
        ("灯台管理法施行規則様式第二", "refers", "501M50000000003", "様式第二/"),
        ("同令別記様式", "refers", "501M50000000003", "様式/"),
    ]
    assert at(document, names, "3.1") == [("灯台管理法別表第二", "refers", ACT, "別表第二/")]
    assert at(document, names, "suppl1/1.1") == [("附則別表第一", "refers", own, "appendix3/")]


def test_a_title_may_end_like_no_law(statute: Callable[..., Document]) -> None:
    own, rule, lights = "509AC0000000093", "509M50000000094", "509M50000000095"
    names = LawNames.from_rows(
        [
            (own, "船灯法", "令和九年法律第九十三号", "Act", ""),
            (rule, "灯火規範", "令和九年内閣府令第九十四号", "MinisterialOrdinance", ""),
            (lights, "船の灯火及び号鐘に関する基準", "", "MinisterialOrdinance", ""),
        ]
    )
    lines = [
        ("1.1", "第一条　灯火規範第二条及び第三条並びに第四条に定める。"),
        ("2.1", "第二条　灯火規範（令和九年内閣府令第九十四号）第三条による。"),
        ("3.1", "第三条　船の灯火及び号鐘に関する基準（以下「基準」という。）第一条による。"),
        ("4.1", "第四条　港の標識に関する基準（令和八年省令第七号）第三条及び第四条による。"),
        (
            "4.2",
            "２　港の取扱い（令和八年省令第八号）第三条と、もの（令和八年法律第九号の者）第一条",
        ),
        ("5.1", "第五条　船舶の規範第一条、灯火規範（第二条を除く。）による。"),
    ]
    document = statute(own, "船灯法", lines)
    assert at(document, names, "1.1") == [
        ("灯火規範第二条", "refers", rule, "2"),
        ("第三条", "refers", rule, "3"),
        ("第四条", "refers", rule, "4"),
    ]
    assert at(document, names, "2.1") == [
        ("灯火規範（令和九年内閣府令第九十四号）第三条", "refers", rule, "3")
    ]
    assert [law for _, _, law, _ in at(document, names, "3.1")] == [lights]
    # Of a law that the corpus lacks, never of the one that cites it.
    assert [law for _, _, law, _ in at(document, names, "4.1")] == ["?港の標識に関する基準"] * 2
    assert [law for _, _, law, _ in at(document, names, "4.2")] == ["?港の取扱い", own]
    # 規範 alone is no title.
    assert [law for _, _, law, _ in at(document, names, "5.1")] == [own, rule]
