"""Answers for Excel and Word: made from the rows, again on request, never over other files."""

import csv
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from localrag import language
from localrag.answer.types import UNWATCHED, Answer, Citation, Status, Watch
from localrag.corpus.config import load
from localrag.errors import UsageError
from localrag.ops.batch import known, run
from localrag.search.types import Query

FORMULAS = ("=1+1", "+cmd", "-2+3", "@SUM(A1)", "＝1+1", "\tx")


def to(bench: Any, name: str) -> Path:
    bench.out = bench.out.with_name(name)
    return Path(bench.out)


def cells(path: Path) -> list[tuple[Any, ...]]:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(path)
    assert not any(cell.data_type == "f" for row in book.active for cell in row)
    return [tuple(cell.value for cell in row) for row in book.active]


def asked(bench: Any) -> None:
    bench.write(
        '{"id": "x", "question": "定員は？", "options": ["十人", "十二人"]}',
        '{"question": ""}',
        *(json.dumps({"question": f"{one} 何か"}) for one in FORMULAS),
    )


def test_a_workbook_of_answers(bench: Any, scripted: Any) -> None:
    asked(bench)
    path = to(bench, "answers.xlsx")
    bench.run(scripted())
    header, first, failed, *others = cells(path)
    assert header[:5] == ("Row", "Id", "Question", "Options", "Filters")
    assert first[:9] == (
        1, "x", "定員は？", "a: 十人\nb: 十二人", None, "supported", None, "定員は？", "[1] 頁"
    )  # fmt: skip
    assert failed[:6] == (2, None, None, None, None, "unreadable")
    assert "no question" in failed[-1]
    assert [row[2] for row in others] == [f"{one} 何か" for one in FORMULAS]


def test_quotations_come_before_what_a_model_wrote_in_vain(bench: Any, scripted: Any) -> None:
    class Wrong(scripted):  # type: ignore[misc]
        def answer(self, query: Query, watch: Watch = UNWATCHED) -> Answer:
            said = super().answer(query, watch)
            rule = Citation("page#2", "=定員は十二人", 0, 7, "頁 二", verified=True)
            return replace(said, status=Status.UNSUPPORTED, quotations=(rule,))

    bench.ask("定員は？")
    path = to(bench, "answers.xlsx")
    bench.run(Wrong())
    header, row = cells(path)
    assert row[header.index("Answer")].splitlines() == [
        "What the texts say, word for word; check whether it answers:",
        "頁 二: =定員は十二人",
        "",
        "Written by the model, not supported:",
        "定員は？",
    ]
    (kept,) = map(json.loads, path.with_suffix(".jsonl").read_text().splitlines())
    assert [one["quote"] for one in kept["quotations"]] == ["=定員は十二人"]


def test_csv_of_answers_holds_no_formula(bench: Any, scripted: Any) -> None:
    asked(bench)
    path = to(bench, "answers.csv")
    language.use("ja")
    try:
        bench.run(scripted())
    finally:
        language.use("en")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    assert header[2] == "質問"
    assert [row[2] for row in rows[2:]] == [f"'{one} 何か" for one in FORMULAS]


