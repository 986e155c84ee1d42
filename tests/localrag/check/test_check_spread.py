"""Letters spread by blanks are one text; separate words stay separate."""

from ...growth import assert_linear
from ...rows import each
from .conftest import Check, of_part, wrong

BLANKS = (" ", "　", "  ", "\u00a0", "\u2009")


def spread(text: str, blank: str = " ") -> str:
    return blank.join(text)


def cited(check: Check, text: str) -> list[tuple[str, str, str]]:
    """The citations of a text: words in place, verdict, provision."""
    return [
        (text[one.place.start : one.place.end], one.verdict.value, one.provision)
        for one in of_part(check(text), "citation")
    ]


@each("blank", BLANKS)
@each("written", ["渡し舟法第20条", "渡し舟法第４条", "渡し舟法第四条第三項"])
def test_a_spread_citation_is_read_whole(check: Check, written: str, blank: str) -> None:
    ((_, verdict, provision),) = cited(check, written)
    text = spread(written, blank)
    for before, behind in (
        ("", ""),
        ("", "を見よ。"),
        ("また、", "。"),
        ("（", "）"),
        ("また", "による。"),
    ):
        whole = f"{before}{text}{behind}"
        assert cited(check, whole) == [(text, verdict, provision)], whole


@each(
    "text",
    [
        "渡し舟法 第 4 条",
        "渡し舟法第 4 条",
        "渡 し 舟 法第4条",
        "渡 し 舟 法 4 条",
        "渡　し　舟　法　第4条",
        "渡 し 舟 法  第 4 条",
        "渡 し 舟 法　第 ４ 条",
        "根拠は渡 し 舟 法 第 4 条にある",
        "渡 し 舟 法 第\n4 条",
    ],
)
def test_a_citation_may_be_spread_in_part(check: Check, text: str) -> None:
    ((_, verdict, provision),) = cited(check, text)
    assert (verdict, provision) == ("holds", "渡し舟の安全及び活用に関する法律第4条")


def test_a_spread_quotation_holds(check: Check) -> None:
    said = "第一項の登録の有効期間は、五年とする。"
    text = spread(f"渡し舟法第4条第3項は「{said}」と定める。")
    (quotation,) = of_part(check(text), "quotation")
    assert quotation.verdict.value == "holds"
    assert quotation.said == spread(said)
    assert wrong(check(text.replace("五", "七"))) == [
        (spread(said).replace("五", "七"), "quoted-otherwise")
    ]


@each(
    ("text", "articles"),
    [
        ("渡し舟法 4条 5条", ["4", "5"]),
        ("渡し舟法 4 条 5 条", ["4", "5"]),
        ("渡 し 舟 法 4 条 5 条", ["4", "5"]),
        ("渡し舟法第4条 1 2 3", ["4"]),
        ("第1 4条の要件は渡し舟法による。", ["4"]),
        ("件数 1 2 3 4\n渡し舟法 第4条 5 6 7", ["4"]),
        ("A B C D Article 4 of the Act, I a m", []),
        ("1 2 3 4 5 6\n7 8 9 0 1 2", []),
        ("甲 乙 丙 丁", []),
    ],
)
def test_words_that_are_apart_stay_apart(check: Check, text: str, articles: list[str]) -> None:
    said = [words for words, _, _ in cited(check, text)]
    assert [words.strip("渡し舟法第条 ") for words in said if "条" in words] == articles


def test_spread_letters_take_time_in_proportion(check: Check) -> None:
    for unit in ("渡 し 舟 法 第 4 条 ", "1 2 3 ", "法 ", "第 1 ", "甲 乙, "):
        assert_linear(lambda n, unit=unit: check((unit * n)[:n]), 4_000)
