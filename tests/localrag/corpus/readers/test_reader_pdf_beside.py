"""PDF content beside the text of pages: read at its place, or counted."""

import pytest
from printed_pages import PrintedPages, written

from localrag.corpus.readers import Omission, ReadFailure, stream
from localrag.corpus.types import Document

FEE = "渡し場の使用料は、一回につき三百円とする。"
UNSEEN = "characters that are not seen: invisible, white on white, or in a hidden layer"


@pytest.fixture
def outcomes(tmp_path):
    def reading(pages: PrintedPages) -> list[object]:
        path = tmp_path / "a.pdf"
        path.write_bytes(pages.to_bytes())
        return list(stream(path))

    return reading


@pytest.fixture
def read(outcomes):
    """The lines of the file, and its omissions."""

    def reading(pages: PrintedPages) -> tuple[list[str], dict[str, int]]:
        found = outcomes(pages)
        (document,) = (one for one in found if isinstance(one, Document))
        named = {one.what: one.count for one in found if isinstance(one, Omission)}
        assert {one.what: one.count for one in document.omissions} == named
        return document.text.splitlines(), named

    return reading


def a_page() -> PrintedPages:
    pages = PrintedPages()
    pages.page()
    pages.text(60, 780, FEE)
    return pages


def with_fields(pages: PrintedPages, *fields: tuple[str, tuple[float, ...], str]) -> None:
    """Put fields on the page: entries, box, value."""
    references = [
        pages.annotate("Widget", "", box, f"/T (f{at}) /V {value} /DA (/L 10 Tf) {entries}")
        for at, (entries, box, value) in enumerate(fields)
    ]
    pages.catalog += f" /AcroForm << /Fields [{' '.join(references)}] /DR << >> >>"


def test_values_of_fields_are_read_where_they_are_shown(read):
    pages = a_page()
    pages.text(60, 740, "氏名")
    pages.text(60, 710, "賃料は、月額")
    pages.text(200, 710, "円とする。")
    pages.text(76, 680, "申込みに同意する。")
    pages.text(60, 650, "用途")
    pages.text(60, 600, "理由")
    states = "/AP << /N << /Yes 3 0 R /Off 3 0 R >> >>"
    options = f"[[(a) {written('係留')}] [(b) {written('荷揚げ')}]]"
    with_fields(
        pages,
        ("/FT /Tx", (120, 736, 300, 752), written("山田太郎")),
        ("/FT /Tx", (121, 706, 198, 722), written("100,000")),
        (f"/FT /Btn /AS /Yes {states}", (60, 678, 72, 690), "/Yes"),
        (f"/FT /Ch /Ff 131072 /Opt {options}", (120, 646, 220, 662), "(b)"),
        ("/FT /Tx /Ff 4096", (120, 560, 400, 612), written("増水のため。\r第三号を望む。")),
        ("/FT /Tx", (120, 500, 400, 516), "()"),
    )
    lines, named = read(pages)
    assert lines == [
        FEE,
        "氏名\t山田太郎",
        "賃料は、月額100,000円とする。",
        "☑　申込みに同意する。",
        "用途\t荷揚げ",
        "理由\t増水のため。第三号を望む。",
    ]
    assert named == {"form fields that were filled in": 5}


def test_secret_and_hidden_fields_are_counted(read):
    pages = a_page()
    with_fields(
        pages,
        ("/FT /Tx /Ff 8192", (60, 700, 200, 716), "(secret)"),
        ("/FT /Tx /F 2", (60, 660, 200, 676), "(hidden)"),
    )
    lines, named = read(pages)
    assert lines == [FEE]
    assert named == {"form fields that are not shown": 2}


