"""Text, Markdown, HTML, PDF and Word: outline, passages, encodings."""

from io import BytesIO

import docx
import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from localrag.errors import to_install

from ....rows import each

SENTENCE = "灯台は夜の海を照らし、船はその光を頼りに港へ向かう。"


@each("text", ["労働基準法第20条", "会社法第299条", "民法第百条"])
@each("encoding", ["cp932", "euc_jp"])
def test_a_short_text_without_kana_is_read(text, encoding, read_one):
    assert read_one("a.txt", text.encode(encoding)).text == text


@each("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp932", "euc_jp", "iso2022_jp"])
def test_text_in_every_japanese_encoding(encoding, read_one):
    document = read_one("灯台.txt", SENTENCE.encode(encoding))
    (passage,) = document.passages
    assert passage.text == document.text == SENTENCE
    assert (document.id, document.title, document.kind) == ("灯台.txt", "灯台", "text")


def test_a_short_text_is_one_passage(read_one):
    assert len(read_one("a.txt", SENTENCE * 40).passages) == 1


def test_a_long_text_is_cut_at_sentence_ends(read_one):
    document = read_one("a.txt", SENTENCE * 200)
    lengths = [len(p.text) for p in document.passages]
    assert "".join(p.text for p in document.passages) == document.text
    assert all(p.text.endswith("。") for p in document.passages)
    assert min(lengths) > 400
    assert max(lengths) < 1100


def test_english_is_cut_at_sentence_ends_and_paragraphs_first(read_one):
    paragraph = "The lighthouse stands on the cape. Its light reaches the ships. " * 20
    document = read_one("a.txt", "\n\n".join([paragraph] * 5))
    pieces = [p.text.split("\n\n") for p in document.passages]
    assert len(pieces) == 3
    assert all(piece.strip() == paragraph.strip() for text in pieces for piece in text)
    whole, *_ = read_one("b.txt", paragraph * 4).passages
    assert whole.text.endswith(("cape.", "ships."))


def test_a_text_without_any_break_is_still_cut(read_one):
    document = read_one("a.txt", "灯" * 5000)
    assert "".join(p.text for p in document.passages) == document.text
    assert max(len(p.text) for p in document.passages) <= 1200


def test_escape_sequences_do_not_enter(read_one):
    assert read_one("a.txt", "赤い\x1b[31m灯\x07\x9b台\r\n光").text == "赤い[31m灯台\n光"


def test_name_replaces_the_file_name(read_one):
    document = read_one("a.txt", SENTENCE, name="港/灯台.txt")
    assert (document.id, document.title, document.source) == ("港/灯台.txt", "灯台", "港/灯台.txt")
    assert document.passages[0].id == "港/灯台.txt#1"


def test_markdown_headings_become_sections(read_one):
    source = (
        "---\ntitle: x\n---\n# 灯台\n\nはじめに。\u2028続き。\n\n## 構造\n\n塔と灯器。\n\n"
        "> # 引用\n\n光源\n----\n\n電球。\n"
    )
    document = read_one("a.md", source)
    assert document.title == "灯台"
    assert document.text == source
    assert [(s.depth, s.title) for s in document.sections] == [
        (1, "灯台"),
        (2, "構造"),
        (2, "光源"),
    ]
    assert [(p.header, p.locator.section, p.text) for p in document.passages] == [
        ("灯台", "灯台", "はじめに。\u2028続き。"),
        ("灯台 > 構造", "灯台 > 構造", "塔と灯器。\n\n> # 引用"),
        ("灯台 > 光源", "灯台 > 光源", "電球。"),
    ]
    assert document.text[document.sections[1].start : document.sections[1].end].startswith(
        "## 構造"
    )


def test_markdown_of_headings_alone_is_still_found(read_one):
    (passage,) = read_one("a.md", "# 灯台\n## 塔\n").passages
    assert passage.text == "# 灯台\n## 塔"


def test_html_drops_scripts_styles_and_navigation(read_one):
    page = """<!doctype html><html><head><meta charset="shift_jis"><title>灯台</title>
    <style>p {}</style></head><body><nav>目次</nav><script>alert(1)</script>
    <h1>灯台</h1><p>光は<ruby>海<rt>うみ</rt></ruby>を
      <b>渡る</b>。①</p><h2>構造</h2><table><tr><td>塔</td><td>石</td></tr></table>
    <ul><li>甲</li><li>乙</li></ul><pre>a
  b</pre></body></html>"""
    document = read_one("a.html", page.encode("cp932"))
    assert document.title == "灯台"
    assert document.text == "灯台\n光は海を 渡る。①\n構造\n塔\t石\n甲\n乙\na\n  b\n"
    assert [p.header for p in document.passages] == ["灯台", "灯台 > 構造"]


def word_file() -> docx.document.Document:
    word = docx.Document()
    word.add_heading("灯台", 1)
    word.add_paragraph("光は海を渡る。")
    word.add_heading("構造", 2)
    table = word.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "塔", "石"
    return word


def test_word(read_one):
    buffer = BytesIO()
    word_file().save(buffer)
    document = read_one("a.docx", buffer.getvalue())
    assert document.text == "灯台\n光は海を渡る。\n構造\n塔\t石\n"
    assert [(p.header, p.text) for p in document.passages] == [
        ("a > 灯台", "光は海を渡る。"),
        ("a > 灯台 > 構造", "塔\t石"),
    ]


def pdf_file(*pages: str, password: str = "") -> bytes:
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(300, 300)
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    buffer = BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def test_pdf_passages_know_their_page(read_one):
    document = read_one("a.pdf", pdf_file("The lamp.", "", "The tower."))
    assert [(p.locator.page, p.text) for p in document.passages] == [
        (1, "The lamp."),
        (3, "The tower."),
    ]
    assert document.metadata == {"pages_without_text": "2", "page_starts": "0,9,10"}


def test_pdf_that_cannot_be_read(read_failure):
    assert "encrypted" in read_failure("a.pdf", pdf_file("The lamp.", password="x")).cause
    image_only = read_failure("a.pdf", pdf_file(""))
    assert "no text" in image_only.cause
    assert "localrag[ocr]" in image_only.cure
    assert "damaged" in read_failure("a.pdf", pdf_file("The lamp.")[:300]).cause


@pytest.mark.parametrize(("suffix", "module"), [(".pdf", "pypdfium2")])
def test_a_missing_extra_is_named(suffix, module, read_failure, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    assert read_failure(f"a{suffix}", b"%PDF-").cure == str(to_install("docs"))
