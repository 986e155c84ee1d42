"""Citations as people type them, and that they lead to the provision meant."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from localrag.corpus.types import LawRow, Locator
from localrag.law.names import LawNames
from localrag.law.notation import IROHA, cite
from localrag.law.provisions import Provisions
from localrag.law.resolver import CitationResolver, parse_target
from localrag.law.typed import Heading, read_headings, read_typed, written_out
from localrag.text.facts import FactKind
from localrag_indexes.analysis.normalize import to_kanji

from ...growth import assert_linear
from ...rows import each

LAWS = LawNames(
    (
        LawRow("501AC0000000001", "民法"),
        LawRow("502AC0000000002", "灯台管理法", law_type="Act", abbreviations="灯管法"),
        LawRow("503AC0000000003", "灯台管理法施行令", law_type="CabinetOrder"),
        LawRow("504AC0000000004", "灯台管理法施行規則", law_type="MinisterialOrdinance"),
        LawRow("505AC0000000005", "帆船訴訟法", law_type="Act", abbreviations="帆訴法"),
        LawRow("506AC0000000006", "帆船訴訟規則"),
        LawRow("507AC0000000007", "刑法"),
        LawRow("508AC0000000008", "日本国憲法"),
        LawRow("509AC0000000009", "会社法", law_type="Act"),
    )
)


@each(
    ("typed", "meant"),
    [
        ("民709", "民法第709条"),
        ("民 709", "民法第709条"),
        ("民　７０９", "民法第709条"),
        ("民　法　第　７０９　条", "民法第７０９条"),
        ("民 法 二十七条の二 一項", "民法二十七条の二 一項"),
        ("民法27条の2 1項", "民法27条の2 1項"),
        ("憲９", "憲法第9条"),
        ("灯管27の2①一", "灯管法第27条の2第1項第1号"),
        ("灯管27の2①一イ(1)", "灯管法第27条の2第1項第1号イ(1)"),
        ("灯管二七の二①一", "灯管法第27条の2第1項第1号"),
        ("灯管令6", "灯台管理法施行令第6条"),
        ("灯管規6", "灯台管理法施行規則第6条"),
        ("灯管則6", "灯台管理法施行規則第6条"),
        ("灯管施規6", "灯台管理法施行規則第6条"),
        ("帆訴規15", "帆船訴訟規則第15条"),
        ("会社356①二", "会社法第356条第1項第2号"),
        ("会社356Ⅰ②", "会社法第356条第1項第2号"),
        ("会社356II②", "会社法第356条第2項第2号"),
        ("会社356条1項②号", "会社法第356条第1項第2号"),
        ("会社2三の二", "会社法第2条第3号の2"),
        ("会社2③2", "会社法第2条第3項第2号"),
        ("会社356①②", "会社法第356条第1項、第2項"),
        ("民709から同724、同725①", "民法第709条から第724条まで、第725条第1項"),
        ("民法七百九条から同七百二十四条", "民法第709条から第724条まで"),
        ("民法七百九", "民法第709条"),
        ("民法七〇九①", "民法第709条第1項"),
        ("民法709〜724条", "民法第709条から第724条まで"),
        ("民法709-724", "民法第709条から第724条まで"),
        ("民法709から724条まで", "民法第709条から第724条まで"),
        ("民709ないし724", "民法第709条から第724条まで"),
        ("民3①〜③", "民法第3条第1項から第3項まで"),
        ("民3①一イ〜ハ", "民法第3条第1項第1号イからハまで"),
        ("民法3条1〜3項", "民法第3条第1項から第3項まで"),
        ("民法27-2", "民法第27条の2"),
        ("民27-2①", "民法第27条の2第1項"),
        ("民27-36①", "民法第27条の36第1項"),
        ("民法709・710条", "民法第709条・第710条"),
        ("民法709,710", "民法第709条、第710条"),
        ("民709 710 715①", "民法第709条、第710条、第715条第1項"),
        ("民709、刑199", "民法第709条、刑法第199条"),
        ("会社356①二・三、423", "会社法第356条第1項第2号・第3号、第423条"),
        ("会社2条3、5号", "会社法第2条第3号、第5号"),
        ("民94②但書", "民法第94条第2項但書"),
        ("民94条の2項①", "民法第94条第2項第1号"),
        ("民法附則3", "民法附則第3条"),
        ("憲前文", "憲法前文"),
        ("灯管別表1", "灯管法別表第一"),
        ("灯管別表2の3", "灯管法別表第二の三"),
        ("民法（明治29年法律第89号）709", "民法第709条"),
        ("海底法3", "海底法第3条"),
        ("民709の損害", "民法第709条の損害"),
        ("民709以下", "民法第709条以下"),
        ("民709ff", "民法第709条ff"),
        ("民94②類推", "民法第94条第2項類推"),
        # What statutes would write themselves, and what is no citation, stays as it is.
        ("民法第七百九条第一項", "民法第七百九条第一項"),
        ("民法709条及び710条", "民法709条及び710条"),
        ("民", "民"),
        ("民3つ", "民3つ"),
        ("①①①", "①①①"),
        ("民法①", "民法①"),
        ("灯管法3条2", "灯管法3条2"),
        ("", ""),
    ],
)
def test_it_is_written_out(typed: str, meant: str) -> None:
    assert read_typed(typed, LAWS).text == meant


@each(
    ("question", "read"),
    [
        ("刑199条の法定刑は", "刑法第199条の法定刑は"),
        ("民709の要件は何か。", "民法第709条の要件は何か。"),
        ("民709と刑199の違いは", "民法第709条と刑法第199条の違いは"),
        ("会社356条①二とは", "会社法第356条第1項第2号とは"),
        ("27条の2①一は", "第27条の2第1項第1号は"),
        ("同法27条①の趣旨", "同法第27条第1項の趣旨"),
        ("709〜724条を示して", "第709条から第724条までを示して"),
        # What leaves out characters of the title is no word; what does not can be one.
        ("帆訴3は", "帆訴法第3条は"),
        ("会社3は", "会社3は"),
        ("灯台管理3は", "灯台管理3は"),
        ("灯台管理3の2は", "灯台管理法第3条の2は"),
        ("民 709", "民法第709条"),
        ("民 709の要件は", "民 709の要件は"),
        ("民が3人、市民3人、民3人", "民が3人、市民3人、民3人"),
        ("会社1と会社2の合併は", "会社1と会社2の合併は"),
        ("会社3つ、会社5％、会社2.5倍は", "会社3つ、会社5％、会社2.5倍は"),
        ("第3回①、問3①、表1①の説明", "第3回①、問3①、表1①の説明"),
        ("民法第1条の3、第1条の４及び第1条の5は", "民法第1条の3、第1条の４及び第1条の5は"),
        ("法律とは何か", "法律とは何か"),
    ],
)
def test_in_a_question_only_what_is_no_other_number(question: str, read: str) -> None:
    assert written_out(question, LAWS) == read
    assert written_out(read, LAWS) == read


def test_the_order_of_a_law_that_is_not_at_hand_is_named_all_the_same() -> None:
    assert read_typed("金商令6", LAWS).text == "金融商品取引法施行令第6条"


def test_headings() -> None:
    assert read_headings("第三編第五章") == (Heading("編", "3"), Heading("章", "5"))
    assert read_headings(" ２章の三 第１節") == (Heading("章", "2_3"), Heading("節", "1"))
    assert not read_headings("第三編第五条")
    assert not read_headings("")


_NUMBERS = st.lists(st.integers(1, 999), min_size=1, max_size=3).map(
    lambda parts: "_".join(map(str, parts))
)
_PLACES = st.builds(
    lambda article, paragraph, item, letter: Locator(
        article=article,
        paragraph=paragraph,
        item=item if paragraph else "",
        subitem=letter if paragraph and item else "",
    ),
    _NUMBERS,
    st.integers(0, 20).map(lambda number: str(number or "")),
    st.one_of(st.just(""), _NUMBERS),
    st.one_of(st.just(""), st.integers(1, len(IROHA)).map(str)),
)


def _short(place: Locator, spell: str) -> str:
    """27の2①一イ, its article in digits, in positional or in counting kanji."""
    digits = str.maketrans("0123456789", "〇一二三四五六七八九" if spell == "〇" else "0123456789")
    article = "の".join(
        to_kanji(int(part)) if spell == "十" else part.translate(digits)
        for part in place.article.split("_")
    )
    paragraph = chr(0x245F + int(place.paragraph)) if place.paragraph else ""
    item = "の".join(to_kanji(int(part)) for part in place.item.split("_") if part)
    return article + paragraph + item + (IROHA[int(place.subitem) - 1] if place.subitem else "")


@given(_PLACES, st.sampled_from(["", " ", "　"]), st.sampled_from(["1", "〇", "十"]))
@example(Locator(article="3_2"), "", "〇")
def test_what_is_written_shortly_is_read_back(place: Locator, blank: str, spell: str) -> None:
    meant = cite("灯管法", place, arabic=True)
    typed = _short(place, spell)
    assert read_typed(f"灯管{blank}{typed}", LAWS).text == meant
    wide = typed.translate({code: code + 0xFEE0 for code in range(0x30, 0x3A)})
    assert read_typed(f"灯管{blank}{wide}", LAWS).text == meant
    if place.paragraph:
        assert written_out(f"なぜ灯管{typed}なのか", LAWS) == f"なぜ{meant}なのか"


@given(_PLACES, _PLACES)
def test_two_are_read_back(one: Locator, other: Locator) -> None:
    typed = f"灯管{_short(one, '1')}、民{_short(other, '1')}"
    meant = cite("灯管法", one, arabic=True) + "、" + cite("民法", other, arabic=True)
    assert read_typed(typed, LAWS).text == meant


@each("typed", ["灯管法§7", "灯管法 § 7", "灯管法§§7", "灯管§７"])
def test_a_section_sign_is_read_as_dai(typed: str) -> None:
    assert read_typed(typed, LAWS).text == "灯管法第7条"
    assert written_out(f"{typed}は何か", LAWS) == "灯管法第7条は何か"


_NONSENSE = st.text(
    "民刑法令規則第条項号の①②ⅠIVイロ(（)）〜-、・と及び 　から別表附則一十百〇12３x。", max_size=60
)


@given(_NONSENSE)
def test_nonsense_is_read_to_the_end_once(text: str) -> None:
    written = read_typed(text, LAWS).text
    assert read_typed(written, LAWS).text == read_typed(written, LAWS).text
    resolved = parse_target(text, LAWS, Provisions())
    assert all(one.problem or one.candidates for one in resolved)
    CitationResolver(LAWS, Provisions()).resolve(written_out(text, LAWS))


@each(
    "piece",
    ["9", "①", "民709、", "1・", "第十百条", "民", "〜", "1〜", "の2", "イ", "第1編", "民1"],
)
def test_long_nonsense_takes_linear_time(piece: str) -> None:
    def read(size: int) -> None:
        text = piece * (size // len(piece))
        written_out(text, LAWS)
        read_typed(text[:2000], LAWS)
        read_headings(text)
        parse_target(text, LAWS, Provisions())

    assert_linear(read, 800)


@each(
    ("typed", "kind"),
    [
        ("灯管法5〜3条", FactKind.RANGE_BACKWARDS),
        ("灯管法5-3", FactKind.RANGE_BACKWARDS),
        ("灯管法3条〜", FactKind.NUMBER_UNREAD),
        ("灯管法附則（平成元年法律第一号）1条", FactKind.NO_SUCH_PROVISION),
        ("灯管法3③〜①", FactKind.RANGE_BACKWARDS),
        ("灯管法3条の2-1", FactKind.RANGE_BACKWARDS),
        ("灯管法99", FactKind.NO_SUCH_PROVISION),
        ("灯管法99999", FactKind.NO_SUCH_PROVISION),
        ("海底法3", FactKind.CITED_LAW_LACKING),
    ],
)
def test_why_it_leads_nowhere(
    names: LawNames, provisions: Provisions, typed: str, kind: FactKind
) -> None:
    (problem,) = {one.problem.kind for one in parse_target(typed, names, provisions) if one.problem}
    assert problem is kind


@pytest.mark.parametrize(
    "typed",
    [
        "灯管法附則（令和三年法律第九号）第1条",
        "灯管附則（令和３年法律第９号）1",
        "灯台管理法 附則（令和3年）第一条",
    ],
)
def test_the_supplement_of_an_amendment(
    names: LawNames, provisions: Provisions, typed: str
) -> None:
    (found,) = parse_target(typed, names, provisions)
    assert [target.locator.path for target in found.candidates] == ["suppl2/1"]


def test_a_branch_that_exists_is_no_range(names: LawNames, provisions: Provisions) -> None:
    (found,) = parse_target("灯管3-2", names, provisions)
    assert [target.locator.path for target in found.candidates] == ["3_2"]
