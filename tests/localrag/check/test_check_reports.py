"""Reports of a check, and the verb: texts are shown and never executed."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest
from lxml import html as lxml_html

import localrag
from localrag.errors import UsageError
from localrag.page.report import write_report

TEXT = (
    "# 渡し舟のメモ\n\n渡し舟法第4条第3項は「第一項の登録の有効期間は、十年とする」と定める。"
    "<script>alert(1)</script> *強調*\n渡し舟法第44条と本契約第5条。\n"
)


@pytest.fixture
def memo(tmp_path: Path) -> Path:
    path = tmp_path / "memo.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def comments(path: Path) -> list[tuple[str, str]]:
    """Each comment of a Word file: its text, and its first line."""
    document = docx.Document(str(path))
    found = []
    for comment in document.comments:
        mark = f'w:commentRangeStart w:id="{comment.comment_id}"'
        assert mark in document.element.xml
        found.append((str(comment.comment_id), comment.paragraphs[0].text))
    return found


def test_html_is_one_page_in_which_nothing_acts(
    corpus: localrag.Corpus, memo: Path, tmp_path: Path
) -> None:
    write_report(corpus.check(memo), tmp_path / "report.html")
    page = lxml_html.fromstring((tmp_path / "report.html").read_bytes())
    assert page.xpath("//script") == []
    assert page.xpath("//@src | //link") == []
    assert "<script>alert(1)</script>" in page.text_content()
    assert [one.text_content() for one in page.xpath("//del")] == ["十"]
    assert [one.text_content() for one in page.xpath("//ins")] == ["五"]
    anchors = {f"#{one}" for one in page.xpath("//mark/@id")}
    assert set(page.xpath("//li//a/@href")) <= anchors
    marked = "".join(page.xpath("//section")[0].itertext())
    assert marked == TEXT


def test_markdown_takes_every_text_literally(
    corpus: localrag.Corpus, memo: Path, tmp_path: Path
) -> None:
    write_report(corpus.check(memo), tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "**五**~~十~~" in text
    assert "<script>" not in text
    assert text.index("does not hold") < text.index("## not checked")


def test_comments_stand_in_a_copy_of_the_word_file(corpus: localrag.Corpus, tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("意見書", 1)
    paragraph = document.add_paragraph("前置き。")
    paragraph.add_run("渡し舟法第44条").bold = True
    paragraph.add_run("を見よ。")
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text = "根拠"
    table.cell(0, 1).text = "渡し舟法第55条"
    source = tmp_path / "opinion.docx"
    document.save(str(source))
    before = source.read_bytes()
    report = corpus.check(source)
    assert [finding.place.line for finding in report.findings] == [2, 3]
    write_report(report, tmp_path / "checked.docx", source)
    assert source.read_bytes() == before
    assert len(comments(tmp_path / "checked.docx")) == 3
    xml = zipfile.ZipFile(tmp_path / "checked.docx").read("word/document.xml").decode()
    start = xml.index('w:commentRangeStart w:id="1"')
    assert xml[start : xml.index('w:commentRangeEnd w:id="1"')].count("<w:t>") == 1
    assert "渡し舟法第44条" in xml[start : xml.index('w:commentRangeEnd w:id="1"')]


def test_comments_stand_at_a_copy_of_any_other_text(
    corpus: localrag.Corpus, memo: Path, tmp_path: Path
) -> None:
    write_report(corpus.check(memo), tmp_path / "report.docx", memo)
    printed = docx.Document(str(tmp_path / "report.docx")).paragraphs
    assert [one.text for one in printed][:3] == TEXT.split("\n")[:3]
    assert any("other words" in words for _, words in comments(tmp_path / "report.docx"))


def test_there_is_no_report_of_another_form(corpus: localrag.Corpus, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="xlsx"):
        write_report(corpus.check("渡し舟法第4条"), tmp_path / "report.xlsx")


def test_the_verb(cli: Callable[..., Any], sample: Path, memo: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    outcome = cli("check", str(memo), "--out", str(out))
    assert outcome.code == 3
    assert "line 3  quotation – does not hold: the provision has other words" in outcome.out
    assert "[-五-]{+十+}" in outcome.out
    assert "does not hold 2" in outcome.out
    assert out.exists()
    found = cli("check", "-", "--json", stdin="渡し舟法第4条第3項を見よ。").json
    assert (found["holds"], found["counts"]["holds"]) == (True, 1)
    assert found["findings"][0]["place"] == {
        "start": 0,
        "end": 10,
        "line": 1,
        "page": 0,
        "confidence": None,
    }
    assert cli("check", "渡し舟法第4条を見よ。", "--as-of", "2027-01-01").code == 0
    assert "渡し舟" in cli("check", "渡し舟法第4条を見よ。", "--all").out


def test_bad_requests(cli: Callable[..., Any], sample: Path, tmp_path: Path) -> None:
    assert cli("check", str(tmp_path / "missing.md")).code == 4
    assert cli("check", "渡し舟法第4条", "--out", str(tmp_path / "x.txt")).code == 2
    assert cli("check", "-", stdin="").code == 2
    assert cli("check", "渡し舟法第4条", "--as-of", "yesterday").code == 2
    unwritable = tmp_path / "no" / "folder" / "r.md"
    assert cli("check", "渡し舟法第4条", "--out", str(unwritable)).code == 7


def test_a_report_does_not_take_the_place_of_the_text(
    cli: Callable[..., Any], sample_home: Path, tmp_path: Path
) -> None:
    memo = tmp_path / "memo.md"
    memo.write_text("渡し舟法第4条による。", encoding="utf-8")
    link = tmp_path / "link.md"
    link.symlink_to(memo)
    for out in (memo, link):
        refused = cli("--home", str(sample_home), "check", str(memo), "--out", str(out))
        assert refused.code == 2
        assert "is the text itself" in refused.err
    assert memo.read_text(encoding="utf-8") == "渡し舟法第4条による。"


def test_what_is_right_is_said_wherever_a_report_is_read(
    cli: Callable[..., Any], corpus: localrag.Corpus, sample: Path, tmp_path: Path
) -> None:
    memo = tmp_path / "memo.txt"
    memo.write_text(
        "渡し舟法4条3項によれば、登録の有効期間は七年とする。\n渡し舟法第4条第9項を見よ。\n",
        "utf-8",
    )
    title = "渡し舟の安全及び活用に関する法律"
    told = (
        "the provision says 五年, not 七年",
        f"{title} has no such provision; {title}第4条 ends with 第3項",
    )
    report = corpus.check(memo)
    for suffix in (".html", ".md", ".docx"):
        write_report(report, tmp_path / f"report{suffix}")
    page = lxml_html.fromstring((tmp_path / "report.html").read_bytes()).text_content()
    printed = {
        "terminal": cli("check", str(memo)).out,
        "JSON": str(cli("check", str(memo), "--json").json["findings"]),
        "HTML": page,
        "Markdown": (tmp_path / "report.md").read_text("utf-8"),
        "Word": "\n".join(words for _, words in comments(tmp_path / "report.docx")),
    }
    for door, text in printed.items():
        plain = "".join(text.replace("\\", "").split())
        for words in told:
            assert "".join(words.split()) in plain, door
