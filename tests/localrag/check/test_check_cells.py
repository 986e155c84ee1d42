"""Tables: a statement stays in its cell; a row may name its provision in another cell."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import docx
import openpyxl

import localrag
from localrag.check import CheckReport

from ...rows import each
from .conftest import Check, of_part, wrong

REGISTER = (
    "渡し舟事業を営もうとする者は、渡し場の所在地を管轄する"
    "都道府県知事の登録を受けなければならない。"
)
TERM = "第一項の登録の有効期間は、五年とする。"
PROVISION = "渡し舟の安全及び活用に関する法律第4条第3項"
HEADS = ("論点", "根拠", "内容", "備考")


Writer = Callable[[list[tuple[str, ...]], Path], Path]


def word(rows: list[tuple[str, ...]], folder: Path) -> Path:
    document = docx.Document()
    table = document.add_table(rows=len(rows), cols=len(rows[0]))
    for row, texts in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    path = folder / "table.docx"
    document.save(str(path))
    return path


def excel(rows: list[tuple[str, ...]], folder: Path) -> Path:
    book = openpyxl.Workbook()
    for row in [HEADS, *rows]:
        book.active.append(row)
    path = folder / "table.xlsx"
    book.save(path)
    return path


def tabs(rows: list[tuple[str, ...]], folder: Path) -> Path:
    path = folder / "table.txt"
    path.write_text("\n".join(map("\t".join, rows)), "utf-8")
    return path


def markdown(rows: list[tuple[str, ...]], folder: Path) -> Path:
    path = folder / "table.md"
    lines = [HEADS, ("---",) * len(HEADS), *rows]
    path.write_text("\n".join(f"| {' | '.join(row)} |" for row in lines), "utf-8")
    return path


WRITERS = (word, excel, tabs, markdown)


def found(report: CheckReport) -> list[tuple[str, str, str]]:
    """Part, verdict and provision of all findings but citations."""
    return [
        (one.part.value, one.verdict.value, one.provision)
        for one in report.findings
        if one.part.value != "citation"
    ]


@each("written", WRITERS)
def test_a_right_quotation_holds_in_its_cell(
    corpus: localrag.Corpus, tmp_path: Path, written: Writer
) -> None:
    holds = ("quotation", "holds", PROVISION)
    for row in (
        ("1", "渡し舟法4条3項", f"「{TERM}」", "二十日以内に回答する"),
        ("2", f"「{TERM}」", "渡し舟法4条3項", "二十日以内に回答する"),
        ("3", f"「{TERM}」", "（渡し舟法第4条第3項）", "十年"),
        ("4", "「閉じない", "渡し舟法4条3項", f"「{TERM}」"),
    ):
        assert found(corpus.check(written([row], tmp_path))) == [holds], row


@each("written", WRITERS)
def test_a_provision_without_marks_is_compared_in_its_cell(
    corpus: localrag.Corpus, tmp_path: Path, written: Writer
) -> None:
    named, wrong_term = "渡し舟法4条3項", TERM.replace("五年", "七年")
    for words, verdict in ((TERM, "holds"), (wrong_term, "does-not-hold")):
        for row in (
            ("1", named, words, "二十日以内に回答する"),
            ("2", words, named, "二十日以内に回答する"),
        ):
            report = corpus.check(written([row], tmp_path))
            assert found(report) == [("statement", verdict, PROVISION)], row
            (statement,) = of_part(report, "statement")
            assert statement.said == words


def test_a_figure_of_another_cell_is_none_of_the_sentence(check: Check) -> None:
    said = "登録の有効期間は五年とする（渡し舟法4条3項）"
    (alone,) = of_part(check(said), "statement")
    for before, behind in product(("", "1\t", "十年\t"), ("", "\t十年で足りる", "\t二週間以内")):
        (statement,) = of_part(check(f"{before}{said}{behind}"), "statement")
        assert (statement.said, statement.verdict) == (said, alone.verdict)
    # One cell contains both.
    assert wrong(check(f"渡し舟法4条3項によれば、{TERM[:-1]}のではなく十年とする。")) == []


def test_cells_between_two_that_name_provisions_are_of_neither(check: Check) -> None:
    report = check(f"渡し舟法4条1項\t{TERM}\t渡し舟法4条3項")
    assert of_part(report, "statement") == []


def test_a_quotation_that_goes_on_in_the_next_cell_is_one(
    corpus: localrag.Corpus, tmp_path: Path
) -> None:
    head, tail = TERM.split("、")
    row = ("1", "渡し舟法4条3項", f"「{head}、", f"{tail}」")
    for written in (word, excel):
        report = corpus.check(written([row], tmp_path))
        assert found(report) == [("quotation", "holds", PROVISION)]


def test_the_words_of_a_cell_are_those_of_the_finding(check: Check) -> None:
    text = f"渡し舟法第4条第1項\t「{REGISTER}」\t要確認"
    (finding,) = of_part(check(text), "quotation")
    place = finding.place
    assert text[place.start : place.end] == REGISTER
