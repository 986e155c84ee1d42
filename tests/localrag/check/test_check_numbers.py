"""Ranges and lists at every level, case numbers, places, and own articles."""

import re
from itertools import product

import pytest

from localrag.check import Verdict
from localrag.doors.as_json.checks import check_as_json

from ...growth import assert_linear
from ...rows import each
from .conftest import Check, of_part, wrong

TO = ("から{}まで", "乃至{}", "ないし{}", "～{}", "〜{}", "－{}", "–{}", "-{}", "より{}まで")
AND = ("及び{}", "および{}", "又は{}", "、{}", "・{}", "ならびに{}", "もしくは{}")
LEVELS = {
    "article": ("渡し舟法第4条", "第{}条", "7", "90"),
    "branch": ("渡し舟法第6条", "第6条の{}", "2", "9"),
    "paragraph": ("渡し舟法第4条第1項", "第{}項", "3", "9"),
    "item": ("渡し舟法第14条第1項第1号", "第{}号", "3", "9"),
}
CASES = (
    "令和3年（ワ）第12345号",
    "平成6年(オ)第1379号",
    "令和3年（わ）第77号",
    "令和2年（行ヒ）第68号、同第69号",
    "令和元年（家）第3号及び第4号",
    "昭57(行ツ)46",
    "平6(オ)1379",
    "民集52巻3号853頁",
    "判時1234号5頁",
    "判タ第1234号",
    "家月52巻3号",
    "平成十五年法律第五十七号及び第五十八号",
    "告示第3号、第4号",
    "告示（第3号）",
    "基発0331第3号",
    "議案第5号ないし第7号",
    "第5号及び第6号議案",
    "民二第1234号",
)
FORMS = (
    "渡し舟法4～6条",
    "渡し舟法第四条",
    "渡し舟法第４条第１項",
    "渡し舟法4①",
    "渡し舟法４条１項〜３項",
    "渡し舟法第14条第1項第1号乃至第3号",
)
BROKEN = ("渡し舟法\n第4条", "渡し舟法第\r\n4条", "渡し舟法\r第4条")
BEFORE = (
    *("", "あ。\n\n\n", "\ufeff", "\r\n\r\n", "\t", "　　", "# 見出し\n\n", "(1) ", "・", "行。\r"),
    *(
        "1　争点\n",
        "本文の行が続いて\n次に",
        "表題\n====\n\n",
        "あ\u200bい。",
        "第1　総論\r\n\r\n　",
    ),
)
CONTRACT = """渡し舟の運航に関する契約書
甲と乙は、渡し舟法を守り、次のとおり契約する。

第{a}条（目的）
1　乙は、第{b}条の運航をする。
2　前条による。
第{b}条（運航）
1　運航は第{c}条第2項による。第{c}条第4項による。同条第3項による。
2　渡し舟法第4条第3項、本契約第7条、この契約の第1条、別紙第9条による。
第{c}条（雑則）
1　前条第2項による。
2　次条による。
"""


def citations(check: Check, text: str) -> list[tuple[str, str]]:
    """The citations of a text and their findings."""
    return [(one.said, one.verdict.value) for one in of_part(check(text), "citation")]


@each("level", LEVELS)
@each("join", [*TO, *AND])
def test_both_ends_of_a_range_and_each_of_a_list_are_checked(check, level, join) -> None:
    head, form, there, lacking = LEVELS[level]
    for without in ("", "第"):
        texts = [
            f"{head}{join.format(form.format(end))}による。".replace(without or "\0", "")
            for end in (there, lacking)
        ]
        verdicts = [[verdict for _, verdict in citations(check, text)] for text in texts]
        assert set(verdicts[0]) == {"holds"}, texts
        assert verdicts[1][-1] == "does-not-hold", texts


def test_a_range_ends_in_the_same_paragraph_and_a_backward_one_is_told(check: Check) -> None:
    assert citations(check, "渡し舟法第14条第1項第1号から同項第9号まで。") == [
        ("渡し舟法第14条第1項第1号から同項第9号まで", "does-not-hold")
    ]
    assert citations(check, "渡し舟法第4条第1項から同条第3項まで。") == [
        ("渡し舟法第4条第1項から同条第3項まで", "holds")
    ]
    (found,) = of_part(check("渡し舟法第9条から第7条まで。"), "citation")
    assert found.problem
    assert (found.verdict.value, found.problem.kind.code) == ("not-checked", "range-backwards")


@each("number", CASES)
def test_numbers_of_cases_laws_and_notices_are_no_citations(check: Check, number: str) -> None:
    for frame in (
        "渡し舟法第14条第1項第1号に基づく請求（{}）。",
        "渡し舟法第14条第1項第1号。{}を見よ。",
        "渡し舟法第14条第1項第1号及び{}。",
        "{}は、渡し舟法第14条第1項第1号による。",
    ):
        text = frame.format(number)
        assert citations(check, text) == [("渡し舟法第14条第1項第1号", "holds")], text