def test_what_the_filters_of_a_row_leave_is_told_in_words(bench: Any) -> None:
    where = ("種別=政令; 種別=法律", "kind=Act; ministry=国土交通省", "chapter=罰則", "")
    texts = ("渡し守の資格は何か", "渡し守の資格は何か", "ペンギンの鳴き声", "ペンギンの鳴き声")
    bench.questions = bench.questions.with_suffix(".csv")
    bench.write("質問,絞り込み", *map(",".join, zip(texts, where, strict=True)))
    path = to(bench, "answers.csv")
    run(bench.workspace, "main", load(bench.workspace), bench.questions, path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        found, nothing, little, everywhere = csv.DictReader(file)
    assert [one["絞り込み"] for one in (found, nothing, little, everywhere)] == list(where)
    assert found["Status"] == "quoted"
    assert nothing["Remarks"].splitlines() == [
        "the filters leave nothing of this corpus to answer from",
        "nothing in the corpus matches all of these: kind=Act, ministry=国土交通省",
        "something matches if you change one of these: kind=MinisterialOrdinance",
    ]
    assert little["Remarks"].startswith("nothing in the part of this corpus matched by the filters")
    assert everywhere["Remarks"] == "nothing in this corpus supports an answer"
    rows = path.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
    row, none, *_ = map(json.loads, rows)
    assert "nearest" not in none
    assert found["Also near"].splitlines() == [
        f"{one['label']} – {one['beginning']}" for one in row["nearest"]
    ]
    text = to(bench, "answers.md")
    run(bench.workspace, "main", load(bench.workspace), bench.questions, text)
    written = text.read_text(encoding="utf-8")
    assert "nothing in the corpus matches all of these: kind=Act" in written
    assert "### Also near in this corpus; they may not answer\n\n- " in written
    assert row["nearest"][0]["passage_id"] not in written


def test_the_table_keeps_the_columns_of_the_user(bench: Any) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    header = ["部署", None, "番号", "質問", "Remarks", "費用"]
    rows = [
        ["法務", "控え", "1", "渡し舟を運航してはならない水位の基準は何か。", "社内用" * 99, -5],
        ["総務", None, "2", "ペンギンの鳴き声", None, 0.5],
        [None, None, "3", None, "質問なし", None],
    ]
    book = openpyxl.Workbook()
    for row in (["質問票"], header, *rows):
        book.active.append(row)
    bench.questions = bench.questions.with_suffix(".xlsx")
    book.save(bench.questions)
    path = to(bench, "answers.xlsx")
    run(bench.workspace, "main", load(bench.workspace), bench.questions, path)
    names, *answered = cells(path)
    assert list(names[:6]) == header
    assert names[6:8] == ("Status", "Choice")
    assert names[-1] == "Remarks (localrag)", "beside one of the user"
    assert [list(row[:6]) for row in answered] == rows
    first, _none, failed = (dict(zip(names, row, strict=True)) for row in answered)
    assert "一・五メートル" in first["Answer"]
    assert first["Quotations"] is None, "no text is in two columns"
    assert first["Remarks (localrag)"].startswith("[1][2] "), "one remark for both"
    assert not any("599AC" in str(cell) for row in answered for cell in row)
    assert failed["Status"] == "unreadable"
    text = to(bench, "answers.csv")
    run(bench.workspace, "main", load(bench.workspace), bench.questions, text)
    with text.open(encoding="utf-8-sig", newline="") as file:
        assert [row[:6] for row in csv.reader(file)][1:] == [
            ["" if cell is None else str(cell) for cell in row] for row in rows
        ]


def test_options_are_called_as_in_the_question(bench: Any) -> None:
    bench.questions = bench.questions.with_suffix(".csv")
    bench.write(
        "質問,選択肢ア,選択肢イ",
        "渡し守の資格として正しいものはどれか。,三年以上操縦に従事した経験,十年以上操縦に従事した経験",
    )
    config = load(bench.workspace, {"method.name": "statute-lexical"})
    for name in ("answers.csv", "answers.md"):
        run(bench.workspace, "main", config, bench.questions, to(bench, name))
    with bench.out.with_name("answers.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    chosen = json.loads(bench.out.with_name("answers.jsonl").read_text(encoding="utf-8"))
    assert chosen["labels"] == ["ア", "イ"]
    assert chosen["label"] in ("a", "b")
    assert row["Choice"] == chosen["choice"] == {"a": "ア", "b": "イ"}[chosen["label"]]
    assert row["選択肢ア"].startswith("三年以上")
    text = bench.out.read_text(encoding="utf-8")
    assert "- イ: 十年以上" in text
    assert f"**{row['Choice']}** " in text


def test_texts_of_answers(bench: Any, scripted: Any) -> None:
    asked(bench)
    markdown = to(bench, "answers.md")
    bench.run(scripted())
    text = markdown.read_text(encoding="utf-8")
    assert "## Question 1 (x)\n\n> 定員は？\n\n- a: 十人\n- b: 十二人\n\n**supported**: " in text
    assert "1. 頁\n\n   > 定員は？\n\n   `page#1`\n" in text
    assert "## Question 2\n\n**Failed.**\n\nThe row has no question." in text
    docx = pytest.importorskip("docx")
    word = to(bench, "answers.docx")
    bench.run(answers := scripted())
    assert answers.opened == 0, "the rows are there already"
    lines = [paragraph.text for paragraph in docx.Document(str(word)).paragraphs]
    assert lines[:3] == ["Answers", "Question 1 (x)", "定員は？"]
    assert "1.\t頁" in lines


def test_a_document_is_made_of_the_rows_whenever_it_is_asked_for(bench: Any, scripted: Any) -> None:
    bench.ask("a?", "b?")
    path = to(bench, "answers.csv")

    def behave(text: str) -> None:
        if text == "b?":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.run(scripted(behave=behave))
    assert not path.exists()
    (noted,) = known(bench.workspace)
    assert (noted.out.name, noted.document) == ("answers.jsonl", path)
    bench.run(answers := scripted())
    assert answers.asked == ["b?"]
    before = path.read_bytes()
    path.unlink()
    bench.run(answers := scripted())
    assert answers.opened == 0
    assert path.read_bytes() == before


def test_no_work_of_others_is_lost(bench: Any, scripted: Any) -> None:
    bench.ask("a?")
    path = to(bench, "answers.csv")
    path.write_text("precious")
    with pytest.raises(UsageError, match="no batch is known to have written it"):
        bench.run(scripted())
    assert path.read_text() == "precious"
    path.unlink()
    bench.run(scripted())
    path.write_text(path.read_text("utf-8-sig") + "my own notes")
    with pytest.raises(UsageError, match="was changed since"):
        bench.run(scripted(), restart=True)
    assert path.read_text().endswith("my own notes")
    bench.questions = path
    with pytest.raises(UsageError, match="overwrite the questions"):
        bench.run(scripted())


def test_without_the_package_nothing_is_begun(
    bench: Any, scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localrag.page.files.find_spec", lambda name: None)
    bench.ask("a?")
    for name in ("answers.xlsx", "answers.docx"):
        to(bench, name)
        with pytest.raises(UsageError, match=r"needs (openpyxl|python-docx)") as caught:
            bench.run(answers := scripted())
        assert "localrag[office]" in caught.value.cure
        assert answers.opened == 0


def test_a_long_answer_is_cut_to_what_a_cell_holds(bench: Any, scripted: Any) -> None:
    from localrag.page.sheets import Column, write_xlsx

    path = to(bench, "long.xlsx")
    with path.open("wb") as file:
        write_xlsx("x", [Column("a")], [("あ" * 40_000,), ("\x00\x1b",)], file)
    _, (cut,), (controls,) = cells(path)
    assert len(cut) == 32_767
    assert cut.endswith("(cut here: a cell holds no more)")
    assert controls == "␀␛"


@pytest.mark.skipif(
    shutil.which("soffice") is None, reason="LibreOffice (soffice) is not installed"
)
def test_every_document_opens_in_libreoffice(bench: Any, scripted: Any, tmp_path: Path) -> None:
    asked(bench)
    names = ("one.xlsx", "two.csv", "six.docx")
    for name in names:
        to(bench, name)
        bench.run(scripted())
    subprocess.run(
        ["soffice", f"-env:UserInstallation=file://{tmp_path}/profile", "--headless",
         "--convert-to", "pdf", "--outdir", str(tmp_path / "pdf"),
         *(str(bench.out.with_name(name)) for name in names)],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    for name in names:
        assert (tmp_path / "pdf" / f"{name[:3]}.pdf").read_bytes().startswith(b"%PDF"), name