def test_what_was_typed_onto_a_page_is_read_and_comments_are_counted(read):
    pages = a_page()
    quads = "/QuadPoints [60 792 90 792 60 778 90 778]"
    pages.annotate("FreeText", "夜間は閉める。", (60, 700, 200, 714), "/DA (/L 10 Tf)")
    pages.annotate("Text", "要確認", (400, 700, 420, 720))
    pages.annotate("Highlight", "出典は", (60, 778, 90, 792), quads)
    pages.annotate("Highlight", "", (60, 778, 90, 792), quads)
    pages.annotate("StrikeOut", "", (60, 778, 90, 792), quads)
    pages.annotate("Stamp", "", (400, 600, 480, 640), "/Name /Approved")
    pages.annotate("Redact", "", (60, 778, 90, 792), quads)
    lines, named = read(pages)
    assert lines == [FEE, "夜間は閉める。"]
    assert named == {
        "texts that were typed onto pages": 1,
        "comments": 2,
        "passages struck out by an annotation": 1,
        "stamps": 1,
        "passages marked for redaction, with their text still there": 1,
    }


def attach(pages: PrintedPages, name: str, content: str) -> str:
    held = pages.stream(content, "/Type /EmbeddedFile")
    return pages.add(f"<< /Type /Filespec /F ({name}) /UF {written(name)} /EF << /F {held} >> >>")


def test_attached_files_are_documents_of_their_own(outcomes):
    pages = a_page()
    letter, odd = attach(pages, "letter.txt", "The lamp is lit."), attach(pages, "a.bin", "x")
    note = attach(pages, "letter.txt", "The tower is shut.")
    pages.annotate("FileAttachment", "", (400, 700, 420, 720), f"/FS {note}")
    pages.catalog = (
        f"/Names << /EmbeddedFiles << /Names [(a) {letter} (b) {odd}] >> >>"
        " /Collection << /Type /Collection >>"
    )
    found = outcomes(pages)
    texts = {one.id: one.text.strip() for one in found if isinstance(one, Document)}
    assert texts == {
        "a.pdf": FEE,
        "a.pdf!letter.txt": "The tower is shut.",
        "a.pdf!letter (2).txt": "The lamp is lit.",
    }
    assert [one.source for one in found if not isinstance(one, Document)] == ["a.pdf!a.bin"]


def test_a_portfolio_with_an_empty_cover_gives_what_is_in_it(outcomes):
    pages = PrintedPages()
    pages.page()
    held = attach(pages, "letter.txt", "The lamp is lit.")
    pages.catalog = f"/Names << /EmbeddedFiles << /Names [(a) {held}] >> >>"
    documents = [one for one in outcomes(pages) if isinstance(one, Document)]
    assert [one.id for one in documents] == ["a.pdf!letter.txt"]


def layered(pages: PrintedPages, properties: str) -> None:
    """A page with text in a visible layer and in a hidden one."""
    on, off = (pages.add(f"<< /Type /OCG /Name ({name}) >>") for name in ("Shown", "Hidden"))
    both = pages.add(f"<< /Type /OCMD /OCGs [{on} {off}] /P /AllOn >>")
    page = pages.pages[-1]
    form = pages.stream(
        "BT /L 10 Tf 60 500 Td (In a form that is hidden.) Tj ET",
        "/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /Font << /L 3 0 R >> >>"
        f" /OC {off}",
    )
    inner = pages.stream(
        "/OC /C BDC BT /L 10 Tf 60 470 Td (Within a form.) Tj ET EMC",
        "/Type /XObject /Subtype /Form /BBox [0 0 595 842]"
        f" /Resources << /Font << /L 3 0 R >> /Properties << /C {off} >> >>",
    )
    page.resources = (
        f"/Properties << /A {on} /B {off} /D {both} >> /XObject << /F {form} /G {inner} >>"
    )
    for name, y, text in (("A", 700, "Shown."), ("B", 650, "Hidden."), ("D", 600, "Not both.")):
        page.content.append(f"/OC /{name} BDC BT /L 10 Tf 60 {y} Td ({text}) Tj ET EMC")
    page.content.append("/F Do /G Do")
    pages.catalog = f"/OCProperties << /OCGs [{on} {off}] /D << {properties.format(on, off)} >> >>"