@each("case", ["令和3年（ワ）第12345号", "東京地裁令和3年（ワ）第12345号"])
@each("text", ["渡し舟法第四条（{}）", "渡し舟法第四条に基づく請求、{}。"])
def test_the_number_of_a_case_is_no_statement(check: Check, text: str, case: str) -> None:
    assert not of_part(check(text.format(case)), "statement")


def test_a_section_sign_is_read_as_an_article(check: Check) -> None:
    holds, fails = of_part(check("渡し舟法§4①と渡し舟法§9000による。"), "citation")
    assert (holds.said, holds.verdict) == ("渡し舟法§4①", Verdict.HOLDS)
    assert (fails.said, fails.verdict) == ("渡し舟法§9000", Verdict.FAILS)


def test_every_citation_stands_where_it_is_told_to(check: Check) -> None:
    forms = [*product(BEFORE, FORMS), *product(("", "あ。\n\n\n", "\t", "　　"), BROKEN)]
    for (before, form), after in product(forms, ("", "による。\r\n")):
        text = f"{before}{form}{after}"
        (found,) = of_part(check(text), "citation")
        place = found.place
        assert text[place.start : place.end] == form, repr(text)
        assert place.line == len(re.findall("\r\n|\r|\n", text[: place.start])) + 1, repr(text)


def test_an_english_citation_begins_behind_kana(check: Check) -> None:
    text = "次に\nArticles 4 to 90 of 渡し舟法による。"
    (found,) = of_part(check(text), "citation")
    assert text[found.place.start : found.place.end] == "Articles 4 to 90"
    assert (found.place.line, found.verdict.value) == (2, "does-not-hold")


@pytest.mark.parametrize("numbers", ["123", "一二三", "１２３"])
def test_articles_of_the_text_itself_are_looked_up_in_it(check: Check, numbers: str) -> None:
    a, b, c = numbers
    told = citations(check, CONTRACT.format(a=a, b=b, c=c))
    assert told == [
        (f"第{b}条", "holds"),
        ("前条", "does-not-hold"),
        (f"第{c}条第2項", "holds"),
        (f"第{c}条第4項", "does-not-hold"),
        ("同条第3項", "does-not-hold"),
        ("渡し舟法第4条第3項", "holds"),
        ("第7条", "does-not-hold"),
        ("第1条", "holds"),
        ("第9条", "not-checked"),
        ("前条第2項", "holds"),
        ("次条", "does-not-hold"),
    ]


def test_what_may_be_of_a_law_of_its_line_is_not_called_lacking(check: Check) -> None:
    text = CONTRACT.format(a=1, b=2, c=3) + "3　渡し舟法を守り、第20条による。\n"
    assert citations(check, text)[-1] == ("第20条", "not-checked")
    assert wrong(check("契約のメモ\n\n本契約第5条による。")) == []


def test_what_is_listed_of_a_text_is_bounded_and_the_worst_comes_first(check: Check) -> None:
    report = check("渡し舟法第四条、" * 40 + "渡し舟法第九十条")
    listed = check_as_json(report, most=10)
    assert (len(listed["findings"]), listed["left_out"]) == (10, 31)
    assert listed["counts"]["holds"] == 40
    assert listed["findings"][-1]["verdict"] == "does-not-hold"
    assert check_as_json(report)["left_out"] == 0


SHAPES = (
    *("「渡し舟法」第一条「第二条」", "渡し舟法第一条「『（", "渡し舟法第四条、", "同条、"),
    *("渡し舟法第一条から第三条まで及び", "渡し舟法（以下「甲」という。）甲第一条"),
    *("（ワ）第1号及び", "Articles 5 to 7 of 渡し舟法, ", "第一条（目的）\n", "旧渡し舟法"),
    *("第一条の二の", "渡\nし\n舟\n法\n第\n一\n条\n"),
)


@each("shape", SHAPES)
def test_hostile_texts_take_linear_time(check: Check, shape: str) -> None:
    assert_linear(lambda size: check((shape * size)[:size]), 1_500)


def test_a_bracket_that_is_not_closed_takes_linear_time(check: Check) -> None:
    assert_linear(lambda size: check(f"渡し舟法第一条({'あ' * size}"), 1_500)


@pytest.mark.parametrize("written", ["第十〇四条", "第4〇〇九九十条", "第百〇百条"])
def test_a_number_that_cannot_be_read_is_named(check: Check, written: str) -> None:
    (finding,) = of_part(check(f"渡し舟法{written}第1項による。"), "citation")
    assert finding.said == written
    assert finding.verdict is Verdict.UNCHECKED
    assert finding.problem is not None
    assert finding.problem.kind.code == "number-malformed"


@each("number", ["百〇九", "7〇九", "漆百玖", "壱千弐百", "千〇五十一", "佰零玖"])
def test_numbers_in_every_spelling_are_checked(check: Check, number: str) -> None:
    (finding,) = of_part(check(f"渡し舟法第{number}条による。"), "citation")
    assert finding.verdict is Verdict.FAILS


@pytest.mark.parametrize("number", ["肆", "〇四", "0〇4"])
def test_an_article_in_a_rare_spelling_is_found(check: Check, number: str) -> None:
    (finding,) = of_part(check(f"渡し舟法第{number}条による。"), "citation")
    assert finding.verdict is Verdict.HOLDS
