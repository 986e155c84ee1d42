"""Checks of PDF files: quotations across page ends, spread letters."""

from collections.abc import Callable
from pathlib import Path

import pytest
from printed_pages import PrintedPages

import localrag
from localrag.check import CheckReport, Verdict

from ...rows import each

QUOTED = (
    "渡し舟法第四条第一項は、「渡し舟事業を営もうとする者は、渡し場の所在",
    "地を管轄する都道府県知事の登録を受けなければならない。」と定める。",
)
BODY = (
    "貸主は、借主に対し、次の事項を説明する義務を負うものとし、その方法は書",
    "面によらなければならない。",
)
LEADING = 17


@pytest.fixture
def check_pages(corpus: localrag.Corpus, tmp_path: Path) -> Callable[[PrintedPages], CheckReport]:
    def checking(pages: PrintedPages) -> CheckReport:
        path = tmp_path / "a.pdf"
        path.write_bytes(pages.to_bytes())
        return corpus.check(path)

    return checking


def two_pages(*, foot: str = "", down: float = 0, head: str = "", words: str = "") -> PrintedPages:
    """A quotation across a page end, with a footer at this distance and a header on page 2."""
    pages = PrintedPages()
    pages.page()
    y = 760.0
    for line in (*BODY, *BODY, QUOTED[0]):
        pages.text(60, y, line)
        y -= LEADING
    pages.text(60, y + LEADING - down, foot)
    pages.page()
    pages.text(60, 800, head)
    for at, line in enumerate((words or QUOTED[1], *BODY)):
        pages.text(60, 740 - at * LEADING, line)
    return pages


def of_quotation(report: CheckReport) -> list[tuple[Verdict, str]]:
    return [
        (one.verdict, one.problem.kind.code if one.problem else "")
        for one in report.findings
        if one.part.value == "quotation"
    ]


@each(
    ("foot", "down", "head"),
    [
        ("本書は写しである。", 600, ""),
        ("本書は写しである", 34, ""),
        ("※　本書は写しである。", LEADING, ""),
        ("注１　判例は多い。", LEADING, ""),
        ("2026年11月28日作成", 400, ""),
        ("", 0, "意見書（続き）"),
        ("控え", 600, "意見書（続き）"),
    ],
)
def test_a_quotation_runs_over_remarks_between_two_pages(foot, down, head, check_pages):
    report = check_pages(two_pages(foot=foot, down=down, head=head))
    assert of_quotation(report) == [(Verdict.HOLDS, "")]


def test_a_remark_that_cannot_be_told_from_the_text_is_no_wrong_quotation(check_pages):
    report = check_pages(two_pages(foot="本書は写しである。", down=LEADING))
    assert of_quotation(report) == [(Verdict.UNCHECKED, "page-end-between")]


@pytest.mark.parametrize(
    ("foot", "words"),
    [
        ("", QUOTED[1].replace("都道府県知事の登録", "市町村長の許可")),
        ("本書は写しである。", QUOTED[1].replace("都道府県知事の登録", "市町村長の許可")),
    ],
)
def test_other_words_than_those_at_the_page_end_are_wrong(foot, words, check_pages):
    report = check_pages(two_pages(foot=foot, down=LEADING, words=words))
    assert [verdict for verdict, _ in of_quotation(report)] == [Verdict.FAILS]


@pytest.mark.parametrize("gap", [10, 20])
def test_a_citation_with_spread_letters_is_checked(gap, check_pages):
    pages = PrintedPages()
    pages.page()
    pages.text(60, 760, "渡し舟法第九百条による。", stretch=gap)
    (finding,) = check_pages(pages).findings
    assert (finding.said, finding.verdict) == ("渡し舟法第九百条", Verdict.FAILS)
