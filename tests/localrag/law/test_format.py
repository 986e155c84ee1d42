"""Provisions in words."""

from localrag.corpus.types import Locator
from localrag.law.citations import find_citations
from localrag.law.notation import cite

from ...rows import each


@each(
    ("path", "kanji", "arabic"),
    [
        ("27_36.1.2.1", "第二十七条の三十六第一項第二号イ", "第27条の36第1項第2号イ"),
        ("2.1.1_2.3.2.4", "第二条第一項第一号の二ハ(2)(iv)", "第2条第1項第1号の2ハ(2)(iv)"),
        ("55:63", "第五十五条から第六十三条まで", "第55条から第63条まで"),
        ("suppl3/2.1", "附則第二条第一項", "附則第2条第1項"),
        ("suppl1/.2", "附則第二項", "附則第2項"),
        ("appendix2/", "別表", "別表"),
        ("100_2_2", "第百条の二の二", "第100条の2の2"),
    ],
)
def test_both_styles(path: str, kanji: str, arabic: str) -> None:
    assert cite("灯台管理法", Locator.parse(path)) == f"灯台管理法{kanji}"
    assert cite("", Locator.parse(path), arabic=True) == arabic


def test_the_printed_label_of_a_division() -> None:
    assert cite("灯台管理法", Locator("appendix2"), division="別表第二") == "灯台管理法別表第二"


@each("path", ["27_36.1.2.1", "2.1.1_2.3.2.4", "1042.3", "24_2_2.1"])
@each("arabic", [False, True])
def test_what_is_written_reads_back(path: str, arabic: bool) -> None:
    (citation,) = find_citations(cite("", Locator.parse(path), arabic=arabic))
    assert citation.locator.path == path
