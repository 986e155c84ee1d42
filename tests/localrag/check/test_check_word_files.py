"""Checks of Word files: notes, unread parts, comments in a copy."""

import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import pytest
from lxml import etree

import localrag
from localrag.check import Verdict
from localrag.corpus.readers import read
from localrag.errors import InputError, UsageError
from localrag.page.report import html, write_report

from ..word_parts import BY, cell, levels, notes, numbered, p, rows, t, word

PICTURE = (
    "<w:r><w:drawing><a:graphic><a:graphicData><pic:pic/></a:graphicData></a:graphic>"
    "</w:drawing></w:r>"
)
WRONG = "渡し舟法第44条"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def control(content: str) -> str:
    return f"<w:sdt><w:sdtPr/><w:sdtContent>{content}</w:sdtContent></w:sdt>"


def everywhere(**parts: Any) -> bytes:
    """A wrong citation in an insertion, a control, a number, a note, a box, a table in a cell."""
    box = f"<w:txbxContent>{p(t(f'箱の{WRONG}。'))}</w:txbxContent>"
    return word(
        p(t("前置き。")),
        p(f"<w:ins {BY}>{t(f'加えた{WRONG}。')}</w:ins>"),
        p(t("欄の"), control(t(f"{WRONG}。"))),
        numbered(f"番号の{WRONG}。"),
        p(t("本文。"), '<w:r><w:footnoteReference w:id="2"/></w:r>'),
        p(f"<w:r><w:pict><v:shape><v:textbox>{box}</v:textbox></v:shape></w:pict></w:r>"),
        rows(cell(p(t("表"))) + cell(rows(cell(p(t(f"中の{WRONG}。"))) + cell(p(t("右")))), p())),
        footnotes=notes("footnote", f"脚注の{WRONG}。"),
        numbering=levels(("decimal", "第%1")),
        **parts,
    )