@pytest.mark.parametrize("properties", ["/OFF [{1}]", "/BaseState /OFF /ON [{0}]"])
def test_layers_that_are_off_are_left_out_and_counted(properties, read):
    pages = a_page()
    layered(pages, properties)
    lines, named = read(pages)
    assert lines == [FEE, "Shown."]
    assert named == {
        "layers that are switched off": 1,
        UNSEEN: sum(
            len(text.replace(" ", "")) for text in ("Hidden.", "Not both.", "Within a form.")
        ),
    }


def test_layers_that_are_on_are_read(read):
    pages = a_page()
    layered(pages, "")
    lines, named = read(pages)
    assert len(lines) == 5
    assert not named


def test_invisible_text_is_left_out_unless_a_picture_is_under_it(read):
    pages = a_page()
    image = pages.stream(
        "\x80",
        "/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8"
        " /ColorSpace /DeviceGray",
    )
    page = pages.pages[-1]
    page.resources = f"/XObject << /I {image} >>"
    page.content += [
        "q 300 0 0 100 50 400 cm /I Do Q",
        "BT 3 Tr /L 10 Tf 60 450 Td (Read by OCR.) Tj ET",
        "BT 3 Tr /L 10 Tf 60 300 Td (Ignore this.) Tj ET",
        "BT 0 Tr 1 g /L 10 Tf 60 250 Td (White on white.) Tj ET",
        "0 g 50 190 200 30 re f",
        "BT 0 Tr 1 g /L 10 Tf 60 200 Td (White on black.) Tj ET",
    ]
    lines, named = read(pages)
    assert lines == [FEE, "Read by OCR.", "White on black."]
    assert named == {UNSEEN: len("Ignorethis.Whiteonwhite.")}


def test_bookmarks_are_no_text_and_those_that_the_text_has_not_are_counted(read):
    pages = a_page()
    titles = ("使用料", "廃止された章")
    first = 8
    for at, title in enumerate(titles):
        sibling = f"/Next {first + 1} 0 R" if not at else f"/Prev {first} 0 R"
        pages.add(f"<< /Title {written(title)} /Parent {first + 2} 0 R {sibling} >>")
    tree = pages.add(f"<< /Type /Outlines /First {first} 0 R /Last {first + 1} 0 R /Count 2 >>")
    pages.catalog = f"/Outlines {tree}"
    lines, named = read(pages)
    assert lines == [FEE]
    assert named == {"bookmarks whose title is not in the text": 1}


def test_a_form_in_xfa_alone_is_named(outcomes):
    pages = a_page()
    packet = pages.stream("<xdp/>")
    pages.catalog = f"/AcroForm << /Fields [] /XFA {packet} >>"
    (failure,) = outcomes(pages)
    assert isinstance(failure, ReadFailure)
    assert "XFA" in failure.cause
    assert "Acrobat" in failure.cure


def test_a_page_that_is_a_picture_is_named_though_something_was_typed_onto_it(read):
    pages = a_page()
    pages.page()
    pages.rule(60, 100, 300, 102)
    pages.annotate("FreeText", "夜間は閉める。", (60, 700, 200, 714))
    lines, named = read(pages)
    assert lines == [FEE, "夜間は閉める。"]
    assert named["pages without text"] == 1


@pytest.mark.parametrize("vertical", [False, True])
def test_readings_above_words_part_no_sentence(vertical, read):
    lines = ("前項の場合において、借主が正当な理由なく", "支払を怠ったときは、催告をする。")
    pages = PrintedPages()
    pages.page()
    for at, line in enumerate(lines):
        place = (400 - 22 * at, 780) if vertical else (60, 780 - 22 * at)
        pages.text(*place, line, vertical=vertical)
    if vertical:
        for at, letter in enumerate("さいこく"):
            pages.text(384, 680 - at * 5, letter, 5)
    else:
        pages.text(160, 767, "さいこく", 5)
    text, named = read(pages)
    assert text == ["".join(lines)]
    assert named == {"ruby readings": 1}
