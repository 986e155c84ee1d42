"""Terms that invented laws define."""

from collections.abc import Callable

from localrag.corpus.types import Document
from localrag.law.definitions import extract_definitions


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


def test_older_laws_define_without_quotation_marks(statute: Callable[..., Document]) -> None:
    lines = [
        ("1.1", "第一条　この法律で灯火とは、光（灯台のものに限る。）をいう。"),
        ("1.2", "②　灯船とは、光る船をいい、灯標とは、光る標識をいう。"),
        ("2.1", "第二条　灯守は、灯質を届け出る。"),
        ("2.2", "２　前項の灯質とは、光の色をいう。"),
        ("2.3", "３　第一項の灯守は、灯台を守る者をいう。"),
        ("2.4", "４　前項の届出の様式は、別記の様式とする。"),
        ("2.5", "５　灯台を消すこととは、光を遮ることをいう。"),
        ("2.6", "６　灯台と灯船とは、区別する。"),
        ("3.1", "第三条　灯台の集まりは、これを灯台区という。"),
    ]
    assert terms(statute("509AC0000000091", "灯火法", lines)) == [
        ("灯火", "1.1", ""),
        ("灯船", "1.2", ""),
        ("灯標", "1.2", ""),
        ("灯質", "2.2", "前項"),
        ("灯守", "2.3", "第一項"),
        ("灯台区", "3.1", ""),
    ]


def test_items_under_a_head_on_meanings_need_not_say_what_is_called_so(
    statute: Callable[..., Document],
) -> None:
    lines = [
        (
            "1.1",
            "第一条　この法律において次の各号に掲げる用語の意義は、当該各号に定めるところによる。",
        ),
        ("1.1.1", "一　灯油　燃える油で、灯台のもの"),
        ("1.1.2", "二　灯船（沈むものを除く。）　光る船をいい、灯標を含むものとする。"),
        ("2.1", "第二条　手数料は、次の各号に掲げる区分に応じ、当該各号に定める額とする。"),
        ("2.1.1", "一　灯標　百円"),
    ]
    assert terms(statute("509AC0000000090", "灯火法", lines)) == [
        ("灯油", "1.1.1", ""),
        ("灯船", "1.1.2", ""),
    ]


def test_what_is_made_something_is_defined_so(statute: Callable[..., Document]) -> None:
    lines = [
        ("1.1", "第一条　灯台以外の光は、すべて灯火とする。"),
        ("2.1", "第二条　灯台を守り、又は守り終わつた者を灯守とする。"),
        ("2.2", "２　灯守を助けた者は、副灯守とする。"),
        ("2.3", "３　副灯守を雇う。"),
        ("2.4", "４　灯守のうち一人を長とする。"),
        ("2.5", "５　手数料は、百円とする。"),
        ("2.6", "６　灯守に不利な特約は、無効とする。"),
        ("2.7", "７　届け出た場合においては、届け出た者を灯守とする。"),
    ]
    assert terms(statute("509AC0000000089", "灯火法", lines)) == [
        ("灯守", "2.1", ""),
        ("副灯守", "2.2", ""),
    ]
    captioned = terms(statute("509AC0000000089", "灯火法", lines, {"": "（灯台及び灯火）"}))
    assert captioned[0] == ("灯火", "1.1", "")


def test_what_a_law_aims_at_is_not_defined(statute: Callable[..., Document]) -> None:
    lines = [("1.1", "第一条　この法律は、灯台を守ることを目的とする。")]
    assert terms(statute("509AC0000000088", "灯火法", lines, {"": "（目的）"})) == []