@pytest.fixture
def word_file(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(data: bytes) -> Path:
        path = tmp_path / "opinion.docx"
        path.write_bytes(data)
        return path

    return write


def test_a_citation_in_a_footnote_is_placed_there(
    corpus: localrag.Corpus, word_file: Callable[[bytes], Path]
) -> None:
    body = p(t("責任を負う。"), '<w:r><w:footnoteReference w:id="2"/></w:r>')
    report = corpus.check(word_file(word(body, footnotes=notes("footnote", f" {WRONG}。"))))
    (finding,) = report.findings
    assert (finding.said, finding.verdict) == (WRONG, Verdict.FAILS)
    assert (finding.place.note, finding.place.line) == ("注1", 2)


def test_a_contract_numbered_by_word_means_its_own_articles(
    corpus: localrag.Corpus, word_file: Callable[[bytes], Path]
) -> None:
    data = word(
        numbered("（目的）　渡し舟法に従う。"),
        numbered("（解除）　甲は、第3条第4項により解除する。"),
        numbered("（期間）　期間は、三年とする。"),
        numbering=levels(("decimal", "第%1条")),
    )
    report = corpus.check(word_file(data))
    assert [(one.said, one.verdict) for one in report.findings] == [("第3条第4項", Verdict.FAILS)]


def test_what_is_not_read_is_in_every_report(
    corpus: localrag.Corpus, word_file: Callable[[bytes], Path], tmp_path: Path
) -> None:
    source = word_file(word(p(t("前置き。"), PICTURE), p(f"<w:ins {BY}>{t('加えた。')}</w:ins>")))
    report = corpus.check(source)
    assert [(one.what, one.count, one.in_text) for one in report.omissions] == [
        ("pictures", 1, False),
        ("tracked insertions", 1, True),
    ]
    sentences = ("Not read: 1 picture.", "Read as text: 1 tracked insertion.")
    write_report(report, tmp_path / "report.md")
    write_report(report, tmp_path / "report.docx", source)
    comment = "\n".join(
        one.text
        for one in next(iter(docx.Document(str(tmp_path / "report.docx")).comments)).paragraphs
    )
    for text in (html(report), (tmp_path / "report.md").read_text("utf-8"), comment):
        assert all(sentence in text for sentence in sentences)


def test_the_verbs_name_what_is_not_read(
    cli: Callable[..., Any], sample: Path, word_file: Callable[[bytes], Path]
) -> None:
    source = word_file(
        word(p(t("灯台の手引。"), PICTURE), p(f"<w:ins {BY}>{t('加えた。')}</w:ins>"))
    )
    checked = cli("check", str(source))
    assert "Not read: 1 picture." in checked.out
    assert "Read as text: 1 tracked insertion." in checked.out
    (first, _) = cli("check", str(source), "--json").json["omissions"]
    assert (first["what"], first["count"], first["in_text"]) == ("pictures", 1, False)
    added = cli("add", "--corpus", "own", str(source))
    assert "left out: 1 picture" in added.out
    assert "read as text: 1 tracked insertion" in added.out
    cli("index", "--corpus", "own")
    assert "Not read: 1 picture." in cli("show", "--corpus", "own", "opinion.docx#1").out
    shown = cli("show", "--corpus", "own", "opinion.docx#1", "--json").json["document"]
    assert [one["count"] for one in shown["omissions"]] == [1, 1]
    assert "omissions" not in shown["metadata"]
    nothing = cli("check", str(word_file(word(p(PICTURE)))))
    assert nothing.code == 4
    assert "1 picture" in nothing.err


def marked(xml: bytes) -> dict[str, str]:
    """The text between the marks of each comment."""
    found: dict[str, str] = {}
    open_: list[str] = []
    for one in etree.fromstring(xml).iter():
        if one.tag == f"{W}commentRangeStart":
            open_.append(one.get(f"{W}id"))
            found[open_[-1]] = ""
        elif one.tag == f"{W}commentRangeEnd":
            open_.remove(one.get(f"{W}id"))
        elif one.tag in (f"{W}t", f"{W}footnoteReference"):
            for id_ in open_:
                found[id_] += one.text or "*"
    return found


def test_comments_find_their_words_and_change_nothing(
    corpus: localrag.Corpus, word_file: Callable[[bytes], Path], tmp_path: Path
) -> None:
    source = word_file(everywhere(comments=f'<w:comment w:id="4">{p(t("前から。"))}</w:comment>'))
    report = corpus.check(source)
    assert [one.said for one in report.findings] == [WRONG] * 6
    write_report(report, tmp_path / "checked.docx", source)
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(tmp_path / "checked.docx") as new:
        assert new.namelist() == old.namelist()
        changed = {name for name in old.namelist() if old.read(name) != new.read(name)}
        assert changed == {"word/document.xml", "word/comments.xml"}
        words = list(marked(new.read("word/document.xml")).values())
        comments = new.read("word/comments.xml").decode()
    assert words == [
        "前置き。",
        f"加えた{WRONG}。",
        f"{WRONG}。",
        f"番号の{WRONG}。",
        "*",
        f"箱の{WRONG}。",
        f"中の{WRONG}。",
    ]
    assert "前から。" in comments
    assert 'w:id="5"' in comments
    (before,), (after,) = (read(path) for path in (source, tmp_path / "checked.docx"))
    assert isinstance(before, localrag.corpus.types.Document)
    assert isinstance(after, localrag.corpus.types.Document)
    assert after.text == before.text


def test_marks_are_outside_of_insertions_and_controls(
    corpus: localrag.Corpus, word_file: Callable[[bytes], Path], tmp_path: Path
) -> None:
    source = word_file(everywhere())
    write_report(corpus.check(source), tmp_path / "checked.docx", source)
    with zipfile.ZipFile(tmp_path / "checked.docx") as new:
        root = etree.fromstring(new.read("word/document.xml"))
        assert "word/localrag-comments.xml" in new.namelist()
    kinds = ("commentRangeStart", "commentRangeEnd")
    parents = {one.getparent().tag for kind in kinds for one in root.iter(f"{W}{kind}")}
    assert parents == {f"{W}p"}
    assert len(list(docx.Document(str(tmp_path / "checked.docx")).comments)) == 7


def test_comments_in_a_strict_file(
    corpus: localrag.Corpus, word_file: Callable[[bytes], Path], tmp_path: Path
) -> None:
    source = word_file(word(p(t(f"{WRONG}。")), strict=True))
    write_report(corpus.check(source), tmp_path / "checked.docx", source)
    with zipfile.ZipFile(tmp_path / "checked.docx") as new:
        written = new.read("word/_rels/document.xml.rels").decode()
        comments = new.read("word/localrag-comments.xml").decode()
    assert "purl.oclc.org/ooxml/officeDocument/relationships/comments" in written
    assert "purl.oclc.org/ooxml/wordprocessingml/main" in comments


def test_a_report_on_a_template_is_a_template(corpus: localrag.Corpus, tmp_path: Path) -> None:
    source = tmp_path / "form.dotx"
    source.write_bytes(word(p(t(f"{WRONG}。"))))
    report = corpus.check(source)
    write_report(report, tmp_path / "checked.dotx", source)
    assert zipfile.is_zipfile(tmp_path / "checked.dotx")
    with pytest.raises(UsageError, match=r"in the form \.dotx"):
        write_report(report, tmp_path / "checked.docx", source)


def test_a_file_that_changed_after_the_check_gets_no_comments(
    corpus: localrag.Corpus, word_file: Callable[[bytes], Path], tmp_path: Path
) -> None:
    source = word_file(everywhere())
    report = corpus.check(source)
    source.write_bytes(word(p(t("別の文。"))))
    with pytest.raises(InputError, match="has changed"):
        write_report(report, tmp_path / "checked.docx", source)


def test_a_wrong_citation_in_a_header_has_its_comment_at_the_beginning(
    corpus: localrag.Corpus, word_file: Callable[[bytes], Path], tmp_path: Path
) -> None:
    section = '<w:sectPr><w:headerReference w:type="default" r:id="header"/></w:sectPr>'
    source = word_file(word(p(t("本文。")), section, header=p(t(f"{WRONG}による。"))))
    write_report(corpus.check(source), tmp_path / "checked.docx", source)
    copy = docx.Document(BytesIO((tmp_path / "checked.docx").read_bytes()))
    assert len(list(copy.comments)) == 2
