"""Terms that invented laws define."""

from collections.abc import Callable

from localrag.corpus.types import Document
from localrag.statutes.definitions import extract_definitions


def terms(document: Document) -> list[tuple[str, str, str]]:
    return [(d.term, d.locator.path, d.scope) for d in extract_definitions(document)]


def test_terms_of_an_act(act: Document) -> None:
    assert terms(act) == [
        ("灯台", "2.1", ""),
        ("管理者", "2.2", ""),
        ("承継人", "2.2.2", "この条"),
    ]


def test_every_way_to_define(statute: Callable[..., Document]) -> None:
    lines = [
        ("1.1", "第一条　この章において「灯火」又は「灯光」とは、光をいう。"),
        ("1.2", "２　買付け等（買付けその他の取得をいう。以下この節において同じ。）をする者"),
        (
            "1.3",
            "３　灯台の所有者（以下単に「所有者」という。）及び守"
            "（以下この項において「灯守」と総称する。）",
        ),
        ("1.4", "４　次の各号に掲げる用語の意義は、当該各号に定めるところによる。"),
        ("1.4.1", "一　灯質　光の色及び周期をいう。"),
        ("1.5", "５　届出（第三条の届出を除く。以下同じ。）をした者（外国の者を含む。）"),
    ]
    assert terms(statute("509AC0000000097", "灯火法", lines)) == [
        ("灯火", "1.1", "この章"),
        ("灯光", "1.1", "この章"),
        ("買付け等", "1.2", "この節"),
        ("所有者", "1.3", ""),
        ("灯守", "1.3", "この項"),
        ("灯質", "1.4.1", ""),
    ]


def test_words_to_be_read_elsewhere_define_nothing(statute: Callable[..., Document]) -> None:
    lines = [
        (
            "1.1",
            "第一条　第九条中「灯台」とあるのは、「灯台（以下「灯標」という。）及び灯船"
            "（光る船をいう。以下同じ。）」と読み替える。",
        ),
        ("2.1", "第二条　次の表のとおり読み替える。"),
        ("2.1", "第三条\t灯台\t灯台（以下「灯光」という。）"),
        ("3.1", "第三条　灯台（以下「灯火」という。）"),
    ]
    assert terms(statute("509AC0000000093", "灯火法", lines)) == [("灯火", "3.1", "")]


def test_how_far_a_definition_reaches(statute: Callable[..., Document]) -> None:
    lines = [
        ("1.1", "第一条　前項第一号の「灯守」とは、灯台を守る者をいう。"),
        ("2.1", "第二条　前項における用語のうち次の各号に掲げるものの意義は、次のとおりとする。"),
        ("2.1.1", "一　灯質　光の色をいう。"),
        ("3.1", "第三条　次に掲げる用語の意義は、次のとおりとする。"),
        ("3.1.1", "一　灯油　燃える油をいう。"),
    ]
    assert terms(statute("509AC0000000092", "灯火法", lines)) == [
        ("灯守", "1.1", "前項第一号"),
        ("灯質", "2.1.1", "前項"),
        ("灯油", "3.1.1", ""),
    ]


def test_spans_hold_the_term(act: Document) -> None:
    for definition in extract_definitions(act):
        assert act.text[definition.start : definition.end] == definition.term
